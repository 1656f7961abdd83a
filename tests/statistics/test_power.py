"""The planned contrast: the power it promises, by simulation; the paper's; pilots; faults."""

import csv
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptdp.cli import main
from promptdp.errors import InputError
from promptdp.statistics import lattice
from promptdp.statistics.contrast import DETECTABLE, contrast
from promptdp.statistics.power import pilot_variation, planned_contrast, planned_contrast_from_files

# --- the power that is promised --------------------------------------------------------------------------


def copied(generator, problems, seeds, correlation, chances):
    """Differences by seed: a problem's pairs of seeds all agree with probability R, else each has its own."""
    own = generator.choice((-1, 0, 1), size=(seeds, problems), p=chances)
    agreed = generator.choice((-1, 0, 1), size=problems, p=chances)
    return np.where(generator.random(problems) < correlation, agreed, own)


def latent(generator, problems, seeds, correlation, chances):
    """Differences by seed: each problem has chances of its own, Dirichlet about the common ones."""
    weights = generator.gamma((1 / correlation - 1) * np.array(chances), size=(problems, 3))
    lost, _, won = (weights / weights.sum(axis=1, keepdims=True)).T
    coins = generator.random((seeds, problems))
    return (coins > 1 - won).astype(int) - (coins < lost)


def resolved_share(world, problems, seeds, discordance, correlation, gain):
    """The share of simulated studies whose interval excludes zero, for a true contrast of `gain`."""
    chances = [(discordance - gain) / 2, 1 - discordance, (discordance + gain) / 2]
    generator = np.random.default_rng(20)
    resolved = 0
    for _ in range(STUDIES):
        units = world(generator, problems, seeds, correlation, chances).sum(axis=0)
        low, high = lattice.bootstrap_quantiles(units, (0.025, 0.975))
        resolved += low > 0 or high < 0
    return resolved / STUDIES


STUDIES = 1000
PLANS = {
    "GSM8K's size, two seeds": (copied, (1319, 2, 0.14, 0.6)),
    "GSM8K's size, two seeds, problems with chances of their own": (latent, (1319, 2, 0.14, 0.6)),
    "four seeds": (copied, (600, 4, 0.15, 0.45)),
    "four seeds, problems with chances of their own": (latent, (600, 4, 0.15, 0.45)),
    "one seed": (copied, (600, 1, 0.10, 1.0)),
}


@pytest.mark.parametrize(("world", "design"), PLANS.values(), ids=PLANS.keys())
def test_the_planned_contrast_is_found_by_four_studies_of_five(world, design):
    gain = planned_contrast(*design)["mde_pp"] / 100
    error = math.sqrt(0.8 * 0.2 / STUDIES)
    assert resolved_share(world, *design, gain) == pytest.approx(0.8, abs=3 * error)


def test_no_contrast_is_found_by_one_study_of_twenty():
    share = resolved_share(copied, 600, 2, 0.15, 0.5, 0.0)
    assert share == pytest.approx(0.05, abs=3 * math.sqrt(0.05 * 0.95 / STUDIES))


@given(st.integers(1, 10**6), st.integers(1, 50), st.floats(1e-6, 1), st.floats(0, 1))
@settings(max_examples=200, deadline=None)
def test_the_planned_contrast_is_as_many_standard_errors_as_the_test_asks(
    problems, seeds, discordance, correlation
):
    planned = planned_contrast(problems, seeds, discordance, correlation)["mde_pp"]
    x = discordance if planned is None else planned / 100
    error = math.sqrt((discordance - x * x) * (1 + (seeds - 1) * correlation) / seeds / problems)
    if planned is None:  # even if all discordance were gain, it would not be detected so surely
        assert x <= DETECTABLE * error * (1 + 1e-9)
    else:
        assert x == pytest.approx(DETECTABLE * error)


