"""The rules agree with tables of prose, numbers and letters that were labelled without them."""

from collections import Counter

import pytest

from promptdp.scoring import score
from tests.scoring.tables import alike_but_for_numbers, letters, numbers, prose

TABLES = {"prose": prose.CASES, "numbers": numbers.CASES, "letters": letters.CASES}
CASES = [
    pytest.param(*case, id=f"{table}: {kind} {number}")
    for table, kinds in TABLES.items()
    for kind, cases in kinds.items()
    for number, case in enumerate(cases, 1)
]


@pytest.mark.parametrize(("rule", "gold", "response", "right"), CASES)
def test_the_verdict_is_the_label(rule: str, gold: str, response: str, right: bool) -> None:
    name, _, capped = rule.partition(" ")
    verdict = score(name, response, gold, capped == "capped")
    assert verdict.correct == right, f"{verdict.extracted!r}: {verdict.reason}"


@pytest.mark.parametrize("table", TABLES)
def test_no_two_cases_of_a_table_differ_only_in_numbers(table: str) -> None:
    kinds = Counter(
        (rule, alike_but_for_numbers(response))
        for cases in TABLES[table].values()
        for rule, _, response, _ in cases
    )
    assert [kind for kind, count in kinds.items() if count > 1] == []


@pytest.mark.parametrize("table", TABLES)
def test_near_misses_are_a_good_part_of_a_table(table: str) -> None:
    labels = [right for cases in TABLES[table].values() for *_, right in cases]
    assert 0.4 < labels.count(False) / len(labels) < 0.6
