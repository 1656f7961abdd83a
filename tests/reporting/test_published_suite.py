"""The comparison with the paper as a whole: record, page, exit status, our tables beside the paper's."""

import csv
import json
import subprocess
import sys

import pytest

from promptdp.cli import main
from promptdp.errors import InputError
from promptdp.reporting.cells import Cell, absent, count, exact, gain, label, number
from promptdp.reporting.published import mechanisms
from promptdp.reporting.published.beside import beside
from promptdp.reporting.published.suite import read_exceptions
from promptdp.reporting.table import Table, write_table
from tests.reporting.published import EXCEPTIONS, FILES, ROOT, published
from tests.reporting.stand_in import stand_in


@pytest.fixture(autouse=True)
def accountant(monkeypatch):
    monkeypatch.setattr(mechanisms, "pld", stand_in)


def compare(folder, *options, values=FILES, exceptions=EXCEPTIONS):
    record, page = folder / "published.json", folder / "published.md"
    arguments = ["--values", *values, "--exceptions", exceptions, "--out", record, "--page", page, *options]
    main(["compare-published", *map(str, arguments)])
    return json.loads(record.read_text()), page.read_text()


def with_value(folder, key, text):
    """The files, one value of them printed otherwise."""
    changed = []
    for path in FILES:
        with open(path, encoding="utf-8", newline="") as stream:
            rows = list(csv.reader(stream))
        for row in rows:
            if tuple(row[:3]) == key:
                row[3] = text
        changed.append(folder / path.name)
        with open(changed[-1], "w", encoding="utf-8", newline="") as stream:
            csv.writer(stream, lineterminator="\n").writerows(rows)
    return changed


def test_the_published_values_pass_and_the_exceptions_are_listed(tmp_path, capsys):
    record, page = compare(tmp_path)
    counts = record["counts"]
    assert record["passed"] is True and counts["differ"] == 0
    assert counts["judged"] >= 600 and counts["exceptions"] == 5
    assert counts["checks"] == counts["agree"] + 5 == len(record["findings"])
    assert counts["judged"] + len(record["unjudged"]) == counts["published"] == len(published().values)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == (
        f"checked {counts['judged']} of {counts['published']} published values in {counts['checks']} checks: "
        f"{counts['agree']} agree within the printed rounding, 5 exceptions, 0 differ"
    )
    assert [line.partition(":")[0] for line in lines[1:]] == ["exception"] * 5
    assert any("printed 1.50" in line for line in lines) and any("printed 1.22" in line for line in lines)
    assert "| exception: " in page and "**differs**" not in page
    assert "Study micro is not the paper's" in page


@pytest.mark.parametrize(
    ("key", "text", "named"),
    [
        (("2", "Gold DP-SFT", "MATH"), "+2.89", "Table II: Gold DP-SFT, MATH: printed +2.89, ours 2.98"),
        (("6", "GSM8K, CSQA", "RDP"), "9.710", "Table VI: GSM8K, CSQA, RDP: printed 9.710, ours 9.701"),
    ],
)
def test_a_changed_value_ends_in_one_line_that_names_it_and_both_numbers(tmp_path, capsys, key, text, named):
    with pytest.raises(SystemExit) as left:
        compare(tmp_path, values=with_value(tmp_path, key, text))
    captured = capsys.readouterr()
    assert left.value.code == 1
    assert captured.err.count("\n") == 1 and named in captured.err
    assert f"differs: {named}" in captured.out
    assert json.loads((tmp_path / "published.json").read_text())["passed"] is False
    assert "**differs**" in (tmp_path / "published.md").read_text()


def test_an_exception_holds_for_the_printed_value_and_ours_alone(tmp_path, capsys):
    key = ("VIII-B", "GSM8K: Filtered DP-SFT − Public base", "MDE")
    with pytest.raises(SystemExit):
        compare(tmp_path, values=with_value(tmp_path, key, "1.60"))
    error = capsys.readouterr().err
    assert "MDE: printed 1.60" in error and "is no exception as it says" in error


def test_an_exception_that_is_none_any_more_fails(tmp_path, capsys):
    exceptions = tmp_path / "exceptions.csv"
    exceptions.write_text(
        EXCEPTIONS.read_text() + "2,Gold DP-SFT,MATH,a check,+2.99,3,gone\n", encoding="utf-8"
    )
    with pytest.raises(SystemExit) as left:
        compare(tmp_path, exceptions=exceptions)
    assert left.value.code == 1
    assert "2, Gold DP-SFT, MATH is no exception as it says" in capsys.readouterr().err


