"""The command line: one verb for every arrow of the road, files in and files out.

Heavy modules are imported inside the verb that needs them, so that help and the light verbs start at once.
"""

import argparse
import json
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from promptdp.errors import InputError, PromptDPError


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, as all errors of this program are."""

    def error(self, message: str) -> NoReturn:
        print(f"promptdp: error: {message}; see {self.prog} --help", file=sys.stderr)
        raise SystemExit(2)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one verb and leave with its exit status: 0 done, 2 bad input, 3 refused, 1 our fault."""
    options = _parser().parse_args(arguments)
    try:
        options.verb(options)
    except PromptDPError as error:
        print(f"promptdp: error: {' '.join(str(error).split())}", file=sys.stderr)
        raise SystemExit(error.exit_status) from None
    except BrokenPipeError:
        raise SystemExit(1) from None
    except Exception as error:
        # A traceback quotes source lines, never values; the message of an exception may hold private text.
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(place.filename).name}:{place.lineno}"
        print(f"promptdp: error: internal failure ({type(error).__name__} at {where})", file=sys.stderr)
        if options.verbose:
            print("".join(traceback.format_tb(error.__traceback__)), file=sys.stderr)
        raise SystemExit(1) from None


# --- the study -------------------------------------------------------------------------------------------


def _study_show(options: argparse.Namespace) -> None:
    from promptdp.study import find_study, load_study, resolve

    load_study(options.study)
    print(json.dumps(resolve(find_study(options.study)), indent=1, sort_keys=True))


def _study_schema(options: argparse.Namespace) -> None:
    from promptdp.files import write_json
    from promptdp.study import json_schema

    write_json(options.out, json_schema())


# --- records, base, calibration --------------------------------------------------------------------------


def _records(options: argparse.Namespace) -> None:
    from promptdp.records.loaders import write_evaluation_records, write_training_records
    from promptdp.study import load_study

    study = load_study(options.study)
    if options.benchmark:
        study.check_name("--benchmark", options.benchmark, study.benchmarks)
        write_training_records(study, options.benchmark, options.out)
    else:
        study.check_name("--evaluation-set", options.evaluation_set, study.evaluation_sets)
        if options.split_out is None:
            raise InputError("--split-out is missing: say where the public split file goes")
        write_evaluation_records(study, options.evaluation_set, options.out, options.split_out)


def _base(options: argparse.Namespace) -> None:
    from promptdp.policy.publish import publish_base
    from promptdp.study import load_study

    publish_base(load_study(options.study), options.out, options.manifest, _print_line)


def _calibrate(options: argparse.Namespace) -> None:
    from promptdp.privacy.accounting import calibrate

    _print_or_write(
        calibrate(
            slots=options.slots,
            expected=options.expected,
            rounds=options.rounds,
            epsilon=options.epsilon,
            delta=options.delta,
            method=options.method,
        ).as_json(),
        options.out,
    )


def _account(options: argparse.Namespace) -> None:
    from promptdp.privacy.accounting import account

    _print_or_write(
        account(
            slots=options.slots,
            expected=options.expected,
            rounds=options.rounds,
            noise_multiplier=options.sigma,
            delta=options.delta,
            group=options.group,
            replace_one=options.replace_one,
            runs=options.runs,
        ).as_json(),
        options.out,
    )


def _compose(options: argparse.Namespace) -> None:
    from promptdp.assurance.composition import compose_benchmark
    from promptdp.study import load_study

    _print_or_write(
        compose_benchmark(load_study(options.study), options.benchmark, options.runs, options.register),
        options.out,
    )


# --- training and evaluation -----------------------------------------------------------------------------


