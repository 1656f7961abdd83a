"""The blinded audit: what the sheet hides, what comes back from a spreadsheet, and what an outcome shows."""

import csv
import gzip
import io
import json
import math
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptdp.assurance.extraction_audit.draw import draw_sheet
from promptdp.assurance.extraction_audit.page import as_html
from promptdp.assurance.extraction_audit.read import read_audit
from promptdp.assurance.extraction_audit.sheet import Item, as_csv, printable, read_sheet
from promptdp.cli import main
from promptdp.errors import InputError
from promptdp.evaluation.rescore import manifest_path, rescore
from promptdp.files import read_json, sha256_file, write_json

MATH, CSQA = ("math_strict", "math_robust"), ("csqa_strict", "csqa_final")


@dataclass
class Experiment:
    """Saved responses of some runs, scored by two rules as the workflow does it."""

    folder: Path
    golds: list[str]
    responses: dict[tuple[str, int], list[str]]
    rules: tuple[str, str] = MATH
    questions: list[str] = field(default_factory=list)
    capped: bool = False

    def __post_init__(self):
        self.records = self.folder / "eval.jsonl"
        self.predictions, self.strict, self.robust = [], [], []
        self.folder.mkdir(parents=True, exist_ok=True)
        asked = self.questions or [f"Question {number}?" for number in range(len(self.golds))]
        problems = [
            {"id": f"problem-{number}", "question": question, "answer": gold}
            for number, (question, gold) in enumerate(zip(asked, self.golds, strict=True))
        ]
        self.records.write_text("".join(json.dumps(problem) + "\n" for problem in problems))
        for (arm, seed), texts in self.responses.items():
            path = self.folder / arm / f"seed{seed}.jsonl.gz"
            path.parent.mkdir(exist_ok=True)
            with gzip.open(path, "wt") as stream:
                for number, text in enumerate(texts):
                    line = {"problem_id": f"problem-{number}", "response": text, "tokens": 3}
                    stream.write(json.dumps({**line, "capped": self.capped}) + "\n")
            write_json(
                manifest_path(path),
                {
                    "study": "tiny",
                    "evaluation_set": "sums",
                    "arm": arm,
                    "seed": seed,
                    "predictions_sha256": sha256_file(path),
                },
            )
            self.predictions.append(path)
            for rule, scores in zip(self.rules, (self.strict, self.robust), strict=True):
                scores.append(path.parent / f"{rule}-seed{seed}.parquet")
                rescore(path, self.records, rule, scores[-1])

    def draw(self, items=100, seed=0, name="sheet", **options):
        sheet = self.folder / f"{name}.csv"
        said = draw_sheet(
            self.strict,
            self.robust,
            self.predictions,
            self.records,
            items,
            seed,
            sheet,
            self.folder / f"{name}.key.json",
            self.folder / f"{name}.html",
            **options,
        )
        return Drawn(sheet, self.folder / f"{name}.key.json", self.folder / f"{name}.html", said)


@dataclass
class Drawn:
    """A sheet that was drawn, its key and its page."""

    sheet: Path
    key: Path
    html: Path
    said: dict

    @property
    def rows(self):
        with open(self.sheet, encoding="utf-8-sig", newline="") as stream:
            return list(csv.DictReader(stream))

    @property
    def items(self):
        return read_json(self.key)["items"]

    def fill(self, answers, column="reading"):
        """Fill the sheet in, an answer for each problem's id (or the same for all)."""
        rows = self.rows
        problems = {str(item["item"]): item["problem_id"] for item in self.items}
        for row in rows:
            row[column] = answers if isinstance(answers, str) else answers.get(problems[row["item"]], "")
        self.write(rows)
        return self

    def write(self, rows):
        with open(self.sheet, "w", encoding="utf-8-sig", newline="") as stream:
            writer = csv.DictWriter(stream, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)

    def read(self, **options):
        report = self.sheet.with_suffix(".report.json")
        read_audit(self.sheet, self.key, "a reader", report, self.sheet.with_suffix(".md"), **options)
        return read_json(report)


def answers(*values):
    return [f"The answer is {value}." for value in values]


