# Every function of the workflow. Rules stand in the other files.

import json
import re
import shutil
import sys
from pathlib import Path

from pydantic import ValidationError

from promptdp.closure import code_digest
from promptdp.errors import InputError, PromptDPError
from promptdp.files import private_directory, read_json, read_object, sha256_file
from promptdp.protocol import frozen_files, load_protocol, read_amendments, setting
from promptdp.reporting.figures import module_of
from promptdp.reporting.shown import base_of
from promptdp.scoring import RULES
from promptdp.scoring.freeze import digest
from promptdp.study import RunSettings, find_study, load_study
from promptdp.timeline import Job, road
from promptdp.training import CODE as TRAINING_CODE

ROOT = Path(str(workflow.current_basedir)).parent.parent


def repo(path):
    """A file of this repository: relative to the working folder where that is possible, so that a moved
    checkout reruns nothing; absolute where another workflow imports this one."""
    absolute = ROOT / path
    return str(absolute.relative_to(Path.cwd())) if absolute.is_relative_to(Path.cwd()) else str(absolute)


def leave(error):
    """One line about a bad configuration, before any job starts, and the exit status of its kind."""
    print(f"promptdp: error: {' '.join(str(error).split())}", file=sys.stderr, flush=True)
    raise SystemExit(error.exit_status)


def checked_study():
    """The study of this invocation and its file, after every check that needs no job.

    Raises:
        PromptDPError: the configuration, the study or a file that it names is not usable.
    """
    place = "configuration (config/config.yaml or --config)"
    if set(config) != {"study", "source", "execution"}:
        raise InputError(f"{place}: has {', '.join(config)}; it needs study, source and execution, no more")
    if config["source"] not in ("trained", "recorded"):
        raise InputError(f"{place}: source is 'trained' or 'recorded', not {config['source']!r}")
    if type(config["execution"]) is not int or config["execution"] < 1:
        raise InputError(f"{place}: execution is a whole number from 1, not {config['execution']!r}")
    if shutil.which("promptdp") is None:
        raise InputError(
            "promptdp is not on PATH; activate the environment (. .venv/bin/activate) or use make"
        )
    file = str(find_study(str(config["study"]), repo("config/studies")))
    study = load_study(file)
    for scorer in study.scorers():
        if scorer not in RULES:
            raise InputError(f"{file}: no scorer is named '{scorer}'; there are {', '.join(RULES)}")
    for source in (*study.benchmarks.values(), *study.evaluation_sets.values()):
        if source.path is not None and not Path(source.path).is_file():
            raise InputError(f"{file}: {source.path} is missing; put the records there, or correct the path")
    return study, file


def check_protocol():
    """A protocol decides on one study, which it names or freezes, and in an order that can be.

    Raises:
        InputError: it decides on another study, speaks of what the study lacks, or its order can't be.
    """
    if PROTOCOL is None:
        return
    named = {PROTOCOL.study or PROTOCOL_FILE}
    decided = named.union(*(decision.freezes for decision in PROTOCOL.decisions.values()))
    if Path(STUDY_FILE).resolve() not in {(ROOT / file).resolve() for file in decided}:
        raise InputError(
            f"{STUDY_FILE}: {STUDY.protocol} freezes another study; write protocol: null, or its own"
        )
    try:
        PROTOCOL.check(STUDY)
        for decision in PROTOCOL.decisions.values():
            frozen_files(decision)
    except InputError as error:
        raise InputError(f"{PROTOCOL_FILE}: {error}") from None


def check_recorded():
    """The recorded run must be one of this study: with the same runs and the same settings.

    Raises:
        InputError: a run is missing or was trained with other settings.
    """
    for benchmark, arm, seed in RUNS:
        manifest = Path(f"{MADE}/runs/{benchmark}/{arm}/seed{seed}/run.json")
        if not manifest.is_file():
            raise InputError(
                f"{manifest}: is missing; study {STUDY.name} has no recorded run, use source=trained"
            )
        if recorded_settings(manifest) != SETTINGS[benchmark, arm]:
            raise InputError(
                f"{manifest}: was recorded with other settings than {STUDY_FILE}; use source=trained"
            )