def _train(options: argparse.Namespace) -> None:
    from promptdp.scoring.freeze import check_lock
    from promptdp.study import load_study
    from promptdp.training.run import check_run, train

    study = load_study(options.study)
    check_run(study, options.benchmark, options.arm, options.seed, options.execution)
    check_lock(study.run_settings(options.benchmark, options.arm).reward, options.lock)
    runs, manifests = len(study.runs()), options.manifest.parent.parent.parent.parent

    def progress(line: str) -> None:
        done = len(list(manifests.glob("*/*/seed*/run.json")))
        name = f"{options.benchmark}, {options.arm}, seed {options.seed}"
        _print_line(f"{name}: {line} ({done} of {runs} runs done)")

    train(
        study,
        options.benchmark,
        options.arm,
        options.seed,
        records=options.records,
        calibration=options.calibration,
        base=options.base,
        recovery=options.recovery,
        register=options.register,
        out_adapter=options.adapter,
        out_manifest=options.manifest,
        out_ledger=options.ledger,
        execution=options.execution,
        progress=progress,
    )


def _predict(options: argparse.Namespace) -> None:
    from promptdp.evaluation.predict import predict
    from promptdp.study import load_study

    study = load_study(options.study)
    study.check_name("--evaluation-set", options.evaluation_set, study.evaluation_sets)
    study.check_name("--arm", options.arm, study.arms)
    predict(
        study,
        options.evaluation_set,
        options.arm,
        options.seed,
        records=options.records,
        base=options.base,
        adapter=options.adapter,
        out=options.out,
        out_manifest=options.manifest,
    )


def _score(options: argparse.Namespace) -> None:
    from promptdp.evaluation.rescore import score_lines

    score_lines(options.rule, options.input, options.output)


def _score_run(options: argparse.Namespace) -> None:
    from promptdp.evaluation.rescore import rescore
    from promptdp.scoring.freeze import check_lock

    check_lock(options.rule, options.lock)
    rescore(options.predictions, options.records, options.rule, options.out)


def _scorers(options: argparse.Namespace) -> None:
    from promptdp.scoring import RULES
    from promptdp.scoring.freeze import lock_text

    for rule in RULES:
        print(rule)
        print("".join(f"  {line}\n" for line in lock_text(rule).splitlines()), end="")


def _freeze(options: argparse.Namespace) -> None:
    from promptdp.scoring.freeze import write_lock

    write_lock(options.scorer, options.out or Path("config/frozen") / f"{options.scorer}.sha256")


# --- evidence --------------------------------------------------------------------------------------------


def _contrast(options: argparse.Namespace) -> None:
    from promptdp.statistics.contrast_files import contrast_files

    result = contrast_files(
        options.scores, options.versus, options.pairs, options.family_p, options.draws, options.seed
    )
    _print_or_write(result, options.out)


def _power(options: argparse.Namespace) -> None:
    from promptdp.statistics.power import SEEDS_ADD_NOTHING, planned_contrast, planned_contrast_from_files

    size, correlation = (options.problems, options.seeds), options.seed_correlation
    if (options.pilot is None) != (options.versus is None):
        raise InputError("--pilot and --versus go together: give the scores of both arms of the pilot")
    if options.pilot is not None:
        result = planned_contrast_from_files(*size, options.pilot, options.versus, correlation)
    else:
        known = SEEDS_ADD_NOTHING if correlation is None else correlation
        result = planned_contrast(*size, options.discordance, known)
    _print_or_write(result, options.out)


def _contrast_run(options: argparse.Namespace) -> None:
    from promptdp.reporting.evidence import write_study_contrast
    from promptdp.study import load_study

    write_study_contrast(
        load_study(options.study),
        options.evaluation_set,
        options.scorer,
        options.name,
        options.scores,
        options.out,
    )


def _table(options: argparse.Namespace) -> None:
    from promptdp.reporting.tables import make_table, write_table
    from promptdp.study import load_study

    write_table(make_table(options.number, load_study(options.study), options.inputs), options.stem)


def _checks(options: argparse.Namespace) -> None:
    from promptdp.reporting.tables import make_checks, write_table
    from promptdp.study import load_study

    write_table(make_checks(load_study(options.study), options.inputs), options.stem)


