"""Tables: the paper's layout for any study, one grid in four formats, and nothing hidden from a reader."""

import csv
import io
import re

import pytest

from promptdp.errors import InputError
from promptdp.files import read_json, sha256_file, write_json
from promptdp.reporting.cells import label
from promptdp.reporting.table import Table, as_csv, as_latex, as_markdown
from promptdp.reporting.tables import TABLES, make_table, write_table
from tests.reporting import fabricated


def texts(table):
    return [[cell.text for cell in row] for row in table.rows]


def contrast_of(paths, *place):
    """The content of one contrast file, by evaluation set, scorer and name."""
    return next(
        read_json(p)
        for p in paths
        if p.suffix == ".json" and (*p.parts[-3:-1], p.stem) == place and "contrasts" in p.parts
    )


def test_table_2_reads_well_in_a_readme(tiny):
    study, paths = tiny
    assert as_markdown(make_table(2, study, paths)) == (
        "**Table 2.** Accuracy gain of DP-GRPO over each comparator. Study tiny.\n"
        "\n"
        "| Comparator        |     arithmetic (pp) |        stories (pp) |\n"
        "| ----------------- | ------------------: | ------------------: |\n"
        "| Zero-adv. control | +9.75 [7.67, 12.00] | +9.50 [7.50, 11.67] |\n"
        "| Gold DP-SFT       | +9.50 [7.25, 11.88] | +9.50 [7.12, 12.00] |\n"
        "| Public base       | +9.17 [6.50, 11.92] | +9.17 [6.50, 11.92] |\n"
        "\n"
        "Points with the 95% bootstrap interval over problems; positive values favor DP-GRPO. "
        "Each contrast is paired on the seeds that both arms have. "
        "MDE: the effect detectable with 80% power, where the interval includes zero.\n"
        "\n"
        "arithmetic, stories: ε=8.000 per run at δ=1/8,740; all 8 private runs on the same slots compose to "
        "ε=17.250.\n"
    )


def test_table_1_has_a_column_for_each_benchmark(tiny):
    table = make_table(1, *tiny)
    assert table.columns == ("Setting", "arithmetic", "stories")
    rows = {row[0]: row[1:] for row in texts(table)}
    assert rows["Noise multiplier σ"] == ["0.488", "0.488"]
    assert rows["Expected passes mT/n"] == ["0.92", "0.92"]
    assert rows["δ"] == ["1/8,740", "1/8,740"]
    assert rows["Completion cap (tokens)"] == ["48", "32"]
    assert rows["Strict scorer"] == ["math_strict", "gsm8k"]
    assert "C=0.06 and learning rate 0.001 (Zero-adv. control, Gold DP-SFT, DP-GRPO)" in table.notes[0]


@pytest.mark.parametrize(
    ("number", "evaluation_set", "rules"),
    [(3, "arithmetic", ["math_strict", "math_robust"]), (4, "stories", ["gsm8k"])],
)
def test_tables_3_to_5_set_each_arm_against_the_base(tiny, number, evaluation_set, rules):
    study, paths = tiny
    table = make_table(number, study, paths)
    assert table.columns == ("Model", "Strict (%)", "Robust (%)")[: 1 + len(rules)]
    arms = [arm for arm in study.arms if evaluation_set in study.arm_benchmarks(arm)]
    assert [row[0].text.rstrip("†") for row in table.rows] == [study.arms[arm].label for arm in arms]
    for arm, row in zip(arms[1:], table.rows[1:], strict=True):
        for rule, cell in zip(rules, row[1:], strict=True):
            contrast = contrast_of(paths, evaluation_set, rule, f"{arm}-base")
            assert cell.values[""] == pytest.approx(contrast["accuracy_pp"])
            assert cell.values["difference"] == contrast["difference_pp"]
            assert cell.text == f"{contrast['accuracy_pp']:.2f} ({contrast['difference_pp']:+.2f})"