def recorded_settings(manifest):
    """The settings a manifest states, those that came later at their defaults; None if they are no settings."""
    try:
        return RunSettings.model_validate(read_object(manifest).get("settings"))
    except ValidationError:
        return None


def forget_private_facts():
    """Take clock readings and content hashes of private records out of Snakemake's own notes.

    Snakemake keeps both for every job and shows the first in its report. Without them it compares dates. Of
    steps that read no records it keeps how long they took, but not when: what lies between two of them would
    tell how long the private ones took.
    """
    fresh = Path(".snakemake/note.new")
    for path in filter(Path.is_file, Path(".snakemake/metadata").rglob("*")):
        note = read_json(path)
        if note["rule"] in ("records", "train"):
            took = 0.0
            kept = note["input_checksums"] or {}
            note["input_checksums"] = {k: v for k, v in kept.items() if k not in PRIVATE_INPUTS}
        elif note["starttime"]:
            took = note["endtime"] - note["starttime"]
        else:
            continue
        note["starttime"], note["endtime"] = 0.0, took
        fresh.write_text(json.dumps(note))
        fresh.replace(path)


def close_private_zone():
    """Before the first job: only the owner may look into private/ and Snakemake's notes."""
    private_directory(PRIVATE)
    Path(".snakemake").chmod(0o700)
    forget_private_facts()


try:
    STUDY, STUDY_FILE = checked_study()
    PROTOCOL_FILE = repo(STUDY.protocol) if STUDY.protocol else None
    PROTOCOL = load_protocol(PROTOCOL_FILE) if PROTOCOL_FILE else None
    check_protocol()
except PromptDPError as error:
    leave(error)

RECORDED = config["source"] == "recorded"
RESULTS = f"results/{STUDY.name}"
PRIVATE = f"private/{STUDY.name}"
# Where the public products of training are read from: this machine's, or those of the recorded run.
MADE = repo(f"resources/recorded/{STUDY.name}") if RECORDED else RESULTS

RUNS = STUDY.runs()
SETTINGS = {(benchmark, arm): STUDY.run_settings(benchmark, arm) for benchmark, arm, _ in RUNS}
SHARED_SETTINGS = {"records", "randomness", "isolation", "engine", "dtype", "lora", "rollouts", "optimizer"}
MECHANISMS = {settings.mechanism_name: settings for settings in SETTINGS.values() if settings.private}

EXECUTION = config["execution"]
PRIVATE_INPUTS = {f"{PRIVATE}/records/{name}/train.jsonl" for name in STUDY.benchmarks} | {
    benchmark.path for benchmark in STUDY.benchmarks.values()
}

if RECORDED:
    try:
        check_recorded()
    except PromptDPError as error:
        leave(error)


wildcard_constraints:
    benchmark="|".join(STUDY.benchmarks),
    evalset="|".join(STUDY.evaluation_sets),
    arm="|".join(STUDY.arms),
    scorer="|".join(STUDY.scorers()),
    mechanism="|".join(map(re.escape, MECHANISMS)) or "none",
    decision="|".join(PROTOCOL.decisions) if PROTOCOL else "none",
    contrast="|".join(contrast.name for contrast in STUDY.contrasts) or "none",
    seed=r"\d+",
    number="|".join(map(str, {*STUDY.tables, *STUDY.figures})) or "none",


# --- the protocol's gates: plain inputs, in the order the protocol gives ---


def stamps(job):
    """The stamps that must exist before a job runs."""
    names = PROTOCOL.gates(job) if PROTOCOL else []
    return [f"{RESULTS}/protocol/{name}.json" for name in names]


def records_eval_gates(wildcards):
    return stamps(Job("records_eval", wildcards.evalset))


def train_gates(wildcards):
    reward = SETTINGS[wildcards.benchmark, wildcards.arm].reward
    return stamps(Job("train", wildcards.benchmark, reward, wildcards.arm, int(wildcards.seed)))


