"""Contrasts of files, by the library and by the command line: recorded answers, faults by name, families."""

import csv
import json
import math
import subprocess
import sys
from pathlib import Path

import pytest

from promptdp.cli import main
from promptdp.errors import InputError
from promptdp.statistics.contrast_files import contrast_files

CASES = Path(__file__).parents[3] / "shared" / "cases" / "statistics"


def recorded(wanted):
    """The recorded contrasts; one that is skipped, where the cases are not beside this checkout."""
    if not CASES.is_dir():
        absent = pytest.mark.skip(reason="the recorded statistics cases are not beside this checkout")
        return [pytest.param(None, None, None, marks=absent, id="absent")]
    answers = json.loads((CASES / "answers.json").read_text())["answers"]
    return [
        pytest.param(case, key, answer, id=f"{case}-{key}")
        for case, contrasts in answers.items()
        for key, answer in contrasts.items()
        if wanted(answer)
    ]


def rows_of(case, arm, scorer):
    with open(CASES / f"{case}.csv", newline="") as source:
        return [
            (row["problem_id"], row["seed"], row[scorer])
            for row in csv.DictReader(source)
            if row["arm"] == arm
        ]


def arms_of(case, key, folder):
    """The two arms of a recorded contrast in the command's format."""
    pair, scorer = key.split("|")
    return [[table(folder / f"{arm}-{scorer}.csv", rows_of(case, arm, scorer))] for arm in pair.split("-")]


def table(path, rows):
    with open(path, "w", newline="") as target:
        csv.writer(target).writerows([("problem_id", "seed", "correct"), *rows])
    return path


def on_the_command_line(capsys, scores, versus, *options):
    main(["contrast", "--scores", *map(str, scores), "--versus", *map(str, versus), *options, "--json"])
    return json.loads(capsys.readouterr().out)


def same(value):
    return None if value is None else pytest.approx(value, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("case", "key", "answer"), recorded(lambda answer: "error" not in answer))
def test_recorded_contrasts_are_reproduced(case, key, answer, tmp_path, capsys):
    arms = arms_of(case, key, tmp_path)
    result = contrast_files(*arms, draws=100_000, seed=5)
    assert on_the_command_line(capsys, *arms, "--draws", "100000", "--seed", "5") == result
    assert result["n_problems"] == answer["n_problems"]
    assert result["accuracy_pp"] == same(answer["acc_a_pp"])
    assert result["versus_accuracy_pp"] == same(answer["acc_b_pp"])
    assert result["difference_pp"] == same(answer["diff_pp"])
    assert result["ci95_pp"] == same(answer["ci95_exact_bootstrap_pp"])
    assert result["mde_pp"] == same(answer["mde80_pp"])
    assert result["mde_pp"] == pytest.approx(2.80159 * answer["se_bootstrap_pp"], rel=1e-5)
    # relative to the p-value alone, however small
    assert result["sign_randomization_p"] == pytest.approx(
        answer["sign_randomization_p_exact"], rel=1e-9, abs=0
    )
    assert result["seed_sd_pp"] == same(answer["seed_diff_sd_pp"])
    assert result["seed_t_ci95_pp"] == same(answer["seed_t_interval_pp"])
    assert result["per_seed_pp"] == [same(test["diff_pp"]) for test in answer["mcnemar"]]
    assert result["mcnemar"] == [
        {
            "seed": test["seed_a"],
            "b": test["b"],
            "c": test["c"],
            "p": same(test["p"]),
            "p_holm": same(test["p_holm"]),
        }
        for test in answer["mcnemar"]
    ]
    drawn, step = result["monte_carlo"], answer["lattice_step_pp"] * (1 + 1e-9)
    for edge, exact, other in zip(
        drawn["ci95_pp"], result["ci95_pp"], answer["ci95_multinomial_100k_seed5_pp"], strict=True
    ):
        assert abs(edge - exact) <= step and abs(edge - other) <= 2 * step
    hits = drawn["sign_randomization_p"] * 100_001 - 1
    assert hits == pytest.approx(round(hits), abs=1e-6)
    p = result["sign_randomization_p"]
    assert abs(hits - 100_000 * p) <= 5 * math.sqrt(100_000 * p * (1 - p)) + 1