@pytest.fixture
def experiment(tmp_path):
    """Four problems, two arms: the last is boxed and never changes; the first has two distinct responses."""
    common = [*answers(5, 6, 7), r"\boxed{8}"]
    responses = {("alpha", 1): common, ("alpha", 2): common, ("beta", 1): [*answers(4), *common[1:]]}
    return Experiment(tmp_path, ["5", "6", "0", "8"], responses)


# --- what the sheet hides --------------------------------------------------------------------------------


def test_the_sheet_is_the_same_bytes_whatever_arms_seeds_gold_and_verdicts_are(tmp_path):
    texts = [*answers(5, 6, 7), "So it is 8"]
    one = Experiment(tmp_path / "one", ["5", "6", "7", "8"], {("alpha", 1): texts, ("beta", 2): texts})
    other = Experiment(tmp_path / "two", ["9", "99", "7", "1"], {("zeta", 77): texts})
    first, second = one.draw(3, seed=4), other.draw(3, seed=4)
    assert first.sheet.read_bytes() == second.sheet.read_bytes()
    assert first.html.read_bytes() == second.html.read_bytes()
    assert first.key.read_bytes() != second.key.read_bytes()


def test_the_sheet_holds_nothing_but_number_question_and_response(tmp_path):
    runs = {("secretarm", 90210): answers("six")}
    drawn = Experiment(tmp_path, ["4242"], runs, questions=["How many?"]).draw()
    assert drawn.sheet.read_bytes() == (
        b"\xef\xbb\xbfitem,question,response,reading,note\r\n1,'How many?,'The answer is six.,,\r\n"
    )
    shown = drawn.sheet.read_text() + drawn.html.read_text()
    for hidden in ("secretarm", "90210", "4242", "problem-0", "math_", "sums", "tiny", "correct"):
        assert hidden not in shown


def test_the_extraction_shows_only_where_it_is_asked_about(tmp_path):
    experiment = Experiment(tmp_path, ["5"], {("alpha", 1): answers(5)})
    for scores, marked in ((experiment.robust, "marked"), (experiment.strict, None)):
        table = pq.read_table(scores[0])
        column = pa.array([marked], pa.string())
        pq.write_table(table.set_column(2, table.schema.field(2), column), scores[0])
    blind, shown = experiment.draw(name="blind"), experiment.draw(name="shown", reveal=True)
    assert "marked" not in blind.sheet.read_text() + blind.html.read_text()
    assert "marked" in shown.sheet.read_text() and "marked" in shown.html.read_text()
    assert list(shown.rows[0]) == ["item", "question", "response", "candidate", "consistent", "note"]


def test_the_order_is_drawn_too_and_not_that_of_the_problems(tmp_path):
    experiment = Experiment(tmp_path, ["1"] * 30, {("alpha", 1): answers(*range(30))})
    orders = [
        [item["problem_id"] for item in experiment.draw(30, seed, name=f"s{seed}").items] for seed in range(3)
    ]
    assert len({tuple(order) for order in orders}) == 3
    assert all(sorted(order) == sorted(orders[0]) != order for order in orders)


# --- what is drawn ----------------------------------------------------------------------------------------


def test_a_response_of_many_runs_is_one_item_whose_key_names_them_all(experiment):
    drawn = experiment.draw()
    assert drawn.said == {"changed_responses": 9, "distinct": 4, "items": 4, "all": True}
    given = {
        (item["problem_id"], item["extracted"]["robust"]): [(run["arm"], run["seed"]) for run in item["runs"]]
        for item in drawn.items
    }
    both = [("alpha", 1), ("alpha", 2)]
    assert given == {
        ("problem-0", "5"): both,
        ("problem-0", "4"): [("beta", 1)],
        ("problem-1", "6"): [*both, ("beta", 1)],
        ("problem-2", "7"): [*both, ("beta", 1)],
    }


def test_the_key_says_what_every_item_is(experiment):
    key = read_json(experiment.draw(2, seed=9).key)
    assert (key["seed"], key["asks"], key["distinct"], key["changed_responses"]) == (9, "reading", 4, 9)
    assert (key["strict"]["scorer"], key["robust"]["scorer"]) == MATH
    assert [entry["sha256"] for entry in key["predictions"]] == [
        sha256_file(path) for path in experiment.predictions
    ]
    for item in key["items"]:
        number = int(item["problem_id"][-1])
        assert item["gold"] == experiment.golds[number] and item["extracted"]["strict"] is None
        assert item["correct"] == {"strict": False, "robust": item["extracted"]["robust"] == item["gold"]}