def predict_gates(wildcards):
    return stamps(Job("predict", wildcards.evalset, None, wildcards.arm, int(wildcards.seed)))


def score_gates(wildcards):
    scorer, arm, seed = wildcards.scorer, wildcards.arm, int(wildcards.seed)
    return stamps(Job("score", wildcards.evalset, scorer, arm, seed))


OUTPUTS = {
    "records_eval": "records/{0.on}/eval.jsonl",
    "train": "runs/{0.on}/{0.arm}/seed{0.seed}/run.json",
    "predict": "predictions/{0.on}/{0.arm}/seed{0.seed}.jsonl.gz",
    "score": "scores/{0.on}/{0.scorer}/{0.arm}/seed{0.seed}.parquet",
}


def decision_evidence(wildcards):
    """The files that a decision came after: outputs of this study, and others that it names."""
    decision = PROTOCOL.decisions[wildcards.decision]
    made = [f"{RESULTS}/{OUTPUTS[job.rule].format(job)}" for job in decision.seen_jobs(road(STUDY))]
    return made + [repo(file) for file in decision.seen_files()]


def evidence_option(wildcards, input):
    return f"--evidence {' '.join(input.evidence)}" if input.evidence else ""


def decision_files(wildcards):
    """The files a decision freezes, those of its locks included."""
    return [repo(file) for file in frozen_files(PROTOCOL.decisions[wildcards.decision])]


def decision_params(wildcards):
    """What a decision says, what it fixes as that is now, and its amendments: its stamp follows these."""
    decision = PROTOCOL.decisions[wildcards.decision]
    present = [file for file in decision_files(wildcards) if Path(file).is_file()]
    return json.dumps(
        {
            "decision": decision.model_dump(mode="json"),
            "reenacts": PROTOCOL.reenacts,
            "files": {file: sha256_file(file) for file in present},
            "settings": {key: setting(STUDY, key) for key in decision.settings},
            "amendments": [a for a in read_amendments(PROTOCOL_FILE) if a["decision"] == wildcards.decision],
        },
        sort_keys=True,
    )


def all_stamps():
    """The stamps of all decisions, in the protocol's order."""
    return [f"{MADE}/protocol/{name}.json" for name in (PROTOCOL.decisions if PROTOCOL else ())]


def scorer_digest(wildcards):
    """The hash of everything a scorer's verdict depends on."""
    return digest(wildcards.scorer)


def reward_digest(wildcards):
    return digest(SETTINGS[wildcards.benchmark, wildcards.arm].reward)


# --- records, base, calibration ---


def benchmark_source(wildcards):
    """The file a benchmark's records come from; none for the synthetic worlds."""
    return STUDY.benchmarks[wildcards.benchmark].path or []


def evalset_source(wildcards):
    return STUDY.evaluation_sets[wildcards.evalset].path or []


def records_params(wildcards):
    """Everything that a benchmark's training records depend on."""
    return STUDY.benchmarks[wildcards.benchmark].model_dump(include={"source", "slots", "seed"})


def evalset_params(wildcards):
    """Everything that an evaluation set's problems depend on."""
    evalset = STUDY.evaluation_sets[wildcards.evalset]
    benchmark = STUDY.benchmarks[evalset.benchmark]
    source = {"source": evalset.source or benchmark.source, "seed": benchmark.seed}
    return {**evalset.model_dump(include={"split", "problems"}), **source}


def mechanism_verb(wildcards):
    """How a mechanism is accounted: its noise is found for a budget, or its budget for a given noise."""
    settings = MECHANISMS[wildcards.mechanism]
    budget = (
        f"calibrate --epsilon {settings.epsilon!r}"
        if settings.noise_multiplier is None
        else f"account --sigma {settings.noise_multiplier!r}"
    )
    return (
        f"{budget} --slots {settings.slots} --expected {settings.expected} "
        f"--rounds {settings.calibrated_rounds} --delta {settings.delta!r}"
    )


def private_runs(benchmark):
    """The private runs on a benchmark's slots, as arm and seed."""
    return [(arm, seed) for name, arm, seed in RUNS if name == benchmark and STUDY.arms[arm].private]