def test_a_benchmark_the_study_lacks_leaves_its_table_empty_and_says_so(tiny):
    table = make_table(5, *tiny)
    assert table.rows == ()
    assert table.notes == ("This study evaluates no third benchmark, so the table is empty.",)
    assert "| Model | Strict (%) |" in as_markdown(table)


def test_table_6_states_the_budget_of_one_run_beside_that_of_all(tiny):
    table = make_table(6, *tiny)
    shown = dict(zip(table.columns, texts(table)[0], strict=True))
    assert shown["Arms"] == "every private arm"
    assert [shown[column] for column in ("n", "m", "T", "δ", "σ")] == ["874", "16", "50", "1/8,740", "0.488"]
    assert (shown["ε (PLD)"], shown["ε (RDP)"]) == ("8.000", "9.432 (2.4)")
    assert (shown["Private runs"], shown["ε (PLD), all runs"]) == ("8", "17.250")
    assert [row[0].text for row in table.rows] == ["arithmetic", "stories"]


def test_table_6_tells_the_mechanisms_of_a_benchmark_apart(tmp_path):
    arms = fabricated.SETTINGS["arms"]
    study = fabricated.study(tmp_path, arms=arms | {"gold": arms["gold"] | {"rounds": 100}})
    budgets = fabricated.write_budgets(study, tmp_path)
    table = make_table(6, study, budgets)
    assert [row[1:5] for row in texts(table)][:2] == [
        ["Zero-adv. control, DP-GRPO", "874", "16", "50"],
        ["Gold DP-SFT", "874", "16", "100"],
    ]
    assert table.rows[1][6].text == "–"
    assert "Gold DP-SFT runs at T=100." in make_table(1, study, budgets).notes


def test_a_replay_reserve_stands_beside_the_rounds_and_finds_the_calibration_that_covers_it(tmp_path):
    benchmarks = {
        name: spec | {"rounds": 47, "replay_reserve": 3}
        for name, spec in fabricated.SETTINGS["benchmarks"].items()
    }
    study = fabricated.study(tmp_path, benchmarks=benchmarks)
    budgets = fabricated.write_budgets(study, tmp_path)
    note = "T + R: trained for T rounds; σ and ε are of T + R, so that R attempts may be begun again."
    first, sixth = make_table(1, study, budgets), make_table(6, study, budgets)
    settings = {row[0].text: row[1] for row in first.rows}
    assert settings["Rounds T"].text == "47 + 3"
    assert settings["Rounds T"].values == {"": 47, "reserve": 3}
    assert settings["Expected passes mT/n"].values == {"": 16 * 47 / 874}
    assert settings["Noise multiplier σ"].text == "0.488"
    shown = dict(zip(sixth.columns, texts(sixth)[0], strict=True))
    assert (shown["T"], shown["σ"], shown["ε (PLD)"]) == ("47 + 3", "0.488", "8.000")
    assert note in first.notes and note in sixth.notes
    assert next(iter(csv.DictReader(io.StringIO(as_csv(sixth)))))["T reserve"] == "3"


def test_a_study_without_a_reserve_says_nothing_of_one(tiny):
    assert not any("T + R" in note for number in (1, 6) for note in make_table(number, *tiny).notes)


def test_a_given_noise_multiplier_is_not_taken_for_a_target_of_the_same_number(tmp_path):
    arms = fabricated.SETTINGS["arms"]
    study = fabricated.study(tmp_path, arms=arms | {"gold": arms["gold"] | {"noise_multiplier": 8.0}})
    target, *_ = fabricated.write_budgets(study, tmp_path)
    given = read_json(target) | {"epsilon_target": None, "sigma": 8.0, "epsilon_pld": 0.125}
    write_json(tmp_path / "given.json", given)
    rows = [row[6:8] for row in texts(make_table(6, study, [target, tmp_path / "given.json"]))]
    assert rows[:2] == [["0.488", "8.000"], ["8.000", "0.125"]]