@given(st.integers(100, 10**5), st.integers(1, 8), st.floats(0.05, 0.5), st.floats(0, 1))
@settings(max_examples=50, deadline=None)
def test_more_problems_help_more_seeds_never_harm_and_more_variation_never_helps(
    problems, seeds, discordance, correlation
):
    def mde(*design):
        return planned_contrast(*design)["mde_pp"] or math.inf

    here = mde(problems, seeds, discordance, correlation)
    assert mde(2 * problems, seeds, discordance, correlation) <= here
    assert mde(problems, seeds + 1, discordance, correlation) <= here * (1 + 1e-12)
    assert here <= mde(problems, seeds, discordance, 1.0) * (1 + 1e-12)
    assert mde(problems, 1, discordance, 1.0) == pytest.approx(mde(problems, seeds, discordance, 1.0))


# --- the paper's -----------------------------------------------------------------------------------------

# Problems, seeds, wins and losses of one pair of seeds that its printed p-value and difference imply (Table
# XI), and the half width of the printed interval (Table II); 1.42941 of those is the MDE.
PUBLISHED = {
    "MATH, control": (4499, 4, 385, 281, 0.86),
    "MATH, filtered": (4499, 2, 333, 244, 0.935),
    "GSM8K, control": (1319, 4, 112, 77, 1.64),
    "GSM8K, filtered": (1319, 2, 105, 62, 1.785),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_plan_on_the_papers_discordance_comes_to_the_papers_precision(name):
    problems, seeds, wins, losses, half = PUBLISHED[name]
    discordance = (wins + losses) / problems
    published = half * DETECTABLE / 1.959964
    assert planned_contrast(problems, seeds, discordance, 0.6)["mde_pp"] == pytest.approx(published, rel=0.1)
    lowest, highest = (planned_contrast(problems, seeds, discordance, r)["mde_pp"] for r in (0, 1))
    assert lowest < published < highest


# --- pilots ----------------------------------------------------------------------------------------------


def arms_of(by_seed):
    """Two arms with these differences: an arm that is right and one that is not."""
    a = {s: {str(i): int(d > 0) for i, d in enumerate(row)} for s, row in enumerate(by_seed, start=1)}
    b = {s: {str(i): int(d < 0) for i, d in enumerate(row)} for s, row in enumerate(by_seed, start=1)}
    return a, b


@pytest.mark.parametrize("world", [copied, latent])
@pytest.mark.parametrize("seeds", [2, 3])
def test_a_pilot_recovers_the_variation_it_was_drawn_from(world, seeds):
    by_seed = world(np.random.default_rng(7), 40_000, seeds, 0.4, [0.05, 0.85, 0.10])
    discordance, correlation = pilot_variation(*arms_of(by_seed))
    assert discordance == pytest.approx(0.15, abs=0.006)
    assert correlation == pytest.approx(0.4, abs=0.03)


def test_a_plan_of_the_pilots_own_size_has_the_mde_of_its_contrast():
    by_seed = copied(np.random.default_rng(8), 2000, 3, 0.5, [0.06, 0.86, 0.08])
    a, b = arms_of(by_seed)
    planned = planned_contrast(2000, 3, *pilot_variation(a, b))["mde_pp"]
    assert planned == pytest.approx(contrast(a, b)["mde_pp"], rel=0.01)


VARIATIONS = {
    "seeds that agree": ([[1, 0, -1, 0]] * 2, (0.5, 1.0)),
    "seeds that disagree more than chance": ([[1, 0, -1, 0], [-1, 0, 1, 0]], (0.5, 0.0)),
    "one seed, which can't tell": ([[1, 0, -1, 0]], (0.5, 1.0)),
    "problems that all gain alike": ([[1, 1], [1, 1]], (1.0, 1.0)),
    "a discordance that differs by seed": (
        [[1, 0, 0, 0], [1, -1, 0, 0]],
        (0.375, pytest.approx(8 / 11)),
    ),
}


@pytest.mark.parametrize(("by_seed", "expected"), VARIATIONS.values(), ids=VARIATIONS.keys())
def test_the_variation_of_a_pilot_is_that_of(by_seed, expected):
    assert pilot_variation(*arms_of(by_seed)) == expected


def test_a_pilot_without_discordance_tells_nothing():
    arm, _ = arms_of([[1, 0, 1]])
    with pytest.raises(InputError, match="larger pilot"):
        pilot_variation(arm, arm)


# --- the command line ------------------------------------------------------------------------------------


def written(folder, name, arm):
    paths = []
    for seed, problems in arm.items():
        paths.append(folder / f"{name}-seed{seed}.csv")
        with open(paths[-1], "w", newline="") as stream:
            csv.writer(stream).writerows([("problem_id", "correct"), *problems.items()])
    return paths


def power(capsys, *options):
    main(["power", *map(str, options), "--json"])
    return json.loads(capsys.readouterr().out)


def test_the_command_plans_from_a_number_or_from_a_pilot(tmp_path, capsys):
    arms = arms_of(copied(np.random.default_rng(9), 300, 2, 0.5, [0.1, 0.7, 0.2]))
    pilot, versus = (written(tmp_path, name, arm) for name, arm in zip("ab", arms, strict=True))
    size = ("--problems", 1319, "--seeds", 4)
    discordance, correlation = pilot_variation(*arms)
    assert power(capsys, *size, "--discordance", 0.2) == planned_contrast(1319, 4, 0.2, 1.0)
    assert power(capsys, *size, "--discordance", 0.2, "--seed-correlation", 0.5) == planned_contrast(
        1319, 4, 0.2, 0.5
    )
    from_pilot = power(capsys, *size, "--pilot", *pilot, "--versus", *versus)
    assert from_pilot == planned_contrast(1319, 4, discordance, correlation)
    assert from_pilot == planned_contrast_from_files(1319, 4, pilot, versus)
    told = power(capsys, *size, "--pilot", *pilot, "--versus", *versus, "--seed-correlation", 0)
    assert told == planned_contrast(1319, 4, discordance, 0.0)


def test_what_no_study_of_the_size_detects_is_null(capsys):
    assert power(capsys, "--problems", 10, "--seeds", 1, "--discordance", 0.1)["mde_pp"] is None


SIZE = ["--problems", "100", "--seeds", "2"]
FAULTS = {
    "no problem": (["--problems", "0", "--seeds", "1", "--discordance", "0.1"], "--problems: is not from 1"),
    "no seed": (["--problems", "9", "--seeds", "0", "--discordance", "0.1"], "--seeds: is not from 1"),
    "too many": (["--problems", "9" * 400, "--seeds", "1", "--discordance", "0.1"], "--problems: is not"),
    "no discordance": ([*SIZE, "--discordance", "0"], "--discordance: is not above 0"),
    "percent": ([*SIZE, "--discordance", "14"], "--discordance: is not above 0"),
    "a discordance that is NaN": ([*SIZE, "--discordance", "nan"], "--discordance: is not above 0"),
    "a correlation above 1": ([*SIZE, "--discordance", "0.1", "--seed-correlation", "1.1"], "not in"),
    "a correlation that is NaN": ([*SIZE, "--discordance", "0.1", "--seed-correlation", "nan"], "not in"),
    "neither number nor pilot": (SIZE, "--discordance --pilot is required"),
    "both": ([*SIZE, "--discordance", "0.1", "--pilot", "x.csv"], "not allowed with"),
    "half a pilot": ([*SIZE, "--pilot", "x.csv"], "go together"),
    "a number and an arm": ([*SIZE, "--discordance", "0.1", "--versus", "x.csv"], "go together"),
    "an absent pilot": ([*SIZE, "--pilot", "no.csv", "--versus", "no.csv"], "no.csv: cannot be read"),
}


@pytest.mark.parametrize(("options", "message"), FAULTS.values(), ids=FAULTS.keys())
def test_bad_plans_leave_with_2_and_one_line(options, message, capsys):
    with pytest.raises(SystemExit) as leaving:
        main(["power", *options, "--json"])
    out, err = capsys.readouterr()
    assert leaving.value.code == 2 and out == ""
    assert len(err.splitlines()) == 1 and message in err
