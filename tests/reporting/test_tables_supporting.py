"""Tables VII, IX and XII to XIV and the checks, on answers few enough to count by hand."""

import csv
import io
from fractions import Fraction

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from promptdp.errors import InputError
from promptdp.files import read_json, sha256_file
from promptdp.reporting.inputs import Inputs
from promptdp.reporting.table import as_csv, as_latex, as_markdown, write_table
from promptdp.reporting.tables import TABLES, make_checks, make_table, settings_sha256
from tests.reporting import fabricated

PROBLEMS = 10
ARMS = fabricated.SETTINGS["arms"]
DP = ARMS["dp_grpo"]
SETTINGS = {
    "evaluation_sets": {
        name: {"benchmark": benchmark, "problems": PROBLEMS, "cap": 48, "scorers": scorers, **more}
        for name, benchmark, scorers, more in (
            ("arithmetic", "arithmetic", {"strict": "math_strict", "robust": "math_robust"}, {}),
            ("stories", "stories", {"strict": "gsm8k"}, {}),
            ("far", "stories", {"strict": "svamp"}, {"transfer": True, "source": "choices"}),
        )
    },
    "arms": {
        "base": ARMS["base"],
        "control": ARMS["control"] | {"seeds": [1, 2]},
        "gold": ARMS["gold"] | {"seeds": [1, 2], "benchmarks": ["stories"]},
        "dp_grpo": DP | {"seeds": [1, 2, 3]},
        "tight": DP | {"label": "Tight budget", "seeds": [1, 2], "epsilon": 1, "benchmarks": ["arithmetic"]},
        "wide": DP
        | {"label": "Wide clip", "seeds": [1], "clipping_norm": 0.12, "benchmarks": ["arithmetic"]},
    },
    "contrasts": [
        {"arm": "dp_grpo", "versus": "control", "family": "reward"},
        {"arm": "dp_grpo", "versus": "base", "family": "base"},
        {"arm": "dp_grpo", "versus": "gold", "family": "gold"},
        {"arm": "tight", "versus": "dp_grpo", "family": "budget", "block": "Budget"},
        {"arm": "tight", "versus": "base", "family": "figure", "block": "Budget"},
        {"arm": "wide", "versus": "dp_grpo", "family": "clipping", "block": "Clipping"},
    ],
    "tables": [2, 3, 4, 5, 9, 10, 11, 12, 13, 14],
    "figures": [2, 3],
}
CORRECT = {  # the problems that each seed answers correctly
    ("arithmetic", "math_strict"): {
        "base": ["0123"],
        "control": ["0123", "012"],
        "dp_grpo": ["0178", "0123489", "0123"],
        "tight": ["017", "012348"],
        "wide": ["01789"],
    },
    ("arithmetic", "math_robust"): {
        "base": ["01237"],
        "control": ["0123", "012"],
        "dp_grpo": ["01789", "0123489", "0123"],
        "tight": ["017", "012348"],
        "wide": ["01789"],
    },
    ("far", "svamp"): {
        "base": ["01234"],
        "control": ["01234", "01234"],
        "gold": ["56789", "56789"],
        "dp_grpo": ["012345", "01234567", "0123"],
    },
}
CORRECT["stories", "gsm8k"] = CORRECT["far", "svamp"]
UNREAD = {("arithmetic", "math_strict", "base"): "789", ("arithmetic", "math_robust", "base"): "59"}
CAPPED = {("arithmetic", "dp_grpo", 1): "8", ("arithmetic", "control", 2): "29", ("far", "gold", 1): "0"}


def listed(problems, yes=True, no=False):
    """A value for each problem, `yes` for those named by their digits."""
    return [yes if str(place) in problems else no for place in range(PROBLEMS)]