def test_an_exception_needs_a_reason(tmp_path):
    path = tmp_path / "exceptions.csv"
    path.write_text(EXCEPTIONS.read_text() + "2,Gold DP-SFT,MATH,a check,+2.99,3,\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"exceptions\.csv:7: has no reason"):
        read_exceptions(path)


def test_tables_of_another_study_are_not_set_beside_the_paper(tmp_path, capsys):
    with pytest.raises(SystemExit) as left:
        compare(tmp_path, "--tables", tmp_path / "table2.json")
    assert left.value.code == 2
    assert "only those of paper stand beside the paper" in capsys.readouterr().err


# --- ours beside theirs ---


def contrast(difference, low, high):
    return {"difference_pp": difference, "ci95_pp": [low, high], "mde_pp": 1.0}


def ours(folder, table):
    """What stands beside the paper where our table is this one, by row and column."""
    write_table(table, folder / "table")
    return {(one["row"], one["column"]): one for one in beside(published(), [folder / "table.json"])}


def test_a_difference_and_its_interval_stand_beside_the_papers(tmp_path):
    rows = (
        (label("Gold DP-SFT"), gain(contrast(2.5, 1.5, 3.5)), gain(contrast(3.79, 2.0, 5.5))),
        (label("Zero-advantage control"), gain(None), gain(contrast(-1.0, -2.0, 0.5))),
    )
    found = ours(tmp_path, Table("", ("Comparator", "math (pp)", "gsm8k (pp)"), rows, number=2))
    assert len(found) == 18
    assert found["Gold DP-SFT", "MATH"]["ours"] == 2.5
    assert found["Gold DP-SFT", "MATH"]["difference"] == pytest.approx(-0.49)
    assert found["Gold DP-SFT", "GSM8K high"]["ours"] == 5.5
    assert found["Zero-adv. control", "GSM8K low"]["ours"] == -2.0
    assert found["Zero-adv. control", "MATH"]["ours"] is None
    assert found["Filtered DP-SFT", "MATH"]["ours"] is None


def test_seeds_under_two_scorers_are_told_apart(tmp_path):
    def row(scorer, arm, first, mean):
        seeds = Cell("", {"1": first, "2": first})
        return label("math"), label(scorer), label(arm), seeds, number(mean, 2)

    rows = (
        row("math_strict", "DP-GRPO", 51.0, 51.5),
        row("math_robust", "DP-GRPO", 52.0, 52.5),
        (label("gsm8k"), label("gsm8k"), label("Public base"), Cell("–", {}), number(70.0, 2)),
    )
    columns = ("Evaluation set", "Scorer", "Arm", "Seeds", "Mean")
    found = ours(tmp_path, Table("", columns, rows, number=10))
    assert found["MATH strict: DP-GRPO", "Seeds 1"]["ours"] == 51.0
    assert found["MATH format-robust: DP-GRPO", "Mean"]["ours"] == 52.5
    assert found["GSM8K strict: Public base", "Mean"]["difference"] == pytest.approx(-0.7)
    assert found["MATH strict: DP-GRPO", "Seeds 3"]["ours"] is None


def test_a_mechanism_is_known_by_its_numbers(tmp_path):
    def row(m, rounds, sigma):
        return label("math"), label("every arm"), count(6988), count(m), count(rounds), exact(sigma)

    rows = (row(128, 50, 0.48424047), row(512, 50, 0.70222), row(128, 100, 0.5192677))
    found = ours(tmp_path, Table("", ("Benchmark", "Arms", "n", "m", "T", "σ"), rows, number=7))
    assert found["MATH, reference", "σ"]["ours"] == 0.48424047
    assert found["MATH, coverage (G=2)", "m"]["ours"] == 512
    assert found["MATH, ε=1 (bf16)", "σ"]["ours"] is None


def test_the_settings_stand_beside_the_papers(tmp_path):
    rows = (
        (label("Slots n"), count(6988), absent()),
        (label("Expected passes mT/n"), number(0.9159, 2), absent()),
        (label("Evaluation set"), label("4,499 eval"), label("1,319 eval")),
        (label("Completion cap (tokens)"), count(1024), count(512)),
    )
    found = ours(tmp_path, Table("", ("Setting", "math", "gsm8k"), rows, number=1))
    assert found["Training prompts n", "MATH"]["ours"] == 6988
    assert found["Expected passes qT", "MATH"]["ours"] == 0.9159
    assert found["Completion cap", "GSM8K"]["ours"] == 512


def test_what_is_no_table_is_refused(tmp_path):
    (tmp_path / "table.json").write_text('{"schema": "promptdp/contrast/1"}')
    with pytest.raises(InputError, match="schema is not promptdp/table/1"):
        beside(published(), [tmp_path / "table.json"])
    (tmp_path / "table.json").write_text('{"schema": "promptdp/table/1", "number": 2, "columns": []}')
    with pytest.raises(InputError, match="lacks rows"):
        beside(published(), [tmp_path / "table.json"])


@pytest.mark.slow
def test_the_verb_ends_well_with_the_accountant_itself(tmp_path):
    command = [sys.executable, "-m", "promptdp.cli", "compare-published", "--values", *FILES]
    command += ["--exceptions", EXCEPTIONS, "--out", tmp_path / "p.json", "--page", tmp_path / "p.md"]
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True, cwd=ROOT)
    assert result.returncode == 0, result.stderr
    assert "5 exceptions, 0 differ" in result.stdout