def _figure(options: argparse.Namespace) -> None:
    from promptdp.reporting.figures import make_figure
    from promptdp.study import load_study

    make_figure(options.number, load_study(options.study), options.inputs, options.stem)


def _executions(options: argparse.Namespace) -> None:
    from promptdp.reporting.executions import list_executions
    from promptdp.study import load_study

    list_executions(load_study(options.study), options.inputs, options.stores, options.stem)


def _explain(options: argparse.Namespace) -> None:
    from promptdp.reporting.provenance.chain import explain
    from promptdp.reporting.provenance.shown import as_json, as_text, broken, verdict

    explanation = explain(options.of, options.study)
    if options.json:
        print(json.dumps(as_json(explanation), indent=1, sort_keys=True, allow_nan=False))
    else:
        print(as_text(explanation, options.all))
    print(f"promptdp: {verdict(explanation)}", file=sys.stderr)
    if broken(explanation):
        raise SystemExit(1)


def _page(options: argparse.Namespace) -> None:
    from promptdp.reporting.webpage import write_webpage

    write_webpage(options.page, options.out)


def _compare_published(options: argparse.Namespace) -> None:
    from promptdp.reporting.published.suite import compare_published
    from promptdp.study import load_study

    compare_published(
        load_study(options.study),
        options.values,
        options.exceptions,
        options.out,
        options.page,
        paper=None if options.paper is None else load_study(options.paper),
        tables=options.tables,
        progress=_print_line,
    )


def _decide(options: argparse.Namespace) -> None:
    from promptdp.protocol import amend, decide

    if options.amend is not None:
        amend(options.decision, options.protocol, options.amend)
    elif options.out is None:
        raise InputError("--out is missing: say where the stamp goes, or amend with --amend REASON")
    else:
        decide(options.decision, options.protocol, options.out, options.evidence)


# --- assurance --------------------------------------------------------------------------------------------


def _verify(options: argparse.Namespace) -> None:
    from promptdp.assurance.verification.suite import verify
    from promptdp.study import load_study

    verify(load_study(options.study), options.base, options.out, options.page, _print_line)


def _certificate(options: argparse.Namespace) -> None:
    from promptdp.assurance.certificate import certify, in_one_line, rendered
    from promptdp.assurance.check import check_release
    from promptdp.files import write_text

    if options.check is not None:
        print(check_release(options.check))
        return
    for name in ("run", "register", "out"):
        if getattr(options, name) is None:
            raise InputError(
                f"--{name} is missing: give --run, --register and --out, or --check FOLDER alone"
            )
    certificate = certify(options.run, options.register, options.verification)
    write_text(options.out, rendered(certificate))
    print(f"{options.out}: {in_one_line(certificate)}")


def _release(options: argparse.Namespace) -> None:
    from promptdp.assurance.release import release

    release(options.run, options.certificate, options.out)
    print(f"{options.out}: released; anyone can check it with promptdp certificate --check {options.out}")


def _audit_sheet(options: argparse.Namespace) -> None:
    from promptdp.assurance.extraction_audit.draw import draw_sheet

    drawn = draw_sheet(
        options.strict,
        options.robust,
        options.predictions,
        options.records,
        options.items,
        options.seed,
        out=options.out,
        out_key=options.key,
        out_html=options.html,
        reveal=options.reveal_extracted,
    )
    print(json.dumps(drawn))


def _audit_read(options: argparse.Namespace) -> None:
    from promptdp.assurance.extraction_audit.read import read_audit

    print(json.dumps(read_audit(options.sheet, options.key, options.reader, options.out, options.page)))


def _scorer_audit(options: argparse.Namespace) -> None:
    from promptdp.assurance.scorer_audit.audit import audit
    from promptdp.study import load_study

    audit(
        load_study(options.study),
        options.scores,
        options.predictions,
        options.records,
        options.out,
        options.page,
        _print_line,
    )