def missing_ids(case, key):
    pair, scorer = key.split("|")
    first, second = ({problem for problem, _, _ in rows_of(case, arm, scorer)} for arm in pair.split("-"))
    return sorted(first ^ second)


def repeated_ids(case, key):
    pair, scorer = key.split("|")
    rows = [(arm, *row[:2]) for arm in pair.split("-") for row in rows_of(case, arm, scorer)]
    return sorted({row[1] for row in rows if rows.count(row) > 1})


FAULTS = {
    "arms cover different problems": ("lacks problems that seed", missing_ids),
    "duplicate (problem_id, arm, seed)": ("problems stand twice in one seed", repeated_ids),
    "no shared seed": ("shares no seed with the second", lambda case, key: []),
}


@pytest.mark.parametrize(("case", "key", "answer"), recorded(lambda answer: "error" in answer))
def test_recorded_faults_are_refused_and_name_the_first_ids(case, key, answer, tmp_path, capsys):
    arms = arms_of(case, key, tmp_path)
    message, ids_of = FAULTS[answer["error"]]
    ids = ids_of(case, key)
    assert bool(ids) == (answer["error"] != "no shared seed")
    with pytest.raises(InputError, match=message) as caught:
        contrast_files(*arms)
    assert all(problem in str(caught.value) for problem in ids[:3])
    with pytest.raises(SystemExit) as leaving:
        on_the_command_line(capsys, *arms)
    out, err = capsys.readouterr()
    assert leaving.value.code == 2 and out == ""
    assert err == f"promptdp: error: {caught.value}\n"


def test_an_absent_arm_is_refused_by_the_file_that_lacks_it(tmp_path):
    arm = [table(tmp_path / "arm.csv", [("a", 1, 1)])]
    with pytest.raises(InputError, match=r"absent\.csv: holds no scores"):
        contrast_files(arm, [table(tmp_path / "absent.csv", [])])
    with pytest.raises(InputError, match=r"nowhere\.csv: cannot be read"):
        contrast_files(arm, [tmp_path / "nowhere.csv"])


FAMILIES = [
    "null",
    "{}",
    "0.5",
    '["0.5"]',
    "[true]",
    "[1.5]",
    "[-0.1]",
    "[NaN]",
    "[[0.1]]",
    "garbage",
    "[1e999]",
]


@pytest.mark.parametrize("text", [*FAMILIES, "[" * 100_000])
def test_a_family_that_is_no_list_of_probabilities_is_refused_by_name(text, tmp_path):
    arm = [table(tmp_path / "a.csv", [("a", 1, 1)])]
    (family := tmp_path / "family.json").write_text(text)
    with pytest.raises(InputError, match=r"family\.json|--family-p"):
        contrast_files(arm, arm, family=family)


def test_a_family_file_joins_holms_adjustment(tmp_path):
    first = [table(tmp_path / "a.csv", [(problem, 1, 1) for problem in "abcdefgh"])]
    second = [table(tmp_path / "b.csv", [(problem, 1, 0) for problem in "abcdefgh"])]
    (family := tmp_path / "family.json").write_text("[0.5, 0.6]")
    (test,) = contrast_files(first, second, family=family)["mcnemar"]
    assert test["p_holm"] == 3 * test["p"] == 3 * 2**-7
    family.write_text("{}")
    with pytest.raises(InputError, match=r"family\.json: is not a list"):
        contrast_files(first, second, family=family)


def test_a_contrast_waits_for_no_heavy_library(tmp_path):
    arm = table(tmp_path / "a.csv", [("a", 1, 1), ("a", 2, 0)])
    program = (
        "import sys; from promptdp.statistics.contrast_files import contrast_files\n"
        f"contrast_files([{str(arm)!r}], [{str(arm)!r}]); print(*sys.modules)"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout
    assert not {"pandas", "pyarrow", "scipy.stats", "statsmodels", "torch"} & set(loaded.split())