def write_scores(study, folder):
    paths = []
    for (name, rule), arms in CORRECT.items():
        for arm, seeds in arms.items():
            for seed, correct in zip(study.arms[arm].seeds, seeds, strict=True):
                metadata = {
                    "schema": "promptdp/scores/1",
                    "study": study.name,
                    "evaluation_set": name,
                    "scorer": rule,
                    "scorer_digest": rule,
                    "arm": arm,
                    "seed": seed,
                    "manifest": fabricated.MANIFEST,
                }
                paths.append(folder / "scores" / name / rule / arm / f"seed{seed}.parquet")
                fabricated.write_score_file(
                    paths[-1],
                    listed(correct),
                    metadata,
                    extracted=listed(UNREAD.get((name, rule, arm), ""), yes=None, no="1"),
                    capped=listed(CAPPED.get((name, arm, seed), "")),
                    tokens=[10 * seed + place for place in range(PROBLEMS)],
                )
    return paths


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The study and its files."""
    folder = tmp_path_factory.mktemp("supporting")
    study = fabricated.study(folder, **SETTINGS)
    scores = write_scores(study, folder)
    contrasts = fabricated.write_contrasts(study, folder, scores)
    return study, [*scores, *contrasts, *fabricated.write_budgets(study, folder)]


def texts(table):
    return [[cell.text for cell in row] for row in table.rows]


def changed(folder, **changes):
    return fabricated.study(folder, **(SETTINGS | changes))


def test_table_7_gives_every_parameter_as_the_float_that_is_used(made):
    table = make_table(7, *made)
    assert table.columns == ("Benchmark", "Arms", "n", "m", "T", "q", "σ", "C", "δ")
    public, q, delta = ["874", "16", "50"], "0.018306636155606407", "0.00011441647597254005"
    assert texts(table)[:3] == [
        ["arithmetic", "Zero-adv. control, DP-GRPO", *public, q, "0.48765", "0.06", delta],
        ["arithmetic", "Tight budget", *public, q, "–", "0.06", delta],
        ["arithmetic", "Wide clip", *public, q, "0.48765", "0.12", delta],
    ]
    assert [row[1].text for row in table.rows if row[0].text == "stories"] == ["every private arm"]
    for row in csv.DictReader(io.StringIO(as_csv(table))):
        assert (float(row["q"]), float(row["δ"])) == (16 / 874, 1 / 8740)


def test_table_9_lists_every_arm_with_its_seeds_and_the_places_that_report_it(made):
    study, _ = made
    table = make_table(9, study, [])
    assert texts(table) == [
        ["arithmetic", "Public base", "–", "Tables 2, 3, 10, 11, 14"],
        ["arithmetic", "Zero-adv. control", "1, 2", "Tables 2, 3, 10, 11"],
        ["arithmetic", "DP-GRPO", "1, 2, 3", "Tables 2, 3, 10, 11, 12, 14; Figures 2, 3"],
        ["arithmetic", "Tight budget", "1, 2", "Table 12; Figure 3"],
        ["arithmetic", "Wide clip", "1", "Table 12"],
        ["stories", "Public base", "–", "Tables 2, 4, 10, 11, 13"],
        ["stories", "Zero-adv. control", "1, 2", "Tables 2, 4, 10, 11, 13"],
        ["stories", "Gold DP-SFT", "1, 2", "Tables 2, 4, 10, 11, 13"],
        ["stories", "DP-GRPO", "1, 2, 3", "Tables 2, 4, 10, 11, 13; Figure 2"],
    ]
    assert table.rows[2][2].values == {"": 3, "list": "1 2 3"}
    assert table.study_sha256 == settings_sha256(study)


def test_table_9_names_only_tables_and_figures_that_the_study_makes(tmp_path):
    study = changed(tmp_path, tables=[9, 11], figures=[])
    assert [row[3] for row in texts(make_table(9, study, []))][2:5] == ["Table 11", "–", "–"]


@pytest.mark.parametrize("number", [2, 3, 4, 10, 11, 12, 13])
def test_an_arm_is_in_exactly_the_tables_that_table_9_sends_the_reader_to(made, number):
    study, paths = made
    sent = {
        row[1].text
        for row in make_table(9, study, []).rows
        if str(number) in row[3].text.partition(";")[0].replace(",", "").split()
    }
    markdown = as_markdown(make_table(number, study, paths))
    shown = {(spec.label, spec.label in markdown) for spec in study.arms.values()}
    assert shown == {(spec.label, spec.label in sent) for spec in study.arms.values()}


def test_table_12_gives_each_alternative_minus_the_reference_of_its_block(made):
    table = make_table(12, *made)
    assert table.columns == ("Block", "Alternative", "Change (pp)", "MDE (pp)")
    assert "on arithmetic" in table.caption
    assert [row[:2] for row in texts(table)] == [
        ["Budget; reference: DP-GRPO", "Tight budget"],
        ["Clipping; reference: DP-GRPO", "Wide clip"],
    ]
    # Seeds 1 and 2: 3 - 4 and 6 - 7 of 10 problems; seed 1 alone: 5 - 4.
    assert [row[2].values[""] for row in table.rows] == [-10.0, 10.0]
    assert table.rows[0][2].text.startswith("-10.00 [") and table.rows[1][2].text.startswith("+10.00 [")
    assert all(row[3].values[""] > 0 for row in table.rows)


def test_a_second_set_with_blocks_gets_a_column_that_names_it(tmp_path):
    arms = {
        name: {k: v for k, v in spec.items() if k != "benchmarks"} for name, spec in SETTINGS["arms"].items()
    }
    study = changed(tmp_path, arms=arms)
    table = TABLES[12](study, Inputs())
    assert table.columns[0] == "Evaluation set"
    assert [row[0].text for row in table.rows] == ["arithmetic", "arithmetic", "stories", "stories"]


def test_table_13_shows_the_transfer_set_alone_and_pairs_the_seeds_both_arms_have(made):
    table = make_table(13, *made)
    assert table.columns == ("Arm", "Seeds", "Mean", "DP-GRPO − arm (pp)", "Holm p, largest")
    assert [row[:3] for row in texts(table)] == [
        ["Public base", "–", "50.00"],
        ["Zero-adv. control", "50.00 / 50.00", "50.00"],
        ["Gold DP-SFT", "50.00 / 50.00", "50.00"],
        ["DP-GRPO", "60.00 / 80.00 / 40.00", "60.00"],
    ]
    # DP-GRPO's seeds 1 and 2 against the two of an arm, all three against the base.
    assert [row[3].values[""] for row in table.rows] == [10.0, 20.0, 20.0, None]
    assert "far: 10 problems, answered by the adapters of stories" in table.notes[0]


@pytest.mark.parametrize("number", [1, 2, 3, 4, 10, 11, 12, 14])
def test_no_other_table_shows_a_transfer_set(made, number):
    table = make_table(number, *made)
    shown = " ".join([table.caption, *table.columns, *(cell.text for row in table.rows for cell in row)])
    assert "far" not in shown.split() and "svamp" not in shown


def test_table_14_counts_what_each_answer_format_of_the_base_contributes(made):
    table = make_table(14, *made)
    assert table.columns == ("Base response", "Questions", "Strict (pp)", "Robust (pp)")
    assert [[c.text for c in row] for row in table.rows] == [
        ["Boxed an answer", "7", "-3.33", "-3.33"],
        ["No boxed answer", "3", "+13.33", "+6.67"],
        ["All problems", "10", "+10.00", "+3.33"],
    ]
    # Problems 0 to 6: 2 + 5 + 4 against 3 times 4. Problems 7 to 9: 2 + 2 + 0 against 0; robust 3 + 2 + 0
    # against 3 times 1.
    assert [[cell.values["net"] for cell in row[2:]] for row in table.rows] == [[-1, -1], [4, 2], [3, 1]]


def test_the_contributions_sum_to_the_gain_of_the_contrast_exactly(made):
    study, paths = made
    table = make_table(14, study, paths)
    for place, rule in ((2, "math_strict"), (3, "math_robust")):
        boxed, unboxed, whole = (row[place].values for row in table.rows)
        assert boxed["net"] + unboxed["net"] == whole["net"]
        path = next(p for p in paths if p.parts[-3:] == ("arithmetic", rule, "dp_grpo-base.json"))
        assert whole[""] == read_json(path)["difference_pp"] == float(Fraction(100 * whole["net"], 30))


def test_table_14_shows_no_contribution_where_a_seed_is_missing(made):
    study, paths = made
    lost = [p for p in paths if p.parts[-3:] != ("math_robust", "dp_grpo", "seed2.parquet")]
    assert [row[3].text for row in make_table(14, study, lost).rows] == ["–"] * 3
    assert [row[2].text for row in make_table(14, study, lost).rows] == ["-3.33", "+13.33", "+10.00"]
    lost = [p for p in paths if p.parts[-3:] != ("math_strict", "base", "seed0.parquet")]
    with pytest.raises(InputError, match="table 14: no input holds what it shows; give the scores of tiny"):
        make_table(14, study, lost)


def rows_of(table, check):
    return {(row[0].text, row[2].text): row[3:] for row in table.rows if row[1].text == check}


def test_the_checks_give_response_lengths_and_capped_shares_by_arm_and_seed(made):
    table = make_checks(*made)
    lengths = rows_of(table, "Mean response tokens")
    assert [cell.text for cell in lengths["arithmetic", "DP-GRPO"]] == ["14.5 / 24.5 / 34.5", "24.5"]
    assert [cell.text for cell in lengths["arithmetic", "Public base"]] == ["–", "4.5"]
    assert ("far", "Gold DP-SFT") in lengths and ("arithmetic", "Tight budget") in lengths
    capped = rows_of(table, "Responses at the cap (%)")
    assert [cell.text for cell in capped["arithmetic", "Zero-adv. control"]] == ["0.0 / 20.0", "10.0"]
    assert capped["far", "Gold DP-SFT"][1].values[""] == 5.0


def test_the_checks_count_capped_responses_as_incorrect_in_both_arms(made):
    cells = rows_of(make_checks(*made), "Reward contrast, capped responses incorrect (pp)")
    assert set(cells) == {(name, "DP-GRPO − Zero-adv. control") for name in ("arithmetic", "stories")}
    by_seed, value = cells["arithmetic", "DP-GRPO − Zero-adv. control"]
    # Seed 1 loses problem 8 of its four, the control's seed 2 problem 2 of its three: 3 - 4 and 7 - 2.
    assert by_seed.values == {"1": -10.0, "2": 50.0}
    assert value.values[""] == 20.0 and value.text.startswith("+20.00 [")


def test_the_checks_credit_what_the_more_permissive_scorer_did_not_read_in_the_base(made):
    cells = rows_of(make_checks(*made), "Lead over the base, its unread answers credited (pp)")
    by_seed, value = cells["arithmetic", "DP-GRPO − Public base"]
    # Robust: the base's 5 correct answers and problems 5 and 9, which it leaves open; DP-GRPO has 5, 7 and 4.
    assert value.values == {"": pytest.approx(100 * (16 / 3 - 7) / 10), "abstentions": 2, "credited": 7}
    assert list(by_seed.values.values()) == [-20.0, 0.0, -30.0]
    assert cells["stories", "DP-GRPO − Public base"][1].values == {"": 10.0, "abstentions": 0, "credited": 5}


def test_the_checks_say_what_they_bound_and_what_not(made):
    notes = " ".join(make_checks(*made).notes)
    for words in ("does not come from shorter ones", "what a larger cap would give", "does not cover errors"):
        assert words in notes


def test_the_checks_are_written_under_their_own_name(made, tmp_path):
    table = make_checks(*made)
    write_table(table, tmp_path / "checks")
    assert (tmp_path / "checks.md").read_text().startswith("**Checks.** ")
    assert r"\label{tab:checks}" in (tmp_path / "checks.tex").read_text()
    assert read_json(tmp_path / "checks.json")["inputs"] == {str(p): sha256_file(p) for p in made[1]}


def test_the_checks_of_no_scores_are_refused(made):
    study, paths = made
    with pytest.raises(InputError, match="checks: no input is a file of scores"):
        make_checks(study, [p for p in paths if p.suffix == ".json"])


def test_a_missing_seed_leaves_its_checks_absent(made):
    study, paths = made
    lost = [p for p in paths if p.parts[-4:] != ("arithmetic", "math_strict", "dp_grpo", "seed2.parquet")]
    table = make_checks(study, lost)
    assert [c.text for c in rows_of(table, "Mean response tokens")["arithmetic", "DP-GRPO"]] == ["–", "–"]
    gone = rows_of(table, "Reward contrast, capped responses incorrect (pp)")
    assert gone["arithmetic", "DP-GRPO − Zero-adv. control"][1].text == "–"


BROKEN = {
    "no extraction": ({"extracted": None}, "lacks the one column extracted"),
    "no length": ({"tokens": None}, "lacks the one column tokens"),
    "a length that is missing": ({"tokens": [1] * 9 + [None]}, "capped or tokens is missing"),
    "a cap that is no truth": ({"capped": [0] * 10}, "capped or tokens is missing"),
    "another problem": ({"problem_id": [f"p{i:04d}" for i in range(9)] + ["q"]}, "lacks problems that seed"),
    "two seeds in one file": ({"seed": [1] * 5 + [2] * 5}, "more than one seed"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_scores_that_do_not_say_what_a_response_was_are_refused_by_name(made, tmp_path, case):
    study, paths = made
    columns, message = BROKEN[case]
    broken = next(
        p for p in paths if p.parts[-4:] == ("arithmetic", "math_strict", "dp_grpo", "seed1.parquet")
    )
    table = pq.read_table(broken)
    metadata = table.schema.metadata
    for name, values in columns.items():
        table = table.drop_columns([name])
        if values is not None:
            table = table.append_column(name, pa.array(values))
    out = tmp_path / "seed1.parquet"
    pq.write_table(table.replace_schema_metadata(metadata), out)
    replaced = {broken, broken.with_name("seed2.parquet")} if "two" in case else {broken}
    inputs = [*(path for path in paths if path not in replaced), out]
    for make in (lambda: make_table(14, study, inputs), lambda: make_checks(study, inputs)):
        with pytest.raises(InputError, match=message) as caught:
            make()
        assert "\n" not in str(caught.value)


def test_tables_that_a_study_has_no_arms_or_sets_for_say_so(tmp_path):
    arms = {"base": ARMS["base"]}
    study = fabricated.study(tmp_path, arms=arms, contrasts=[])
    notes = {
        7: "no private arm",
        12: "contrasts no arms in blocks",
        13: "evaluates no transfer set",
        14: "no evaluation set with two scorers that both",
    }
    for number, words in notes.items():
        table = make_table(number, study, [])
        assert table.rows == () and words in table.notes[0], number
        assert as_latex(table) and as_markdown(table)
    assert texts(make_table(9, study, [])) == [[name, "Public base", "–", "–"] for name in study.benchmarks]


@pytest.mark.parametrize("number", sorted(TABLES))
def test_every_table_of_the_study_is_one_grid_in_every_format(made, number, tmp_path):
    table = make_table(number, *made)
    write_table(table, tmp_path / "table")
    for ending in ("csv", "md", "tex"):
        assert (tmp_path / f"table.{ending}").stat().st_size
    latex = (tmp_path / "table.tex").read_text()
    rows = [line for line in latex.splitlines() if line.endswith(r"\\")]
    assert {line.count(" & ") for line in rows} == {len(table.columns) - 1}
    assert latex.count("{") == latex.count("}") and latex.count("$") % 2 == 0
    assert latex.isascii(), [c for c in latex if not c.isascii()]