# --- the parser ------------------------------------------------------------------------------------------


def _parser() -> argparse.ArgumentParser:
    from promptdp import __version__

    parser = _Parser(prog="promptdp", description=__doc__.splitlines()[0])
    parser.add_argument("--version", action="version", version=f"promptdp {__version__}")
    parser.add_argument("--verbose", action="store_true", help="show where an internal failure happened")
    verbs = parser.add_subparsers(required=True, metavar="VERB", title="verbs")

    def verb(name: str, run: Callable[[argparse.Namespace], None], summary: str) -> argparse.ArgumentParser:
        sub = verbs.add_parser(name, help=summary, description=summary)
        sub.set_defaults(verb=run)
        return sub

    study = verbs.add_parser("study", help="show a study resolved, or write the JSON schema of studies")
    study_verbs = study.add_subparsers(required=True, metavar="VERB")
    show = study_verbs.add_parser("show", help="print a study with what it extends, as JSON")
    show.add_argument("study", nargs="?", default="micro", help="a name in config/studies, or a YAML file")
    show.set_defaults(verb=_study_show)
    schema = study_verbs.add_parser("schema", help="write the JSON schema of study files")
    schema.add_argument("--out", type=Path, required=True)
    schema.set_defaults(verb=_study_schema)

    sub = verb("records", _records, "write the training records of a benchmark, or an evaluation set")
    _study_option(sub)
    which = sub.add_mutually_exclusive_group(required=True)
    which.add_argument("--benchmark", help="write this benchmark's private training records")
    which.add_argument("--evaluation-set", help="write this set's public problems")
    sub.add_argument("--out", type=Path, required=True)
    sub.add_argument("--split-out", type=Path, help="public ids of an evaluation set")

    sub = verb("base", _base, "make the public base model of a study")
    _study_option(sub)
    sub.add_argument("--out", type=Path, required=True, help="the model's folder")
    sub.add_argument("--manifest", type=Path, required=True, help="hashes of the folder's files")

    sub = verb("calibrate", _calibrate, "find the smallest noise multiplier that meets a privacy budget")
    _mechanism_options(sub)
    sub.add_argument("--epsilon", type=float, required=True, help="the target, never exceeded")
    sub.add_argument(
        "--method",
        choices=("fast", "paper-bisection"),
        default="fast",
        help="fast ends just below the target; paper-bisection gives the digits of Table VII",
    )

    sub = verb("account", _account, "the privacy budget of a given noise multiplier")
    _mechanism_options(sub)
    sub.add_argument("--sigma", type=float, required=True, help="the noise multiplier")
    sub.add_argument(
        "--group",
        type=int,
        default=1,
        help="K: for the presence of K prompts at once",
    )
    sub.add_argument("--replace-one", action="store_true", help="for the content of one prompt (not a group)")
    sub.add_argument("--runs", type=int, default=1, help="R: for the release of so many such runs, composed")

    sub = verb("compose", _compose, "the composed budget of all runs of a study on the same slots")
    _study_option(sub)
    sub.add_argument("--benchmark", required=True, help="whose slots")
    sub.add_argument("--runs", type=Path, nargs="+", required=True, help="run.json of every private run")
    sub.add_argument("--register", type=Path, help="private/STUDY/register.jsonl: compose all its looks")
    sub.add_argument("--out", type=Path, help="write the JSON here instead of printing it")

    sub = verb("train", _train, "train one arm with one seed; resumes after an interruption")
    _study_option(sub)
    sub.add_argument("--benchmark", required=True)
    sub.add_argument("--arm", required=True)
    sub.add_argument("--seed", type=int, required=True)
    sub.add_argument("--records", type=Path, required=True, help="private training records")
    sub.add_argument("--calibration", type=Path, help="the mechanism of a private arm")
    sub.add_argument("--base", type=Path, required=True, help="the public base's folder")
    sub.add_argument("--lock", type=Path, required=True, help="the lock of the reward's scorer")
    sub.add_argument("--recovery", type=Path, required=True, help="private recovery folder of the run")
    sub.add_argument("--register", type=Path, required=True, help="the study's private register of runs")
    sub.add_argument("--execution", type=int, default=1, help="another number trains anew, freshly")
    sub.add_argument("--adapter", type=Path, required=True, help="out: the adapter's folder")
    sub.add_argument("--manifest", type=Path, required=True, help="out: the run's public manifest")
    sub.add_argument("--ledger", type=Path, required=True, help="out: a copy of the closed ledger")

    sub = verb("predict", _predict, "one greedy completion for every problem of an evaluation set")
    _study_option(sub)
    sub.add_argument("--evaluation-set", required=True)
    sub.add_argument("--arm", required=True)
    sub.add_argument("--seed", type=int, required=True)
    sub.add_argument("--records", type=Path, required=True)
    sub.add_argument("--base", type=Path, required=True)
    sub.add_argument("--adapter", type=Path, help="the arm's adapter; none for the base")
    sub.add_argument("--out", type=Path, required=True)
    sub.add_argument("--manifest", type=Path, required=True)

    sub = verb("score", _score, "score responses against gold answers, line by line")
    sub.add_argument("rule")
    sub.add_argument("--input", type=Path, required=True, help="JSON lines: id, gold, response, [capped]")
    sub.add_argument("--output", type=Path, required=True)

    sub = verb("score-run", _score_run, "score the saved predictions of one run")
    sub.add_argument("rule")
    sub.add_argument("--predictions", type=Path, required=True, help="with its manifest beside it")
    sub.add_argument("--records", type=Path, required=True)
    sub.add_argument("--lock", type=Path, required=True, help="the rule's lock")
    sub.add_argument("--out", type=Path, required=True)

    verb("scorers", _scorers, "list the scorers with the files their verdicts depend on")

    sub = verb("freeze", _freeze, "write the lock of a scorer")
    sub.add_argument("scorer")
    sub.add_argument("--out", type=Path, help="default: config/frozen/SCORER.sha256")

    sub = verb("contrast", _contrast, "the paired difference between two arms, from their scores")
    sub.add_argument("--scores", type=Path, nargs="+", required=True, help="the first arm, a file per seed")
    sub.add_argument(
        "--versus",
        type=Path,
        nargs="+",
        required=True,
        help="the second arm; name a seedless base NAME-seed0",
    )
    sub.add_argument("--pairs", choices=("paired", "pooled"), default="paired")
    sub.add_argument("--family-p", type=Path, help="JSON list of the other p-values of Holm's family")
    sub.add_argument("--draws", type=int, help="also print the paper's Monte Carlo with so many draws")
    sub.add_argument("--seed", type=int, help="seed of those draws")
    sub.add_argument("--json", action="store_true", help="print JSON (the only format)")
    sub.add_argument("--out", type=Path)

    sub = verb("power", _power, "before a study: the contrast that its problems and seeds can detect")
    sub.add_argument("--problems", type=int, required=True, help="N, problems of the evaluation set")
    sub.add_argument("--seeds", type=int, required=True, help="S, seeds that both arms will have")
    source = sub.add_mutually_exclusive_group(required=True)
    source.add_argument("--discordance", type=float, help="share of problems only one arm gets right")
    source.add_argument("--pilot", type=Path, nargs="+", help="take it from scores of a pilot, file per seed")
    sub.add_argument("--versus", type=Path, nargs="+", help="the pilot's second arm")
    sub.add_argument(
        "--seed-correlation",
        type=float,
        help="of a problem's difference between two seeds, 0 to 1; default: the pilot's, or 1, the cautious",
    )
    sub.add_argument("--json", action="store_true", help="print JSON (the only format)")
    sub.add_argument("--out", type=Path)

    sub = verb("contrast-run", _contrast_run, "one contrast of a study, with Holm's family as it says")
    _study_option(sub)
    sub.add_argument("--evaluation-set", required=True)
    sub.add_argument("--scorer", required=True)
    sub.add_argument("--name", required=True, help="ARM-VERSUS")
    sub.add_argument("--scores", type=Path, nargs="+", required=True, help="the scores of all arms involved")
    sub.add_argument("--out", type=Path, required=True)

    for name, run in (("table", _table), ("figure", _figure)):
        sub = verb(name, run, f"make one {name} of a study")
        sub.add_argument("number", type=int)
        _study_option(sub)
        sub.add_argument("--inputs", type=Path, nargs="*", required=True, help="none if the study is enough")
        sub.add_argument("--stem", type=Path, required=True, help="output path without its ending")

    sub = verb("checks", _checks, "check what response length, the cap and unread answers could explain")
    _study_option(sub)
    sub.add_argument("--inputs", type=Path, nargs="+", required=True, help="scores and budgets")
    sub.add_argument("--stem", type=Path, required=True, help="output path without its ending")

    sub = verb("executions", _executions, "list the complete executions of a study with their contrasts")
    _study_option(sub)
    sub.add_argument("--inputs", type=Path, nargs="+", required=True)
    sub.add_argument("--stores", type=Path, nargs="+", required=True, help="folders of kept executions")
    sub.add_argument("--stem", type=Path, required=True)

    sub = verb("explain", _explain, "what a table or figure was made from, and what of it has changed since")
    sub.add_argument("of", type=Path, metavar="FILE", help="a table, figure, contrast or file of scores")
    sub.add_argument("--study", type=Path, help="its file; default: config/studies/NAME.yaml by its name")
    sub.add_argument("--all", action="store_true", help="give every file a line of its own")
    sub.add_argument("--json", action="store_true", help="print every link of the chain as JSON")

    sub = verb("page", _page, "a page as a web page that needs nothing else, for the report")
    sub.add_argument("page", type=Path, help="Markdown as the other verbs write it, SVG or JSON")
    sub.add_argument("--out", type=Path, required=True, help="the page, HTML")

    sub = verb("compare-published", _compare_published, "check the paper's published values, without a GPU")
    _study_option(sub)
    sub.add_argument("--values", type=Path, nargs="+", required=True, help="resources/published: values, CSV")
    sub.add_argument("--exceptions", type=Path, required=True, help="values known not to follow, CSV")
    sub.add_argument("--paper", help="our study of the paper, to hold to the settings it states")
    sub.add_argument("--tables", type=Path, nargs="+", default=[], help="JSON twins of that study's tables")
    sub.add_argument("--out", type=Path, required=True, help="the record, JSON")
    sub.add_argument("--page", type=Path, required=True, help="the record as a page, Markdown")

    sub = verb("decide", _decide, "stamp a decision of the protocol, or record an amendment")
    sub.add_argument("decision")
    sub.add_argument("--protocol", type=Path, required=True)
    sub.add_argument("--out", type=Path, help="the stamp")
    sub.add_argument(
        "--evidence", type=Path, nargs="+", default=[], help="the files that the decision came after"
    )
    sub.add_argument("--amend", metavar="REASON", help="freeze the decision's files as they are now")

    sub = verb("verify", _verify, "measure on this machine what the privacy proof assumes of the code")
    _study_option(sub)
    sub.add_argument("--base", type=Path, required=True, help="the public base's folder")
    sub.add_argument("--out", type=Path, required=True, help="the record, JSON")
    sub.add_argument("--page", type=Path, required=True, help="the record as a page, Markdown")

    sub = verb("certificate", _certificate, "certify a finished run, or check somebody's release")
    sub.add_argument("--check", type=Path, metavar="FOLDER", help="check this release and nothing else")
    sub.add_argument("--run", type=Path, help="the run's public folder: run.json, ledger.jsonl, adapter/")
    sub.add_argument("--register", type=Path, help="private/STUDY/register.jsonl of the zone it ran in")
    sub.add_argument("--verification", type=Path, help="verification.json of the same base and code, to cite")
    sub.add_argument("--out", type=Path, help="where the certificate is written, JSON")

    sub = verb("release", _release, "build the folder of a certified run that may be published")
    sub.add_argument("--run", type=Path, required=True, help="the run's public folder")
    sub.add_argument("--certificate", type=Path, required=True, help="this run's, of promptdp certificate")
    sub.add_argument("--out", type=Path, required=True, help="its folder; an earlier release is replaced")

    sub = verb(
        "audit-sheet", _audit_sheet, "draw answers that two rules read differently, for a blinded reader"
    )
    for side, what in (("strict", "one rule"), ("robust", "the other rule, which is audited")):
        sub.add_argument(f"--{side}", type=Path, nargs="+", required=True, help=f"scores by {what}")
    sub.add_argument("--predictions", type=Path, nargs="+", required=True, help="what was scored")
    sub.add_argument("--records", type=Path, required=True, help="the evaluation records")
    sub.add_argument("--items", type=int, required=True, help="how many to draw; all, where there are fewer")
    sub.add_argument("--seed", type=int, required=True, help="of the draw")
    sub.add_argument("--out", type=Path, required=True, help="the sheet to fill in, CSV")
    sub.add_argument("--key", type=Path, required=True, help="what each item is, JSON; not for the reader")
    sub.add_argument("--html", type=Path, help="the sheet as a page to read or print, with instructions")
    sub.add_argument(
        "--reveal-extracted",
        action="store_true",
        help="show the extracted answer and ask if it is the response's, instead of asking for a reading",
    )

    sub = verb("audit-read", _audit_read, "compare a filled sheet with its key")
    sub.add_argument("sheet", type=Path, help="of promptdp audit-sheet, filled in")
    sub.add_argument("--key", type=Path, required=True, help="the key that was written with it")
    sub.add_argument("--reader", required=True, help="who filled it in: a person, a program, how blinded")
    sub.add_argument("--out", type=Path, required=True, help="the report, JSON")
    sub.add_argument("--page", type=Path, help="the report as a page, Markdown")

    sub = verb("scorer-audit", _scorer_audit, "ask other software about the scores of a study, under a clock")
    _study_option(sub)
    sub.add_argument("--scores", type=Path, nargs="+", required=True, help="of promptdp score-run")
    sub.add_argument("--predictions", type=Path, nargs="+", required=True, help="what they are scores of")
    sub.add_argument("--records", type=Path, nargs="+", required=True, help="eval.jsonl of every set")
    sub.add_argument("--out", type=Path, required=True, help="the record, JSON")
    sub.add_argument("--page", type=Path, required=True, help="the record as a page, Markdown")
    return parser


def _study_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--study", default="micro", help="a name in config/studies, or a YAML file")


def _mechanism_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--slots", type=int, required=True, help="n, the public number of slots")
    parser.add_argument("--expected", type=int, required=True, help="m = qn, expected records in a round")
    parser.add_argument("--rounds", type=int, required=True, help="T")
    parser.add_argument("--delta", type=float, help="default: 1/(10 n)")
    parser.add_argument("--json", action="store_true", help="print JSON (the only format)")
    parser.add_argument("--out", type=Path, help="write the JSON here instead of printing it")


def _print_line(line: str) -> None:
    print(line, flush=True)


def _print_or_write(result: dict[str, Any], out: Path | None) -> None:
    from promptdp.files import write_json

    if out is None:
        print(json.dumps(result, indent=1, sort_keys=True, allow_nan=False))
    else:
        write_json(out, result)


if __name__ == "__main__":
    main()
