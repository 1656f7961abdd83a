"""The files of published values, and what a printed number can stand for."""

import csv
import re
from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptdp.errors import InputError
from promptdp.reporting.published.printed import Span, mean, point, printed
from promptdp.reporting.published.values import COLUMNS, KINDS, read_published
from tests.reporting.published import EXCEPTIONS, FILES, FOLDER, published

IN_WORDS = {"2": "twice|two|doubl", "3": "three|third", "4": "four", "6": "six", "7": "seven", "8": "eight"}
IN_WORDS |= {"1": "one|single", "5": "five", "9": "nine", "0": "no |zero"}


def test_there_is_one_file_for_each_table_and_one_for_the_text():
    assert set(FOLDER.glob("*.csv")) == {*FILES, EXCEPTIONS}
    for number, path in enumerate(FILES[:-1], 1):
        values = list(read_published([path, *(f for f in FILES if f != path)]))
        assert {one.table for one in values[: len(path.read_text().splitlines()) - 1]} == {str(number)}


def test_every_value_has_a_place_in_the_paper_and_no_place_holds_two():
    rows = [row for path in FILES for row in csv.DictReader(path.read_text(encoding="utf-8").splitlines())]
    assert len(rows) > 800
    for row in rows:
        assert re.match(r"Table [IVX]+\b|Abstract|[IVX]+(-[A-F])?$|[A-E](-[A-G])?$", row["source"]), row
        assert list(row) == list(COLUMNS)
    places = Counter((row["table"], row["row"], row["column"]) for row in rows)
    assert max(places.values()) == 1
    assert {one.kind for one in published()} == KINDS


def test_every_number_stands_in_the_paper_where_its_source_says(shared):
    (paper,) = shared.glob("paper/*.txt")
    sections = _sections(paper.read_text(encoding="utf-8"))
    lost = [one.name for one in published() if one.kind != "words" and not _stands(one, sections)]
    assert lost == []


def _stands(value, sections):
    text = sections[value.source.removesuffix(", caption")]
    printed_so = {"1/10": "1/(10n)"}.get(value.text, value.text)
    signed = re.search(rf"(?<![\w.,]){re.escape(printed_so)}(?!\d|[.,]\d)", text)
    unsigned = re.search(rf"(?<![\d.,]){re.escape(printed_so.lstrip('+-'))}(?!\d|[.,]\d)", text)
    in_words = value.text in IN_WORDS and re.search(IN_WORDS[value.text], text, re.IGNORECASE)
    needs_sign = value.text[0] in "+-" and value.source.startswith("Table")
    return bool(signed or (unsigned and not needs_sign) or in_words)


def _sections(text):
    """The paper's text by section and table, its mathematics written as our files write it."""
    for pattern, plain in (
        (r"\{,\}", ","),
        (r"\\times ?10\^\{(-?\d+)\}", r"×10^\1"),
        (r"×10−43×10\^-4", "×10^-4"),  # the caption of Table I has it twice
        (r"10\^\{(-?\d+)\}", r"10^\1"),
        (r"2\^\{(-\d+)\}", r"2^\1"),
        (r"\{([=+])\}", r"\1"),
        (r"\\tfrac\{1\}\{2\}", "1/2"),
        (r"[$−]", ""),
        (r"\{\\cdot\}", "·"),
        (r"\\\{([^}]*)\\\}", lambda match: match[1].replace(",", ", ")),
    ):
        text = re.sub(pattern, plain, text)
    found, place = {}, "Abstract"
    for line in text.splitlines():
        heading = re.match(r"#+ ([IVX]+(?:-[A-F])?|[A-E]-[A-G]|Abstract)\b", line)
        table = re.match(r"TABLE ([IVX]+):", line)
        if heading:
            place = heading[1]
        elif "Global add/remove sensitivity" in line:
            place = "B"  # Appendix B lost its heading
        elif table:
            found[f"Table {table[1]}"] = line
            last = f"Table {table[1]}"
        if line.startswith("|"):
            found[last] += "\n" + line
        else:
            found[place] = found.get(place, "") + "\n" + line
    return found


