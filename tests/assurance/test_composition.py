"""All private runs on the same slots are several looks at the same records, composed by their losses."""

import pytest

from promptdp.assurance.composition import compose_benchmark
from promptdp.errors import InputError
from promptdp.files import read_json, write_json
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
        manifest = {"schema": "promptdp/run/1", "study": STUDY.name, "settings": settings, "seed": seed}
        write_json(paths[-1], manifest | {"mechanism": mechanism, "attempts": attempts})
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


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"schema": "promptdp/run/2"}, "its schema is not promptdp/run/1"),
        ({"study": "other"}, "is not of study"),
        ({"settings": []}, "settings: "),
        ({"settings": {"benchmark": ["arithmetic"], "arm": "dp_grpo"}}, "settings.benchmark: "),
        ({"settings": {"benchmark": "arithmetic"}}, "lacks settings.arm"),
        ({"seed": "1"}, "seed: "),
        ({"mechanism": None}, "mechanism: "),
        (
            {"mechanism": {"slots": 40, "expected": 4, "noise_multiplier": "1.5"}},
            "mechanism.noise_multiplier: ",
        ),
        ({"attempts": True}, "attempts: "),
    ],
)
def test_a_file_that_is_no_manifest_of_a_run_is_named(manifests, changes, message):
    write_json(manifests[0], read_json(manifests[0]) | changes)
    with pytest.raises(InputError, match=f"^{manifests[0]}: {message}"):
        compose_benchmark(STUDY, "arithmetic", manifests)


def test_a_run_given_twice_is_refused(manifests):
    with pytest.raises(InputError, match=f"^{manifests[0]}: is of a run that another"):
        compose_benchmark(STUDY, "arithmetic", [*manifests, manifests[0]])


@pytest.mark.parametrize("content", ["[]", "null", "{", "[" * 100_000])
def test_a_manifest_that_is_no_object_is_named(manifests, content):
    manifests[0].write_text(content)
    with pytest.raises(InputError, match=f"^{manifests[0]}"):
        compose_benchmark(STUDY, "arithmetic", manifests)


def test_a_benchmark_without_a_private_run_has_nothing_to_compose(manifests, tmp_path):
    arms = {name: arm for name, arm in STUDY.arms.items() if not arm.private}
    public = STUDY.model_copy(update={"arms": arms})
    with pytest.raises(InputError, match="arithmetic has no private run"):
        compose_benchmark(public, "arithmetic", manifests)