def benchmark_runs(wildcards):
    """The manifests of all private runs on a benchmark's slots."""
    return [
        f"{MADE}/runs/{wildcards.benchmark}/{arm}/seed{seed}/run.json"
        for arm, seed in private_runs(wildcards.benchmark)
    ]


def register_option():
    """The register, which knows the runs of other executions too; a recorded run left none here."""
    return "" if RECORDED else f"--register {PRIVATE}/register.jsonl"


def runs_on_same_slots(wildcards):
    """The manifests of every run on a benchmark's slots: what a release was selected from."""
    return [
        f"{RESULTS}/runs/{benchmark}/{arm}/seed{seed}/run.json"
        for benchmark, arm, seed in RUNS
        if benchmark == wildcards.benchmark
    ]


def all_releases():
    """The page of every release: one for each private run."""
    return [
        f"{RESULTS}/release/{benchmark}/{arm}/seed{seed}/README.md"
        for benchmark in STUDY.benchmarks
        for arm, seed in private_runs(benchmark)
    ]


def base_source():
    """The files of a checkpoint; none for a base that is trained here."""
    folder = STUDY.base.checkpoint
    return sorted(str(path) for path in Path(folder).rglob("*") if path.is_file()) if folder else []


def verify_params(wildcards):
    """The study's settings that the verification reads."""
    arms = {name: arm.model_dump(exclude={"label"}) for name, arm in STUDY.arms.items()}
    settings = STUDY.model_dump(mode="json", include=SHARED_SETTINGS | {"benchmarks"})
    return json.dumps({"settings": settings, "arms": arms}, sort_keys=True)


# --- training and evaluation ---


def run_calibration(wildcards):
    """A private arm's calibration; a non-private arm has none."""
    settings = SETTINGS[wildcards.benchmark, wildcards.arm]
    return f"{RESULTS}/calibration/{settings.mechanism_name}.json" if settings.private else []


def run_calibration_option(wildcards):
    path = run_calibration(wildcards)
    return f"--calibration {path}" if path else ""


def run_lock(wildcards):
    """The lock of the scorer that gives a run its reward."""
    return repo(f"config/frozen/{SETTINGS[wildcards.benchmark, wildcards.arm].reward}.sha256")


def run_params(wildcards):
    """Everything public that a run depends on, besides its input files."""
    settings = SETTINGS[wildcards.benchmark, wildcards.arm]
    shared = STUDY.model_dump(mode="json", include=SHARED_SETTINGS)
    return json.dumps({"settings": settings.model_dump(mode="json"), "study": shared}, sort_keys=True)


def adapter(wildcards):
    """The adapter an arm answers with; none for the base."""
    if not STUDY.arms[wildcards.arm].trained:
        return []
    benchmark = STUDY.evaluation_sets[wildcards.evalset].benchmark
    run = f"{RESULTS}/runs/{benchmark}/{wildcards.arm}/seed{wildcards.seed}"
    return f"{run}/adapter/adapter_model.safetensors"


def adapter_option(wildcards):
    path = adapter(wildcards)
    return f"--adapter {Path(path).parent}" if path else ""


def evalset_cap(wildcards):
    """The settings of an evaluation set that its predictions depend on."""
    evalset = STUDY.evaluation_sets[wildcards.evalset]
    return f"cap={evalset.cap} prompt={STUDY.benchmarks[evalset.benchmark].prompt} dtype={STUDY.dtype}"


# --- what a verb is told of its outputs ---


def stem(wildcards, output):
    """The path that a rule's outputs share, without their endings."""
    return str(Path(output[0]).with_suffix(""))


def folder_of_base(wildcards, input):
    return str(Path(input.model).parent)


def folder_of_model(wildcards, output):
    return str(Path(output.model).parent)


def folder_of_adapter(wildcards, output):
    return str(Path(output.adapter).parent)


def folder_of_manifest(wildcards, input):
    return str(Path(input.manifest).parent)


def folder_of_release(wildcards, output):
    return str(Path(output.page).parent)


# --- evidence ---


