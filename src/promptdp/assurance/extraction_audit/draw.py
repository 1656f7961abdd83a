"""Drawing a sheet: a sample of the changed extractions for the reader, and the key that is kept from them."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from promptdp.assurance.extraction_audit.changed import Change, Changes, changed_extractions
from promptdp.assurance.extraction_audit.outputs import json_text, require_distinct, write_together
from promptdp.assurance.extraction_audit.page import as_html
from promptdp.assurance.extraction_audit.sheet import NO_ANSWER, Asks, Item, as_csv, printable
from promptdp.errors import InputError

SCHEMA = "promptdp/extraction-key/1"
SAMPLING = (
    "uniform over the distinct changed extractions, without replacement and in the order drawn, by Python's "
    "random.Random with this seed; evaluation problems are public, so the seed may be too"
)


def draw_sheet(
    strict: Sequence[Path],
    robust: Sequence[Path],
    predictions: Sequence[Path],
    records: Path,
    items: int,
    seed: int,
    out: Path,
    out_key: Path,
    out_html: Path | None = None,
    reveal: bool = False,
) -> dict[str, Any]:
    """Draw changed extractions (`changed_extractions`) onto a sheet, and say how many there were.

    Args:
        strict: scores by the first rule.
        robust: scores by the second rule, whose extractions are audited.
        predictions: the prediction files that were scored.
        records: the evaluation records.
        items: how many to draw; all, where there are fewer.
        seed: of the draw.
        out: the sheet, CSV; an existing one is left alone, since it may have been filled in.
        out_key: what each item is, JSON.
        out_html: the sheet as a page to read.
        reveal: show the extracted answer and ask whether it is what the response says (Appendix E-A), instead
            of asking for a reading (E-B).

    Raises:
        InputError: as `changed_extractions`, or no extraction changed, or less than one item is asked for.
    """
    if items < 1:
        raise InputError("--items: is less than 1; ask for at least one item")
    require_distinct({"--out": out, "--key": out_key, "--html": out_html})
    if out.exists():
        raise InputError(f"{out}: exists and may be filled in; name another file, or remove it")
    changes = changed_extractions(strict, robust, predictions, records)
    if not changes.distinct:
        raise InputError(f"{robust[0]}: both rules extract the same answers; there is nothing to audit")
    asks: Asks = "consistent" if reveal else "reading"
    drawn = random.Random(seed).sample(changes.distinct, min(items, len(changes.distinct)))
    sheet = [_item(number, change, reveal) for number, change in enumerate(drawn, start=1)]
    contents = {out: as_csv(sheet, asks), out_key: json_text(_key(changes, drawn, sheet, asks, seed))}
    if out_html is not None:
        contents[out_html] = as_html(sheet, asks)
    write_together(contents)
    return {
        "changed_responses": changes.responses,
        "distinct": len(changes.distinct),
        "items": len(drawn),
        "all": len(drawn) == len(changes.distinct),
    }


def _item(number: int, change: Change, reveal: bool) -> Item:
    texts = [change.problem.question, change.response]
    if reveal:
        texts.append(NO_ANSWER if change.robust.extracted is None else change.robust.extracted)
    return Item(number, tuple(map(printable, texts)))


def _key(
    changes: Changes, drawn: Sequence[Change], sheet: Sequence[Item], asks: Asks, seed: int
) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "study": changes.study,
        "evaluation_set": changes.evaluation_set,
        "strict": changes.strict,
        "robust": changes.robust,
        "predictions": [
            {"arm": arm, "seed": number, "sha256": sha256}
            for (arm, number), sha256 in changes.predictions.items()
        ],
        "changed_responses": changes.responses,
        "distinct": len(changes.distinct),
        "sampling": SAMPLING,
        "seed": seed,
        "asks": asks,
        "items": [
            {
                "item": item.number,
                "sha256": item.sha256,
                "problem_id": change.problem.id,
                "runs": [{"arm": arm, "seed": number} for arm, number in change.runs],
                "gold": change.problem.answer,
                "extracted": {"strict": change.strict.extracted, "robust": change.robust.extracted},
                "correct": {"strict": change.strict.correct, "robust": change.robust.correct},
            }
            for item, change in zip(sheet, drawn, strict=True)
        ],
    }