def test_table_10_lists_every_seed_under_every_scorer(tiny):
    study, paths = tiny
    table = make_table(10, study, paths)
    assert len(table.rows) == 2 * 5 + 4
    row = next(
        row for row in table.rows if [c.text for c in row[:3]] == ["arithmetic", "math_robust", "DP-GRPO"]
    )
    assert list(row[3].values) == ["1", "2", "3"]
    assert row[3].text == " / ".join(f"{value:.2f}" for value in row[3].values.values())
    assert row[4].values[""] == pytest.approx(sum(row[3].values.values()) / 3)


def test_table_10_shows_a_missing_seed_instead_of_a_mean_over_others(tiny):
    study, paths = tiny
    lost = [
        path for path in paths if path.parts[-4:] != ("arithmetic", "math_strict", "gold", "seed2.parquet")
    ]
    row = next(row for row in texts(make_table(10, study, lost)) if row[2] == "Gold DP-SFT")
    assert row[3:] == ["49.75 / –", "–"]


def test_table_11_gives_the_largest_adjusted_p_and_the_mde_where_the_sign_is_open(tiny):
    study, paths = tiny
    table = make_table(11, study, paths)
    shown = 0
    for row in table.rows:
        evaluation_set, rule, title = (cell.text for cell in row[:3])
        names = {f"{c.arm}-{c.versus}": c for c in study.evaluated_contrasts(evaluation_set)}
        name = next(
            n
            for n, c in names.items()
            if title.replace("†", "") == f"{study.arms[c.arm].label} − {study.arms[c.versus].label}"
        )
        contrast = contrast_of(paths, evaluation_set, rule, name)
        assert list(row[3].values.values()) == contrast["per_seed_pp"]
        assert row[8].values[""] == max(test["p_holm"] for test in contrast["mcnemar"])
        low, high = contrast["ci95_pp"]
        assert row[5].values[""] == (contrast["mde_pp"] if low <= 0 <= high else None)
        shown += low <= 0 <= high
    assert 0 < shown < len(table.rows)


def test_tables_over_several_runs_state_both_budgets(tiny):
    for number in (2, 3, 4, 10, 11):
        notes = " ".join(make_table(number, *tiny).notes)
        assert "ε=8.000 per run" in notes
        assert "all 8 private runs on the same slots compose to ε=17.250" in notes


def test_a_non_private_arm_carries_a_dagger_that_is_explained(tiny):
    for number in (3, 10, 11):
        table = make_table(number, *tiny)
        assert "Non-private GRPO†" in as_markdown(table)
        assert any(note.startswith("† Not private") for note in table.notes)
    assert "†" not in as_markdown(make_table(4, *tiny))


@pytest.mark.parametrize("number", TABLES)
def test_every_table_of_a_seeded_study_says_it_is_not_private(tiny, number, tmp_path):
    table = make_table(number, fabricated.study(tmp_path, randomness="seeded"), tiny[1])
    assert table.caption.startswith("NOT PRIVATE (seeded). ")
    assert table.notes[0].startswith("NOT PRIVATE (seeded): ")


def test_a_study_without_the_method_or_contrasts_gives_empty_tables_that_say_so(tmp_path):
    arms = {"base": fabricated.SETTINGS["arms"]["base"]}
    study = fabricated.study(tmp_path, arms=arms, contrasts=[])
    assert "contrasts no arm of GRPO" in make_table(2, study, []).notes[0]
    assert "no contrast" in make_table(11, study, []).notes[0]
    assert "no private arm" in make_table(6, study, []).notes[0]