def scorers_of(evalset):
    scorers = STUDY.evaluation_sets[evalset].scorers
    return [scorer for scorer in (scorers.strict, scorers.robust) if scorer]


def scores_of(evalset, scorer, arms):
    return [
        f"{MADE}/scores/{evalset}/{scorer}/{arm}/seed{seed}.parquet"
        for arm, seed in STUDY.evaluations(evalset)
        if arm in arms
    ]


def family_of(evalset, name):
    """The contrasts that share the Holm family of one, itself included."""
    contrasts = STUDY.evaluated_contrasts(evalset)
    family = next(contrast.family for contrast in contrasts if contrast.name == name)
    return [contrast for contrast in contrasts if contrast.family == family]


def contrast_scores(wildcards):
    """The scores of every arm in a contrast's Holm family."""
    family = family_of(wildcards.evalset, wildcards.contrast)
    return scores_of(wildcards.evalset, wildcards.scorer, {end for c in family for end in (c.arm, c.versus)})


def contrast_params(wildcards):
    return [contrast.model_dump_json() for contrast in family_of(wildcards.evalset, wildcards.contrast)]


def all_scores():
    return [
        path
        for evalset in STUDY.evaluation_sets
        for scorer in scorers_of(evalset)
        for path in scores_of(evalset, scorer, STUDY.arms)
    ]


def all_predictions():
    return [
        f"{MADE}/predictions/{evalset}/{arm}/seed{seed}.jsonl.gz"
        for evalset in STUDY.evaluation_sets
        for arm, seed in STUDY.evaluations(evalset)
    ]


def all_contrasts():
    return [
        f"{RESULTS}/contrasts/{evalset}/{scorer}/{contrast.name}.json"
        for evalset in STUDY.evaluation_sets
        for scorer in scorers_of(evalset)
        for contrast in STUDY.evaluated_contrasts(evalset)
    ]


def all_calibrations():
    return [f"{MADE}/calibration/{name}.json" for name in sorted(MECHANISMS)]


def all_compositions():
    return [f"{MADE}/calibration/composed-{name}.json" for name in STUDY.benchmarks if private_runs(name)]


EXECUTIONS = [repo(f"resources/recorded/{STUDY.name}/executions"), f"{RESULTS}/executions"]


def all_runs():
    return [f"{MADE}/runs/{benchmark}/{arm}/seed{seed}/run.json" for benchmark, arm, seed in RUNS]


def all_budgets():
    return all_calibrations() + all_compositions()


TABLE_INPUTS = {
    1: [all_calibrations],
    2: [all_contrasts, all_budgets],
    3: [all_scores, all_contrasts, all_budgets],
    4: [all_scores, all_contrasts, all_budgets],
    5: [all_scores, all_contrasts, all_budgets],
    6: [all_budgets],
    7: [all_calibrations],
    8: [all_stamps],
    9: [],
    10: [all_scores, all_budgets],
    11: [all_contrasts, all_budgets],
    12: [all_contrasts, all_budgets],
    13: [all_scores, all_contrasts, all_budgets],
    14: [all_scores, all_budgets],
}


def table_inputs(wildcards):
    """The files a table is made from; it tells them apart by what they say of themselves."""
    return [path for kind in TABLE_INPUTS[int(wildcards.number)] for path in kind()]


def checks_inputs():
    return all_scores() + all_budgets()


def figure_inputs(wildcards):
    """The contrasts with the base that figures show; the first, a diagram, shows none."""
    return [] if wildcards.number == "1" else contrasts_with_base()


def contrasts_with_base():
    return [
        f"{RESULTS}/contrasts/{evalset}/{spec.scorers.strict}/{contrast.name}.json"
        for evalset, spec in STUDY.evaluation_sets.items()
        for contrast in STUDY.evaluated_contrasts(evalset)
        if contrast.versus == base_of(STUDY) and not spec.transfer
    ]


def figure_params(wildcards):
    """The study's settings that a figure is made from; of the first they only say that runs are not private."""
    return STUDY.randomness if wildcards.number == "1" else reporting_params(wildcards)


