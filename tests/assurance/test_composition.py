"""All private runs on the same slots are several looks at the same records, composed by their losses."""

import pytest

from promptdp.assurance.composition import compose_benchmark
from promptdp.errors import InputError
from promptdp.files import write_json
from promptdp.privacy.accounting import composed_epsilon, epsilon_pld
from promptdp.study import load_study

STUDY = load_study("tests/workflow/small.yaml")
PRIVATE = [
    (arm, seed) for benchmark, arm, seed in STUDY.runs() if benchmark == "arithmetic" and arm != "nonprivate"
]


@pytest.fixture
def manifests(tmp_path):
    """The manifests of arithmetic's private runs with made-up noise; the first took one attempt more."""
    paths = []
    for index, (arm, seed) in enumerate(PRIVATE):
        paths.append(tmp_path / f"{arm}{seed}.json")
        mechanism = {"slots": 40, "expected": 4, "rounds": 3, "noise_multiplier": 1.5}
        settings = {"benchmark": "arithmetic", "arm": arm}
        attempts = 4 if index == 0 else 3
        write_json(
            paths[-1], {"settings": settings, "seed": seed, "mechanism": mechanism, "attempts": attempts}
        )
    return paths


def test_every_begun_attempt_of_every_private_run_is_charged(manifests):
    result = compose_benchmark(STUDY, "arithmetic", manifests)
    assert result["runs"] == {"control/seed1": 4} | {f"{arm}/seed{seed}": 3 for arm, seed in PRIVATE[1:]}
    assert result["nonprivate_runs"] == 1
    assert result["epsilon"] == composed_epsilon([(40, 4, 16, 1.5)], 1 / 400)


def test_several_looks_cost_more_than_one_and_less_than_their_sum(manifests):
    one = epsilon_pld(40, 4, 3, 1.5, 1 / 400)
    assert one < compose_benchmark(STUDY, "arithmetic", manifests)["epsilon"] < 6 * one


def test_a_missing_run_is_named(manifests):
    with pytest.raises(InputError, match=r"arithmetic/dp_grpo/2 is missing"):
        compose_benchmark(STUDY, "arithmetic", manifests[:-1])


def test_an_unknown_benchmark_names_those_that_exist(manifests):
    with pytest.raises(InputError, match=r"'poems'; see arithmetic, stories, choices"):
        compose_benchmark(STUDY, "poems", manifests)