# --- files that are not usable ---

HEADER = ",".join(COLUMNS)
ROW = "2,Gold DP-SFT,MATH,+2.99,pp,difference,Table II,"


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([HEADER.replace("source", "origin"), ROW], "columns are not"),
        ([HEADER, ROW, ROW], "values.csv:3: its place is that of .*values.csv:2"),
        ([HEADER, ROW.replace("Table II", " ")], "values.csv:2: has no source"),
        ([HEADER, ROW.replace("+2.99", "")], "has no value"),
        ([HEADER, ROW.replace("+2.99", "2.99pp")], "2.99pp is no number"),
        ([HEADER, ROW.replace("+2.99", "nan")], "nan is no number"),
        ([HEADER, ROW.replace("difference", "gain")], "kind is gain"),
        ([HEADER, ROW.replace("Gold DP-SFT", "Gold/DP-SFT")], "slash"),
        ([HEADER, ROW + "3/Gold DP-SFT"], "repeats is no place"),
        ([HEADER, ROW + "3/Gold DP-SFT/Strict"], "repeats no published number"),
        ([HEADER, ROW + "2/Gold DP-SFT/MATH"], "repeats no published number"),
        ([HEADER, ROW + ",more"], "as many fields"),
    ],
)
def test_a_file_that_is_not_usable_is_refused_with_its_line(tmp_path, lines, message):
    path = tmp_path / "values.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_published([path])


def test_a_file_that_is_missing_or_no_text_is_refused(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_published([tmp_path / "none.csv"])
    (tmp_path / "bytes.csv").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="not UTF-8"):
        read_published([tmp_path / "bytes.csv"])


# --- printed numbers ---


@pytest.mark.parametrize(
    ("text", "whole", "low", "high"),
    [
        ("+2.65", True, "2.645", "2.655"),
        ("-0.14", True, "-0.145", "-0.135"),
        ("6,988", True, "6988", "6988"),
        ("85", False, "84.5", "85.5"),
        ("6.4×10^-5", False, "0.0000635", "0.0000645"),
        ("3×10^-4", True, "0.0003", "0.0003"),
        ("10^-4", False, "0.0001", "0.0001"),
        ("2^-12", False, "0.000244140625", "0.000244140625"),
        ("0.0", False, "-0.05", "0.05"),
    ],
)
def test_a_printed_number_stands_for_all_that_round_to_it(text, whole, low, high):
    assert printed(text, whole) == Span(Fraction(low), Fraction(high))


@pytest.mark.parametrize("text", ["", "1e5", "12,34", "1.", ".5", "2.6%", "½", "1/0", "٣", "0x10", "--1"])
def test_what_the_paper_does_not_print_is_no_number(text):
    with pytest.raises(ValueError):
        printed(text, True)


@given(st.decimals(-1000, 1000, places=6), st.integers(0, 4))
def test_a_number_lies_among_those_its_own_rounding_stands_for(number, places):
    assert printed(f"{number:.{places}f}", False).meets(point(Fraction(number)))


numbers = st.fractions(-100, 100, max_denominator=1000)


@given(numbers, numbers, st.fractions(0, 5), st.fractions(0, 5))
def test_arithmetic_of_intervals_holds_that_of_their_numbers(a, b, wide, narrow):
    x, y = point(a).widened(wide), point(b).widened(narrow)
    for result, number in (
        (x + y, a + b),
        (x - y, a - b),
        (x * y, a * b),
        (-x, -a),
        (mean([x, y]), (a + b) / 2),
    ):
        assert result.meets(point(number))
        assert (x + y).high - (x + y).low == 2 * (wide + narrow)
    divisor = point(abs(b) + 6).widened(narrow)
    assert (x / divisor).meets(point(a / (abs(b) + 6)))
