"""What the curator should know of the records before training on them; for the private zone alone.

Every number here follows from the records without noise, so it is as private as they are.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

from promptdp.records.record import Record

SCHEMA = "promptdp/ingest/1"
COST = (
    "the guarantee is for one slot; a text or contributor that stands in k slots is protected by group "
    "privacy for k (Proposition 1), and `promptdp account --group K` gives its budget"
)


def ingest_report(slots: int, records: Sequence[Record]) -> dict[str, Any]:
    """How many of n slots hold a record, and which slots share a prompt or a contributor.

    Two prompts are one text when they differ in white space alone. Equal texts in two slots stay two records:
    two groups of completions, two clipped contributions.

    Args:
        slots: n.
        records: record i fills slot i, counted from 0.

    Returns:
        JSON with `duplicate_prompts` and `contributors`, each `{"groups": [[slot, ...], ...], "k": the size
        of the largest group}`; groups of one are left out, and k is 1 where there is no other.
    """
    return {
        "schema": SCHEMA,
        "slots": slots,
        "records": len(records),
        "duplicate_prompts": _shared(" ".join(record.question.split()) for record in records),
        "contributors": _shared(record.contributor for record in records),
        "cost": COST,
    }


def _shared(keys: Iterable[Hashable]) -> dict[str, Any]:
    """The slots that have a key in common; None is no key."""
    slots_of = defaultdict(list)
    for slot, key in enumerate(keys):
        if key is not None:
            slots_of[key].append(slot)
    groups = [slots for slots in slots_of.values() if len(slots) > 1]
    return {"groups": groups, "k": max(map(len, groups), default=1)}
