"""The outcome of an audit as a page, with what it does and doesn't show."""

from collections.abc import Mapping
from typing import Any

from tabulate import tabulate

RATES = {
    "disagreements": "the extraction is not what was read",
    "false_positives": "credited, though not the reference as read",
    "false_negatives": "not credited, though the reference as read",
}


def as_markdown(report: Mapping[str, Any]) -> str:
    """The page of a report."""
    strict, robust = report["strict"], report["robust"]
    paragraphs = [
        f"# Audit of the extractions of `{robust['scorer']}`",
        f"On {_code(report['evaluation_set'])} of study {_code(report['study'])} the rule reads "
        f"{report['changed_responses']} saved responses otherwise than `{strict['scorer']}`, of which "
        f"{report['distinct']} are distinct. {report['items']} were drawn (seed {report['seed']}); "
        f"{len(report['unanswered'])} were left blank and {report['answered']} judged "
        f"by {_code(report['reader'])}. The sheet shows {_SHOWN[report['asks']]}.",
        tabulate(
            [
                [words, rate["errors"], rate["of"], _percent(rate["upper"])]
                for name, words in RATES.items()
                if (rate := report[name]) is not None
            ],
            headers=["error", "seen", "among", f"{report['confidence']:.0%} upper bound"],
            tablefmt="pipe",
            disable_numparse=True,
        ),
        _what_it_shows(report),
        "The bounds are exact and one-sided (Clopper-Pearson). They speak of the distinct changed "
        "extractions, not of responses that both rules read alike, and suppose that no item was left blank "
        "for what its answer is. Two answers are taken for one where the rule's own equality says so.",
    ]
    if report["judge_digest"] != robust["scorer_digest"]:
        paragraphs.append(f"`{robust['scorer']}` has changed since these responses were scored.")
    if report["listed"]:
        paragraphs.append("## Items to look at")
        paragraphs += map(_listed, report["listed"])
    return "\n\n".join(paragraphs) + "\n"


_SHOWN = {
    "reading": "question and response, but no arm, seed, reference, extraction or verdict",
    "consistent": "question, response and extraction, but no arm, seed, reference or verdict",
}


def _what_it_shows(report: Mapping[str, Any]) -> str:
    """One sentence on what the count of errors says of the rule."""
    rate = report["disagreements"]
    if rate["errors"] == 0:
        return (
            f"**To find no error is not to show that there is none:** a rule that errs in "
            f"{_percent(rate['upper'])} of such responses passes {rate['of']} readings one time in twenty."
        )
    return (
        f"**{rate['errors']} of {rate['of']} judged extractions are in error;** up to "
        f"{_percent(rate['upper'])} of all could be."
    )


def _listed(outcome: Mapping[str, Any]) -> str:
    runs = ", ".join(f"{run['arm']} seed {run['seed']}" for run in outcome["runs"])
    verdict = " (false positive)" * outcome["false_positive"]
    verdict += " (false negative)" * (outcome["false_negative"] is True)
    return "\n".join(
        [
            f"### Item {outcome['item']}: {_code(outcome['problem_id'])}",
            "",
            f"- extracted {_code(outcome['extracted'])}, {'' if outcome['credited'] else 'not '}credited; "
            f"reference {_code(outcome['gold'])}",
            f"- the reader's answer {_code(outcome['answer'])}{verdict}",
            f"- given by {_code(runs)}",
            *([f"- note {_code(outcome['note'])}"] if outcome["note"] else []),
        ]
    )


def _code(text: str | None) -> str:
    """A text as Markdown shows it literally; backticks, which would end it, become apostrophes."""
    return "nothing" if text is None else f"`{' '.join(text.replace('`', chr(39)).split()) or ' '}`"


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{value:.1%}"
