"""Table VIII: the decisions of the protocol and their order, from their stamps."""

from collections.abc import Iterable, Sequence

from promptdp.reporting.cells import ABSENT, label
from promptdp.reporting.forms import DecisionFile
from promptdp.reporting.inputs import Inputs
from promptdp.reporting.table import Row, Table
from promptdp.study import Study
from promptdp.timeline import Jobs, SeenFile

COLUMNS = ("Decision", "Statement", "Fixed when, as stated", "Came after", "Had to follow", "Amendments")
NOUNS = {
    "records_eval": "evaluation problems",
    "train": "training",
    "predict": "predictions",
    "score": "scores",
}
ORDER_ONLY = (
    "A stamp proves the order of this execution: it was made from what the decision came after, and what had "
    "to follow was made from it. It does not prove when the decision was taken; that needs a record from "
    "elsewhere, a signed tag for one."
)


def decisions(study: Study, inputs: Inputs) -> Table:
    """Every decision with what it says, when it was fixed, what it came after and what had to follow it.

    Decisions of one title share a row. A stamp of an earlier version says less, and is shown as far as that.
    """
    stamps = [DecisionFile.model_validate(stamp) for stamp in inputs.decisions.values()]
    rows: dict[str, list[DecisionFile]] = {}
    for stamp in stamps:
        rows.setdefault(stamp.title or _plain(stamp.decision), []).append(stamp)
    source = dict.fromkeys(stamp.reenacts for stamp in stamps if stamp.reenacts)
    acted = [f"The stamps re-enact {what}; 'as stated' is what it says, in short." for what in source]
    absent = [] if study.protocol else [f"Study {study.name} has no protocol."]
    return Table(
        caption="Protocol decisions and their timing.",
        columns=COLUMNS,
        rows=tuple(_row(study, title, parts) for title, parts in rows.items()),
        notes=(*absent, *([ORDER_ONLY] if stamps else []), *acted),
    )


def _row(study: Study, title: str, parts: Sequence[DecisionFile]) -> Row:
    return tuple(
        map(
            label,
            (
                title,
                _joined(" ", (part.statement for part in parts)),
                _joined(" ", (_stated(part) for part in parts)),
                _joined("; ", (words(study, seen, part) for part in parts for seen in part.after)),
                _joined("; ", (words(study, jobs, part) for part in parts for jobs in part.before)),
                _joined("; ", (f"{part.decision}: {a.reason}" for part in parts for a in part.amendments)),
            ),
        )
    )


def _stated(part: DecisionFile) -> str:
    return " ".join(text for text in (part.taken, part.seen and f"Seen: {part.seen}") if text)


def words(study: Study, what: Jobs | SeenFile, stamp: DecisionFile) -> str:
    """What a decision came after, or had to precede, in words: `csqa_strict scores of Base on choices`."""
    if isinstance(what, SeenFile):
        return what.file
    scorers = what.scorers or ([stamp.scorer] if stamp.scorer and what.rule == "score" else [])
    arms = [study.arms[arm].label if arm in study.arms else arm for arm in what.arms or ()]
    places = what.benchmarks or what.evaluation_sets or ()
    seeds = [str(seed) for seed in what.seeds or ()]
    parts = (
        f"{', '.join(scorers)} {NOUNS[what.rule]}".strip(),
        f"of {', '.join(arms)}" if arms else "",
        f"on {', '.join(places)}" if places else "",
        f"with {stamp.scorer} as reward" if stamp.scorer and what.rule == "train" else "",
        f"({'seeds' if len(seeds) > 1 else 'seed'} {', '.join(seeds)})" if seeds else "",
    )
    return " ".join(part for part in parts if part)


def _joined(between: str, texts: Iterable[str]) -> str:
    """Texts that are not empty, each once, or the sign of absence."""
    return between.join(dict.fromkeys(text for text in texts if text)) or ABSENT


def _plain(name: str) -> str:
    return name.replace("_", " ").capitalize()
