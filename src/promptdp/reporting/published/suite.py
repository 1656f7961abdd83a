"""The comparison with the paper: every check, the known exceptions, the record and its page."""

from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from promptdp.closure import code_digest
from promptdp.errors import InputError, PromptDPError
from promptdp.files import sha256_file, write_json, write_text
from promptdp.reporting.published.accuracies import check_accuracies
from promptdp.reporting.published.beside import beside
from promptdp.reporting.published.design import check_design
from promptdp.reporting.published.facts import check_facts
from promptdp.reporting.published.finding import Finding
from promptdp.reporting.published.intervals import check_intervals
from promptdp.reporting.published.mechanisms import check_mechanisms
from promptdp.reporting.published.page import page, summary
from promptdp.reporting.published.settings import check_settings
from promptdp.reporting.published.values import Published, read_published, read_rows
from promptdp.study import Study

SCHEMA = "promptdp/published/1"
PAPER = "paper"
"""The name of the study that is the paper's."""
CHECKS = (check_accuracies, check_intervals, check_design, check_facts, check_mechanisms)
EXCEPTION = ("table", "row", "column", "check", "value", "ours", "reason")

Exceptions = dict[tuple[str, ...], str]


def compare_published(
    study: Study,
    values: Sequence[Path],
    exceptions: Path,
    out: Path,
    out_page: Path,
    paper: Study | None = None,
    tables: Sequence[Path] = (),
    progress: Callable[[str], None] = lambda line: None,
) -> None:
    """Check the published values, set ours beside them, write the record and its page.

    Args:
        study: whose results these are; its tables stand beside the paper's if it is `paper`.
        values: files of published values.
        exceptions: those known not to follow, each with the printed value, ours and the reason.
        out: the record, JSON.
        out_page: the same as a page, Markdown.
        paper: our configuration of the paper, held to its settings.
        tables: JSON twins of tables of the study.
        progress: is given the outcome, a line for each exception and for each disagreement.

    Raises:
        InputError: a file is malformed, or there are tables of another study than the paper's.
        PromptDPError: a published value differs, or an exception is none; record and page are written.
    """
    if tables and study.name != PAPER:
        raise InputError(f"--tables: are of study {study.name}; only those of {PAPER} stand beside the paper")
    published = read_published(values)
    known = read_exceptions(exceptions)
    findings = list(except_known(run_checks(published, paper), known))
    differing = [one for one in findings if one.verdict == "differs"]
    met = {_key(one) for one in findings if one.verdict == "exception"}
    stale = [
        f"{exceptions}: {', '.join(key[:3])} is no exception as it says" for key in known if key not in met
    ]
    record = _record(study, published, findings, paper, tables)
    record["stale_exceptions"] = stale
    record["passed"] = not differing and not stale
    record["inputs"] = {**published.hashes, str(exceptions): sha256_file(exceptions)}
    record["inputs"] |= {str(path): sha256_file(path) for path in tables}
    write_json(out, record)
    write_text(out_page, page(record))
    progress(summary(record["counts"]))
    for one in findings:
        if one.verdict == "exception":
            progress(f"exception: {one.line}: {one.reason}")
    failures = [*(one.line for one in differing), *stale]
    for failure in failures:
        progress(f"differs: {failure}")
    if failures:
        more = f", and {len(failures) - 3} more" if len(failures) > 3 else ""
        raise PromptDPError(f"{out}: differs: {'; '.join(failures[:3])}{more}; {out_page} has them all")


def run_checks(published: Published, paper: Study | None = None) -> Iterator[Finding]:
    """The findings of every check, the settings of `paper` among them if it is given."""
    for check in CHECKS:
        yield from check(published)
    if paper is not None:
        yield from check_settings(published, paper)


def read_exceptions(path: Path) -> Exceptions:
    """The reason of each known exception by place, check, printed value and ours.

    Raises:
        InputError: the file is malformed or an exception has no reason.
    """
    found: Exceptions = {}
    for where, row in read_rows(path, EXCEPTION):
        *key, reason = (row[column] for column in EXCEPTION)
        if not reason or tuple(key) in found:
            raise InputError(f"{where}: has no reason, or stands twice; give each exception once, with one")
        found[tuple(key)] = reason
    return found


def except_known(findings: Iterator[Finding], known: Exceptions) -> Iterator[Finding]:
    """The findings, with those that differ exactly as a known exception says marked so."""
    for one in findings:
        reason = known.get(_key(one)) if one.verdict == "differs" else None
        yield one if reason is None else one.excepted(reason)


def _key(finding: Finding) -> tuple[str, ...]:
    return (*finding.value.key, finding.check, finding.value.text, finding.ours)


def _record(
    study: Study,
    published: Published,
    findings: list[Finding],
    paper: Study | None,
    tables: Sequence[Path],
) -> dict[str, Any]:
    judged = {one.value.key for one in findings}
    verdicts = [one.verdict for one in findings]
    return {
        "schema": SCHEMA,
        "study": study.name,
        "code_sha256": code_digest(__name__),
        "versions": {package: version(package) for package in ("dp-accounting", "opacus", "numpy", "scipy")},
        "counts": {
            "published": len(published.values),
            "judged": len(judged),
            "checks": len(findings),
            "agree": verdicts.count("agrees"),
            "exceptions": verdicts.count("exception"),
            "differ": verdicts.count("differs"),
        },
        "settings": "The settings are held to our study of the paper."
        if paper is not None
        else "There is no study that configures the paper, so settings are held to one another only.",
        "places": [value.source for value in published],
        "findings": [one.as_json() for one in findings],
        "unjudged": [
            {"source": value.source, "row": value.row, "column": value.column, "published": value.text}
            for value in published
            if value.key not in judged
        ],
        "beside": {
            "statement": _statement(study, tables),
            "values": beside(published, tables),
        },
    }


def _statement(study: Study, tables: Sequence[Path]) -> str:
    if study.name != PAPER:
        return (
            f"Study {study.name} is not the paper's, so its results do not stand beside the published values."
        )
    if not tables:
        command = f"snakemake --cores all tables --config study={PAPER}"
        return f"Study {PAPER} has no tables yet; make them with: {command}"
    return f"{len(tables)} tables of study {PAPER}; – where ours has no such value."
