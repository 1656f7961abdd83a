"""All private runs on the same slots are several looks at the same records, composed by their losses."""

import pytest

from promptdp.assurance.composition import compose_benchmark
from promptdp.errors import InputError
from promptdp.files import read_json, sha256_bytes, write_json
from promptdp.privacy.accounting import composed_epsilon, epsilon_pld
from promptdp.privacy.ledger import Ledger
from promptdp.privacy.mechanism import Mechanism
from promptdp.privacy.register import Look, Register
from promptdp.study import load_study

STUDY = load_study("tests/workflow/small.yaml")
PRIVATE = [
    (arm, seed) for benchmark, arm, seed in STUDY.runs() if benchmark == "arithmetic" and arm != "nonprivate"
]

ATTEMPTS = 3 * len(PRIVATE) + 1


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
    assert result["epsilon"] == composed_epsilon([(40, 4, ATTEMPTS, 1.5)], 1 / 400)


def test_several_looks_cost_more_than_one_and_less_than_their_sum(manifests):
    one = epsilon_pld(40, 4, 3, 1.5, 1 / 400)
    assert one < compose_benchmark(STUDY, "arithmetic", manifests)["epsilon"] < 6 * one


def test_a_missing_run_is_named(manifests):
    arm, seed = PRIVATE[-1]
    with pytest.raises(InputError, match=rf"arithmetic/{arm}/{seed} is missing"):
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


# --- with the register: every execution ---


@pytest.fixture
def registered(tmp_path, manifests):
    """The runs of the manifests in a zone, each with its live ledger; returns what makes more looks."""
    zone = tmp_path / "zone"
    zone.mkdir(mode=0o700)

    def look(arm, seed, execution, begun, run="a", noise=1.5):
        path = zone / f"{arm}-{seed}-{execution}-{run}" / "ledger.jsonl"
        path.parent.mkdir()
        identity = {"study": STUDY.name, "benchmark": "arithmetic", "arm": arm, "seed": seed}
        mechanism = Mechanism(40, 4, 3, noise, 0.1, 1 / 400).as_json()
        ledger = Ledger.open(path, identity | {"mechanism": mechanism})
        for t in range(1, begun + 1):
            ledger.commit(t, ledger.begin(t), sha256_bytes(path.parent.name.encode()))
        look = Look(**identity, execution=execution, run=run, ledger=path.resolve())
        Register(zone / "register.jsonl").add_look(look)
        return ledger.head

    for path in manifests:
        run = read_json(path)
        head = look(run["settings"]["arm"], run["seed"], 1, run["attempts"])
        write_json(path, run | {"ledger_head": head})
    look.register = zone / "register.jsonl"
    return look


def test_a_register_of_these_runs_alone_changes_nothing(manifests, registered):
    without = compose_benchmark(STUDY, "arithmetic", manifests)
    assert compose_benchmark(STUDY, "arithmetic", manifests, registered.register) == without


def test_other_executions_and_other_settings_are_composed_too(manifests, registered):
    registered("dp_grpo", 1, 2, begun=3)
    registered("dp_grpo", 1, 2, begun=2, run="b")
    registered("gone", 9, 1, begun=1)
    result = compose_benchmark(STUDY, "arithmetic", manifests, registered.register)
    more = {"dp_grpo/seed1/execution2": 3, "dp_grpo/seed1/execution2/2": 3, "gone/seed9/execution1": 3}
    assert result["runs"] == compose_benchmark(STUDY, "arithmetic", manifests)["runs"] | more
    assert result["epsilon"] == composed_epsilon([(40, 4, ATTEMPTS + 9, 1.5)], 1 / 400)


def test_runs_without_noise_are_counted_once_however_often_they_began(manifests, registered):
    assert compose_benchmark(STUDY, "arithmetic", manifests, registered.register)["nonprivate_runs"] == 1
    for execution, expected in ((1, 1), (2, 2)):
        registered("nonprivate", 1, execution, begun=3, noise=0.0)
        result = compose_benchmark(STUDY, "arithmetic", manifests, registered.register)
        assert result["nonprivate_runs"] == expected and len(result["runs"]) == len(PRIVATE)


def test_a_run_that_the_register_does_not_know_is_refused(manifests, registered):
    write_json(manifests[0], read_json(manifests[0]) | {"ledger_head": "0" * 64})
    with pytest.raises(InputError, match=r"register\.jsonl: does not know the run arithmetic/control/1"):
        compose_benchmark(STUDY, "arithmetic", manifests, registered.register)