def test_a_sample_is_without_replacement_and_every_item_is_as_likely(tmp_path):
    experiment = Experiment(tmp_path, ["1"] * 5, {("alpha", 1): answers(*range(5))})
    times = dict.fromkeys((f"problem-{number}" for number in range(5)), 0)
    for seed in range(200):
        ids = [item["problem_id"] for item in experiment.draw(2, seed, name=f"s{seed}").items]
        assert len(set(ids)) == 2
        for name in ids:
            times[name] += 1
    assert sum(times.values()) == 400 and all(55 <= count <= 105 for count in times.values()), times


def test_the_same_seed_draws_the_same_sheet_in_whatever_order_the_files_are_given(experiment):
    first = experiment.draw(2, seed=3, name="first")
    for paths in (experiment.strict, experiment.predictions):
        paths.reverse()
    second = experiment.draw(2, seed=3, name="second")
    assert first.sheet.read_bytes() == second.sheet.read_bytes()
    assert first.key.read_bytes() == second.key.read_bytes()


def test_an_answer_that_only_the_strict_rule_reads_is_a_changed_extraction(tmp_path):
    text = "Answer: B\nSo the answer is A or C"
    drawn = Experiment(tmp_path, ["B"], {("alpha", 1): [text]}, rules=CSQA).draw(reveal=True)
    assert drawn.items[0]["extracted"] == {"strict": "B", "robust": None}
    assert drawn.rows[0]["candidate"] == "'no answer"
    report = drawn.fill("yes", "consistent").read()
    assert report["agreements"] == 1 and report["false_positives"]["of"] == 0


# --- what spreadsheets do ---------------------------------------------------------------------------------

HOSTILE = {
    "a formula": '=HYPERLINK("http://x.example","5")',
    "a sum": "+1+2",
    "a difference": "-3",
    "a function": "@SUM(1)",
    "a tab first": "\t=1",
    "a line end first": "\r=1",
    "a quote first": "'=1",
    "two quotes first": "''",
    "a fraction that could be a date": "1/2",
    "a number with zeros": "007",
    "a missing value": "NA",
    "an empty text": "",
    "blanks": "  ",
    "quotes and separators": 'a "b", c; d\te',
    "line ends of three kinds": "a\nb\r\nc\rd",
    "other scripts": "الجواب ٥ \u202eback\u202c 答案是五 🙂 e\u0301",
    "a null byte": "a\x00b\x1b[31m",
    "half of a pair": "a\ud800b",
    "a mark of byte order": "\ufeffx",
    "markup": "<script>alert(1)</script>&amp;<!--",
    "a long text": "x=1, " * 4_000,
}