@pytest.mark.parametrize("number", TABLES)
def test_all_formats_hold_the_same_table(tiny, number, tmp_path):
    study, paths = tiny
    table = make_table(number, study, paths)
    write_table(table, tmp_path / "table")
    twin = read_json(tmp_path / "table.json")
    assert twin["caption"] == table.caption
    assert twin["notes"] == list(table.notes)
    assert twin["inputs"] == {str(path): sha256_file(path) for path in paths}
    assert [[cell["text"] for cell in row] for row in twin["rows"]] == texts(table)

    lines = list(csv.reader(io.StringIO((tmp_path / "table.csv").read_text())))
    assert len(lines) == 1 + len(table.rows)
    for line, row in zip(lines[1:], twin["rows"], strict=True):
        by_column = dict(zip(lines[0], line, strict=True))
        for column, cell in zip(table.columns, row, strict=True):
            for ending, value in cell["values"].items():
                written = by_column[f"{column} {ending}".rstrip()]
                assert written == ("" if value is None else str(value))

    markdown = [line for line in (tmp_path / "table.md").read_text().splitlines() if line.startswith("|")]
    latex = [line for line in (tmp_path / "table.tex").read_text().splitlines() if line.endswith(r"\\")]
    assert len(markdown) == 2 + len(table.rows)
    assert len(latex) == 1 + len(table.rows)
    for line, other in zip([markdown[0], *markdown[2:]], latex, strict=True):
        assert [cell.strip() for cell in line.strip("|").split("|")] == plain(other)


def plain(line):
    """The cells of a LaTeX row as they are read."""
    symbols = {
        r"$\varepsilon$": "ε",
        r"$\delta$": "δ",
        r"$\sigma$": "σ",
        r"$\times$": "×",
        r"$^{\dagger}$": "†",
    }
    for code, symbol in {**symbols, r"$-$": "−", "--": "–", r"\%": "%", r"\_": "_"}.items():
        line = line.replace(code, symbol)
    line = re.sub(
        r"\$\^\{([-0-9]+)\}\$", lambda m: m[1].translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")), line
    )
    return [cell.strip() for cell in line.replace("$", "").removesuffix(r"\\").split("&")]


def test_the_order_of_inputs_changes_nothing_but_their_list(tiny):
    study, paths = tiny
    for number in TABLES:
        forward, backward = make_table(number, study, paths), make_table(number, study, paths[::-1])
        assert as_csv(forward) == as_csv(backward)
        assert as_markdown(forward) == as_markdown(backward)


def test_labels_cannot_break_a_table():
    table = Table(
        caption="50% & more", columns=("a|b", "x_y"), rows=((label("<b>|*c*\n$d"), label("{}~^\\")),)
    )
    assert r"| a\|b" in as_markdown(table)
    assert r"\<b>\|\*c\* $d" in as_markdown(table)
    assert r"a|b & x\_y \\" in as_latex(table)
    assert r"\caption{50\% \& more}" in as_latex(table)
    assert r"\$d & \{\}\textasciitilde{}\textasciicircum{}\textbackslash{} \\" in as_latex(table)
    assert list(csv.reader(io.StringIO(as_csv(table))))[1] == ["<b>|*c*\n$d", "{}~^\\"]


# The study has no third benchmark, no protocol, no blocks and no transfer set; Table 9 is made from it alone.
@pytest.mark.parametrize("number", sorted(set(TABLES) - {5, 8, 9, 12, 13}))
def test_a_table_that_no_input_says_anything_for_is_refused_with_what_it_needs(tiny, number):
    study, paths = tiny
    needed = {
        **dict.fromkeys((1, 6, 7), "calibrations"),
        **dict.fromkeys((2, 11), "contrasts"),
        **dict.fromkeys((3, 4, 10, 14), "scores"),
    }
    kinds = {
        "calibrations": [p for p in paths if "calibration" not in p.parts],
        "contrasts": [p for p in paths if "contrasts" not in p.parts],
        "scores": [p for p in paths if p.suffix != ".parquet"],
    }
    kind = needed[number]
    for useless in ([], kinds[kind]):
        with pytest.raises(
            InputError, match=f"table {number}: no input holds what it shows; give the {kind}"
        ):
            make_table(number, study, useless)


def test_a_table_is_not_written_over_a_folder(tiny, tmp_path):
    with pytest.raises(InputError, match="is a folder"):
        write_table(make_table(2, *tiny), tmp_path)
    assert not list(tmp_path.iterdir())