def figure_code(wildcards):
    """The hash of what draws a figure: its own module, and what figures share."""
    return code_digest(module_of(int(wildcards.number)))


def reporting_params(wildcards):
    """The study's settings that captions and rows are made from."""
    return STUDY.model_dump_json(exclude={"base"})


# --- the report ---

FIGURE_SPACE = "\u2007"  # as wide as a digit
TABLE_TITLES = {
    "table1": "Benchmarks and settings",
    "table2": "Gains over each comparator",
    "table3": "Accuracy on the first benchmark",
    "table4": "Accuracy on the second benchmark",
    "table5": "Accuracy on the third benchmark",
    "table6": "Privacy accounting",
    "table7": "Mechanism parameters",
    "table8": "Protocol decisions",
    "table9": "Arms",
    "table10": "Accuracy of every seed",
    "table11": "Differences of every seed",
    "table12": "Supporting comparisons",
    "table13": "Transfer",
    "table14": "Gains by the format of the base's answer",
    "checks": "Length, cap and unread answers",
    "executions": "Every execution",
}
FIGURE_TITLES = {
    "1": "A round of the algorithm",
    "2": "Every arm against the base",
    "3": "Supporting comparisons against the base",
}


def table_labels(wildcards):
    """A table's number, padded since labels are sorted as texts, and a title; letters where it has no number."""
    number = wildcards.table.removeprefix("table")
    place = {"checks": "A", "executions": "B"}.get(number) or number.rjust(2, FIGURE_SPACE)
    return {"no.": place, "title": TABLE_TITLES[wildcards.table]}


def figure_labels(wildcards):
    return {"no.": wildcards.figure, "title": FIGURE_TITLES[wildcards.figure]}


def decision_labels(wildcards):
    """A decision's place in the protocol, and its name."""
    place = list(PROTOCOL.decisions).index(wildcards.decision) + 1
    return {"no.": str(place).rjust(2, FIGURE_SPACE), "title": wildcards.decision}


def table_pages():
    """A page for each table of the study."""
    names = [*(f"table{number}" for number in STUDY.tables), "checks", "executions"]
    return [f"{RESULTS}/report/tables/{name}.html" for name in names]


def figure_pages():
    """A page for each figure of the study."""
    return [f"{RESULTS}/report/figures/fig{number}.html" for number in STUDY.figures]


def decision_pages():
    """A page for each decision of the protocol."""
    return [f"{RESULTS}/report/protocol/{name}.html" for name in (PROTOCOL.decisions if PROTOCOL else ())]


def made_pages():
    """Pages of what other targets have made. A recorded run is not what was verified or released here."""
    names = ["assurance/scorer_audit", "published/published"]
    names += [] if RECORDED else ["assurance/verification"]
    pages = [f"{RESULTS}/report/{name}.html" for name in names if Path(f"{RESULTS}/{name}.md").is_file()]
    releases = [] if RECORDED else [Path(page).parent for page in all_releases() if Path(page).is_file()]
    return pages + [f"{RESULTS}/report/{folder.relative_to(RESULTS)}.html" for folder in releases]


# --- the published values ---


def published_values():
    """The files of the paper's values: those of its tables, in their order, and of its text."""
    folder = Path("resources/published")
    numbers = range(1, len(list((ROOT / folder).glob("table*.csv"))) + 1)
    return [repo(folder / f"{name}.csv") for name in (*(f"table{n}" for n in numbers), "text")]


def paper_study():
    """The study that configures the paper's experiment, where there is one."""
    path = repo("config/studies/paper.yaml")
    return path if Path(path).is_file() else []


def paper_option(wildcards, input):
    return f"--paper {input.paper}" if input.paper else ""


def tables_beside():
    """The tables that stand beside the paper's: those that are there, since making them takes GPUs."""
    made = sorted(Path(RESULTS).glob("tables/table*.json")) if STUDY.name == "paper" else []
    return [str(path) for path in made]


def tables_option():
    return f"--tables {' '.join(tables_beside())}" if tables_beside() else ""


def tables_hashes():
    return [sha256_file(path) for path in tables_beside()]