def _through_csv(path):
    with open(path, encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.reader(stream))
    with open(path, "w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)


def _through_pandas(path):
    pd.read_csv(path).to_csv(path, index=False)


def _through_a_spreadsheet(path, separator=",", guard="'"):
    """As Excel saves: a byte order mark, CRLF between rows, LF within cells, blank cells and rows after."""
    with open(path, encoding="utf-8-sig", newline="") as stream:
        rows = [[cell.removeprefix("'" if not guard else "") for cell in row] for row in csv.reader(stream)]
    with open(path, "w", encoding="utf-8-sig", newline="") as stream:
        csv.writer(stream, delimiter=separator).writerows([*([*row, ""] for row in rows), [""] * 6])


PROGRAMS = {
    "nothing": lambda path: None,
    "the csv module": _through_csv,
    "pandas": _through_pandas,
    "Excel": _through_a_spreadsheet,
    "Excel with semicolons": lambda path: _through_a_spreadsheet(path, ";"),
    "a program that writes tabs": lambda path: _through_a_spreadsheet(path, "\t"),
    "a program that drops apostrophes": lambda path: _through_a_spreadsheet(path, guard=""),
}


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("reveal", [False, True])
def test_a_sheet_comes_back_whole_from_every_program(program, reveal, tmp_path):
    texts = [f"{text}\nThe answer is 5." for text in HOSTILE.values()] + answers(5)
    experiment = Experiment(tmp_path, ["5"] * len(texts), {("alpha", 1): texts})
    drawn = experiment.draw(reveal=reveal)
    drawn.fill("yes" if reveal else "5", "consistent" if reveal else "reading")
    PROGRAMS[program](drawn.sheet)
    report = drawn.read()
    assert report["answered"] == report["agreements"] == report["false_positives"]["of"] == len(texts)


def unquoted(cell):
    """The text of a cell that a spreadsheet takes for text."""
    assert cell.startswith("'")
    return cell[1:]


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_no_cell_is_run_or_rewritten_and_its_text_comes_back(text, tmp_path):
    item = Item(1, (printable(text.encode("utf-8", "replace").decode()), "other"))
    (tmp_path / "sheet.csv").write_text(as_csv([item], "reading"), newline="")
    _header, row = csv.reader(io.StringIO(as_csv([item], "reading").lstrip("\ufeff"), newline=""))
    assert row[0] == "1" and tuple(map(unquoted, row[1:3])) == item.texts and row[3:] == ["", ""]
    assert [answer.of(item.sha256) for answer in read_sheet(tmp_path / "sheet.csv", "reading")] == [True]


@given(st.lists(st.text(), min_size=2, max_size=2))
def test_any_text_comes_back(texts):
    item = Item(3, tuple(printable(text) for text in texts))
    rows = list(csv.reader(io.StringIO(as_csv([item], "reading").lstrip("\ufeff"), newline="")))
    assert tuple(map(unquoted, rows[1][1:3])) == item.texts


def test_a_text_may_be_longer_than_the_csv_modules_limit(tmp_path):
    item = Item(1, ("question", "x" * (2 * csv.field_size_limit())))
    (tmp_path / "sheet.csv").write_text(as_csv([item], "reading"), newline="")
    before = csv.field_size_limit()
    assert [answer.of(item.sha256) for answer in read_sheet(tmp_path / "sheet.csv", "reading")] == [True]
    assert csv.field_size_limit() == before


class _Texts(HTMLParser):
    """The texts of a page's description lists, and the names of its elements and attributes."""

    def __init__(self):
        super().__init__()
        self.texts, self.elements, self.attributes, self.open = [], set(), set(), False

    def handle_starttag(self, tag, attrs):
        self.elements.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.open = tag == "dd"
        if self.open:
            self.texts.append("")

    def handle_endtag(self, tag):
        self.open = False

    def handle_data(self, data):
        if self.open:
            self.texts[-1] += data


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_the_page_shows_any_text_and_loads_or_runs_nothing(text):
    item = Item(1, (printable(text.encode("utf-8", "replace").decode()), "second"))
    page = _Texts()
    page.feed(as_html([item], "reading"))
    assert page.texts[:2] == list(item.texts)
    assert page.elements <= set("html head meta title style body h1 h2 p em section dl dt dd".split())
    assert page.attributes <= {"lang", "charset", "http-equiv", "content", "name", "class", "dir"}


# --- what is read -----------------------------------------------------------------------------------------


def test_agreement_is_by_the_rule_and_not_by_the_letters(tmp_path):
    drawn = Experiment(tmp_path, ["1/2", "6"], {("alpha", 1): answers("0.5", "6 cm")}).draw()
    report = drawn.fill({"problem-0": r"$\frac{1}{2}$", "problem-1": "6"}).read()
    assert (report["agreements"], report["disagreements"]["errors"], report["listed"]) == (2, 0, [])


@pytest.mark.parametrize("reading", ["b", "B", " b ", "'B"])
def test_a_letter_may_be_small(tmp_path, reading):
    text = "Answer: A\nNo.\nAnswer: B"
    drawn = Experiment(tmp_path, ["B"], {("alpha", 1): [text]}, rules=CSQA).draw()
    report = drawn.fill(reading).read()
    assert (report["agreements"], report["false_positives"]["errors"]) == (1, 0)


READINGS = {
    "the credited answer": ("5", "5", (0, 0, 1, None, 0)),
    "another than the credited": ("5", "4", (1, 1, 1, None, 0)),
    "no answer where one is credited": ("5", "No answer", (1, 1, 1, None, 0)),
    "the refused answer": ("9", "5", (0, 0, 0, 0, 1)),
    "the reference where it is refused": ("9", "9", (1, 0, 0, 1, 1)),
    "neither": ("9", "4", (1, 0, 0, 0, 1)),
}


@pytest.mark.parametrize(("gold", "reading", "expected"), READINGS.values(), ids=READINGS)
def test_errors_are_false_positives_negatives_or_neither(gold, reading, expected, tmp_path):
    report = Experiment(tmp_path, [gold], {("alpha", 1): answers(5)}).draw().fill(reading).read()
    positives, negatives = report["false_positives"], report["false_negatives"]
    disagreements, false_positives, credited, false_negatives, refused = expected
    assert report["disagreements"]["errors"] == disagreements
    assert (positives["errors"], positives["of"]) == (false_positives, credited)
    assert (negatives["errors"], negatives["of"]) == (false_negatives or 0, refused)
    assert len(report["listed"]) == disagreements


def test_a_candidate_that_is_not_the_responses_is_a_false_positive_where_it_is_credited(experiment):
    drawn = experiment.draw(reveal=True)
    filled = {"problem-0": "no", "problem-1": "Y", "problem-2": "NO"}
    report = drawn.fill(filled, "consistent").read()
    assert report["disagreements"]["errors"] == 3  # both responses to problem 0, and problem 2
    assert (report["false_positives"]["errors"], report["false_positives"]["of"]) == (1, 2)
    assert report["false_negatives"] is None


BOUNDS = [
    (0, 60, 1 - 0.05 ** (1 / 60)),
    (0, 40, 1 - 0.05 ** (1 / 40)),
    (1, 2, math.sqrt(0.95)),  # the p at which 1 - p^2 = 0.05
    (2, 2, 1.0),
    (0, 1, 0.95),
]


@pytest.mark.parametrize(("errors", "of", "upper"), BOUNDS)
def test_the_bound_is_the_rate_at_which_so_few_errors_have_one_chance_in_twenty(errors, of, upper, tmp_path):
    experiment = Experiment(tmp_path, ["1"] * of, {("alpha", 1): answers(*range(100, 100 + of))})
    readings = {f"problem-{number}": str(100 + number + 500 * (number < errors)) for number in range(of)}
    rate = experiment.draw().fill(readings).read()["disagreements"]
    assert (rate["errors"], rate["of"], rate["rate"]) == (errors, of, errors / of)
    assert rate["upper"] == pytest.approx(upper, rel=1e-9)


def test_a_blank_item_is_unanswered_and_counts_neither_way(experiment):
    drawn = experiment.draw().fill({"problem-1": "6", "problem-2": " "})
    report = drawn.read()
    blank = {item["item"] for item in drawn.items if item["problem_id"] != "problem-1"}
    assert set(report["unanswered"]) == blank and report["answered"] == report["agreements"] == 1
    assert report["disagreements"]["upper"] == pytest.approx(0.95)


def test_the_page_names_the_reader_and_never_calls_the_rule_free_of_errors(experiment):
    drawn = experiment.draw().fill({"problem-1": "6"})
    drawn.read()
    page = drawn.sheet.with_suffix(".md").read_text()
    assert "a reader" in page and "To find no error is not to show that there is none" in page
    assert "Items to look at" not in page


def test_the_page_lists_errors_and_lets_no_text_out_of_its_place(experiment):
    rows = (drawn := experiment.draw()).rows
    for row in rows:
        row["reading"], row["note"] = "`x` | <b>", "`](http://x.example)\n# not a heading"
    drawn.write(rows)
    report = drawn.read()
    page = drawn.sheet.with_suffix(".md").read_text()
    assert len(report["listed"]) == page.count("### Item") == 4 and page.count("(false positive)") == 2
    assert "- note `'](http://x.example) # not a heading`" in page and "`'x' | <b>`" in page


def test_the_report_tells_when_the_rule_is_no_longer_the_one_that_scored(experiment):
    drawn = experiment.draw().fill("6")
    report = drawn.read()
    assert report["judge_digest"] == report["robust"]["scorer_digest"]
    key = read_json(drawn.key)
    key["robust"]["scorer_digest"] = "0" * 64
    write_json(drawn.key, key)
    drawn.read()
    assert "has changed since these responses were scored" in drawn.sheet.with_suffix(".md").read_text()


def test_rows_may_be_sorted_anew(experiment):
    drawn = experiment.draw().fill("6")
    before = drawn.read()
    drawn.write(drawn.rows[::-1])
    after = drawn.read()
    assert before.pop("sheet_sha256") != after.pop("sheet_sha256") and before == after


# --- what is refused --------------------------------------------------------------------------------------


def _edit(row, column, text):
    def edit(rows):
        rows[row][column] = text

    return edit


def _reword(rows):
    rows[1]["response"] += " "


def _swap_numbers(rows):
    rows[0]["item"], rows[1]["item"] = rows[1]["item"], rows[0]["item"]


EDITS = {
    "an altered response": (_reword, "sheet.csv:3: the text of item 2 was altered"),
    "an altered question": (_edit(3, "question", "'Which?"), "sheet.csv:5: the text of item 4 was altered"),
    "swapped numbers": (_swap_numbers, "sheet.csv:2: the text of item 2 was altered"),
    "a row twice": (lambda rows: rows.append(rows[0]), "sheet.csv:6: item 1 stands on line 2 too"),
    "a row less": (lambda rows: rows.pop(2), "sheet.csv: item 3 is missing"),
    "an unknown item": (lambda rows: rows.append({**rows[0], "item": "77"}), "csv:6: item 77 is not in"),
    "no number": (_edit(1, "item", "two"), "sheet.csv:3: has no item number"),
    "another script's digits": (_edit(1, "item", "٢"), "sheet.csv:3: has no item number"),
    "a number as a float": (_edit(1, "item", "2.0"), "sheet.csv:3: has no item number"),
    "another sheet": (
        lambda rows: [row.update(response="'other") for row in rows],
        "sheet.csv: is not the sheet of",
    ),
    "no answers": (lambda rows: [row.update(reading=" ") for row in rows], "no item is answered"),
}


@pytest.mark.parametrize(("edit", "message"), EDITS.values(), ids=EDITS)
def test_a_sheet_that_is_not_as_it_was_given_is_refused_with_its_line(edit, message, experiment):
    drawn = experiment.draw().fill("6")
    rows = drawn.rows
    edit(rows)
    drawn.write(rows)
    with pytest.raises(InputError) as error:
        drawn.read()
    assert message in str(error.value) and not drawn.sheet.with_suffix(".report.json").exists()


def test_a_line_number_counts_the_lines_within_cells(tmp_path):
    texts = [f"one\ntwo\n{text}" for text in answers(5, 6)]
    drawn = Experiment(tmp_path, ["5", "6"], {("alpha", 1): texts}).draw().fill("5")
    rows = drawn.rows
    rows[1]["response"] = "'shorter"
    drawn.write(rows)
    with pytest.raises(InputError, match=r"sheet\.csv:5: the text of item 2"):
        drawn.read()


def test_an_answer_to_a_candidate_is_yes_or_no(experiment):
    drawn = experiment.draw(reveal=True).fill("perhaps", "consistent")
    with pytest.raises(InputError, match=r"sheet\.csv:2: consistent is not yes, no or blank"):
        drawn.read()


HEADER = "item,question,response,reading,note\n"
FILES = {
    "an empty file": (b"", ":1: lacks one of item"),
    "other columns": (b"a,b\n1,2\n", ":1: lacks one of item"),
    "a binary file": (b"PK\x03\x04\xff\xfe", "is not UTF-8"),
    "UTF-16": (HEADER.encode("utf-16"), "is not UTF-8"),
    "an open quote": (f'{HEADER}1,"q,r\n\n'.encode(), ":2: is not CSV"),
    "a cell too many": (f"{HEADER}1,q,r,5,n,more\n".encode(), ":2: a cell stands beyond the last column"),
    "a column too many": (f"{HEADER[:-1]},more\n".encode(), ":1: a cell stands beyond the last column"),
    "no rows": (HEADER.encode(), "is not the sheet of"),
}


@pytest.mark.parametrize(("content", "message"), FILES.values(), ids=FILES)
def test_what_is_no_sheet_is_refused_in_one_line(content, message, experiment):
    drawn = experiment.draw()
    drawn.sheet.write_bytes(content)
    with pytest.raises(InputError) as error:
        drawn.read()
    assert message in str(error.value) and "\n" not in str(error.value)


def _damaged(key, change):
    content = read_json(key)
    change(content)
    write_json(key, content)


KEYS = {
    "another schema": (lambda key: key.update(schema="other"), "its schema is not promptdp/extraction-key/1"),
    "an unknown scorer": (lambda key: key["robust"].update(scorer="vibes"), "its scorer is unknown"),
    "no items": (lambda key: key.pop("items"), "lacks items"),
    "an item twice": (lambda key: key["items"].append(key["items"][0]), "an item stands twice"),
    "a verdict that is a number": (lambda key: key["items"][0]["correct"].update(robust=1), "correct.robust"),
    "another question": (lambda key: key.update(asks="consistent"), "lacks one of item"),
}


@pytest.mark.parametrize(("change", "message"), KEYS.values(), ids=KEYS)
def test_a_key_that_is_none_is_refused(change, message, experiment):
    drawn = experiment.draw().fill("6")
    _damaged(drawn.key, change)
    with pytest.raises(InputError, match=message):
        drawn.read()


def test_the_key_of_another_sheet_is_refused(tmp_path, experiment):
    drawn = experiment.draw().fill("6")
    other = Experiment(tmp_path / "other", ["5"], {("alpha", 1): answers(3)}).draw()
    drawn.key = other.key
    with pytest.raises(InputError, match=r"is not the sheet of .*other.*key\.json"):
        drawn.read()


def test_a_sheet_that_may_be_filled_in_is_never_replaced(experiment):
    content = experiment.draw().fill("6").sheet.read_bytes()
    with pytest.raises(InputError, match="exists and may be filled in"):
        experiment.draw()
    assert (experiment.folder / "sheet.csv").read_bytes() == content


def _of_another_set(experiment):
    table = pq.read_table(experiment.robust[0])
    metadata = json.loads(table.schema.metadata[b"promptdp"]) | {"evaluation_set": "other"}
    pq.write_table(table.replace_schema_metadata({"promptdp": json.dumps(metadata)}), experiment.robust[0])


def _without_arm(experiment):
    table = pq.read_table(experiment.strict[0])
    metadata = json.loads(table.schema.metadata[b"promptdp"])
    del metadata["arm"]
    pq.write_table(table.replace_schema_metadata({"promptdp": json.dumps(metadata)}), experiment.strict[0])


def _without_column(experiment):
    pq.write_table(pq.read_table(experiment.strict[0]).drop_columns(["extracted"]), experiment.strict[0])


def _without_problem(experiment):
    pq.write_table(pq.read_table(experiment.robust[1]).slice(1), experiment.robust[1])


def _swap(experiment):
    experiment.robust = experiment.strict


def _two_rules(experiment):
    experiment.strict[0] = experiment.robust[0]


BAD_INPUTS = {
    "one rule twice": (_swap, "is by the same rule as"),
    "two rules on one side": (_two_rules, "its scorer is not that of"),
    "a run twice": (lambda e: e.strict.append(e.strict[0]), "is of the same run as"),
    "a run by one rule only": (lambda e: e.robust.pop(), "has no scores by the other rule"),
    "a run by the other only": (lambda e: e.strict.pop(), "has no scores by the other rule"),
    "predictions that are missing": (lambda e: e.predictions.pop(), "its predictions are not given"),
    "predictions that changed": (
        lambda e: e.predictions[0].write_bytes(gzip.compress(b"{}")),
        "its predictions are not given",
    ),
    "scores of another set": (_of_another_set, "its evaluation_set is not that of"),
    "scores of no arm": (_without_arm, "lacks arm"),
    "scores without extractions": (_without_column, "its columns are not those of scores"),
    "scores that lack a problem": (_without_problem, "lacks problem problem-0"),
    "scores that are none": (lambda e: e.strict[0].write_text("no"), "cannot be read as Parquet"),
    "scores that are missing": (lambda e: e.strict[0].unlink(), "cannot be read as Parquet"),
    "records that lack a problem": (
        lambda e: e.records.write_text('{"id": "a", "question": "q", "answer": "1"}\n'),
        "is not in the evaluation set",
    ),
    "records that are missing": (lambda e: e.records.unlink(), "cannot be read"),
    "nothing that changed": (
        lambda e: e.__init__(e.folder, ["1"], {("alpha", 1): [r"\boxed{1}"]}),
        "there is nothing to audit",
    ),
}


@pytest.mark.parametrize(("spoil", "message"), BAD_INPUTS.values(), ids=BAD_INPUTS)
def test_bad_scores_or_predictions_are_refused_and_nothing_is_written(spoil, message, experiment, capsys):
    spoil(experiment)
    before = sorted(experiment.folder.rglob("*"))
    _refused(_sheet_arguments(experiment), message, capsys)
    assert sorted(experiment.folder.rglob("*")) == before


OPTIONS = {
    "no item": ({"--items": "0"}, "--items: is less than 1"),
    "one file for sheet and key": ({"--key": "{folder}/out.csv"}, "is named by --out and by --key"),
    "a folder for a sheet": ({"--out": "{folder}"}, "exists"),
    "a folder for a key": ({"--key": "{folder}"}, "is a folder"),
    "a key below a file": ({"--key": "{folder}/eval.jsonl/key.json"}, "cannot be written"),
    "a page below a file": ({"--html": "{folder}/eval.jsonl/page.html"}, "cannot be written"),
}


@pytest.mark.parametrize(("options", "message"), OPTIONS.values(), ids=OPTIONS)
def test_bad_options_are_refused_and_nothing_is_written(options, message, experiment, capsys):
    arguments = _sheet_arguments(experiment)
    for option, value in options.items():
        arguments += [option, value.format(folder=experiment.folder)]
    before = sorted(experiment.folder.rglob("*"))
    _refused(arguments, message, capsys)
    assert sorted(experiment.folder.rglob("*")) == before


def test_an_audit_is_two_commands_that_say_in_one_line_what_came_of_it(experiment, capsys):
    main(_sheet_arguments(experiment))
    assert json.loads(capsys.readouterr().out) == {
        "changed_responses": 9,
        "distinct": 4,
        "items": 4,
        "all": True,
    }
    sheet, key = experiment.folder / "out.csv", experiment.folder / "key.json"
    Drawn(sheet, key, sheet, {}).fill({"problem-1": "6", "problem-2": "8"})
    arguments = ["audit-read", sheet, "--key", key, "--out", experiment.folder / "report.json"]
    main([*map(str, arguments), "--reader", "a person"])
    said = capsys.readouterr().out
    assert said.count("\n") == 1 and json.loads(said) == {
        "answered": 2,
        "unanswered": 2,
        "agreements": 1,
        "disagreements": 1,
        "false_positives": 0,
        "false_negatives": 0,
        "error_rate_upper95": pytest.approx(math.sqrt(0.95)),
    }
    _refused([*map(str, arguments), "--reader", " "], "--reader: is blank", capsys)
    arguments[-1] = sheet
    _refused([*map(str, arguments), "--reader", "a person"], "is named by SHEET and by --out", capsys)


def _sheet_arguments(experiment):
    folder = experiment.folder
    arguments = ["audit-sheet", "--strict", *experiment.strict, "--robust", *experiment.robust]
    arguments += ["--predictions", *experiment.predictions, "--records", experiment.records, "--items", 9]
    arguments += ["--seed", 1, "--out", folder / "out.csv", "--key", folder / "key.json"]
    return [str(argument) for argument in arguments]


def _refused(arguments, message, capsys):
    with pytest.raises(SystemExit) as leaving:
        main(arguments)
    said = capsys.readouterr()
    assert leaving.value.code == 2 and said.out == "" and said.err.count("\n") == 1
    assert said.err.startswith("promptdp: error: ") and message in said.err