def test_an_input_that_is_missing_or_a_folder_is_named(tiny, tmp_path):
    (tmp_path / "folder.parquet").mkdir()
    for name in ("none.json", "none.parquet", "folder.parquet", "."):
        with pytest.raises(InputError, match=rf"^{tmp_path / name}: cannot be read"):
            make_table(2, tiny[0], [tmp_path / name])


MISSHAPEN = {
    ("contrast", "n_problems"): [0, True, "400", None],
    ("contrast", "ci95_pp"): [None, [], [1], [1, 2, 3], ["1", "2"], {"low": 1}],
    ("contrast", "difference_pp"): ["1", None, [1]],
    ("contrast", "arm"): [["dp_grpo"], None, {}],
    ("contrast", "per_seed_pp"): [[], None, [1.0], [1, "2", 3]],
    ("contrast", "mcnemar"): [None, [{}], [1, 2, 3], [{"seed": 1, "b": -1, "c": 0, "p_holm": 1}] * 3],
    ("contrast", "seed_sd_pp"): ["1", [1]],
    ("calibration", "sigma"): ["0.4", None, True, 0, [0.4]],
    ("calibration", "delta"): [0, "small", [1e-5]],
    ("calibration", "slots"): [874.5, "874", [874]],
    ("composed", "benchmark"): [["stories"], None],
    ("composed", "runs"): [None, 8, "all"],
    ("composed", "epsilon"): ["17", [17]],
}


@pytest.mark.parametrize(
    ("kind", "key", "value"), [(*at, v) for at, values in MISSHAPEN.items() for v in values]
)
def test_a_value_of_the_wrong_kind_is_named_with_its_key(tiny, tmp_path, kind, key, value):
    study, paths = tiny
    prefix = {"contrast": "dp_grpo-base", "calibration": "n874", "composed": "composed-stories"}[kind]
    content = read_json(next(p for p in paths if p.name.startswith(prefix)))
    write_json(tmp_path / "x.json", content | {key: value})
    with pytest.raises(InputError, match=rf"^{tmp_path}/x\.json: .*{key}.*; make it again") as caught:
        make_table(2, study, [tmp_path / "x.json"])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("value", [None, 3, ["gold"], {}])
def test_scores_that_misname_their_arm_are_refused(tiny, tmp_path, value):
    metadata = {"study": "tiny", "evaluation_set": "stories", "scorer": "gsm8k", "arm": value, "seed": 1}
    fabricated.write_score_file(tmp_path / "x.parquet", [True], metadata)
    with pytest.raises(InputError, match=r"x\.parquet: arm"):
        make_table(3, tiny[0], [tmp_path / "x.parquet"])


BAD = {
    "another study": ({"schema": "promptdp/contrast/1", "study": "other"}, "is not of study tiny"),
    "an unknown schema": ({"schema": "promptdp/run/9"}, "is not what tables are made from"),
    "no object": ([1], "is not what tables are made from"),
    "a key missing": ({"schema": "promptdp/contrast/1", "study": "tiny"}, "lacks evaluation_set"),
}


@pytest.mark.parametrize(("content", "message"), BAD.values(), ids=BAD.keys())
def test_an_input_that_is_no_evidence_is_refused_by_name(tiny, tmp_path, content, message):
    write_json(tmp_path / "x.json", content)
    with pytest.raises(InputError, match=f"x.json: {message}"):
        make_table(2, tiny[0], [tmp_path / "x.json"])


def test_the_same_thing_said_twice_is_refused(tiny):
    study, paths = tiny
    for path in (paths[0], paths[-1]):
        with pytest.raises(InputError, match="says what another input says already"):
            make_table(2, study, [*paths, path])


def test_an_unknown_table_is_refused_with_those_there_are(tiny):
    with pytest.raises(InputError, match=r"table 15: is not made here; there are 1, 2, .*14$"):
        make_table(15, tiny[0], [])
