"""A run's life: what it writes, how it survives kills, and what it refuses."""

import json
import logging
import os
import shutil
import tempfile
from functools import partial
from pathlib import Path

import pytest
from safetensors import safe_open
from safetensors.torch import save_file

from promptdp.errors import InputError, PrivacyRefusal, PromptDPError
from promptdp.files import read_json, sha256_file, write_json
from promptdp.policy.base import load_base
from promptdp.policy.local import LocalEngine
from promptdp.policy.lora import load_adapter
from promptdp.privacy.accounting import account, epsilon_pld
from promptdp.privacy.ledger import Ledger, verify_ledger
from promptdp.privacy.mechanism import Mechanism
from promptdp.privacy.randomness import Randomness
from promptdp.privacy.register import Register
from promptdp.privacy.sampler import poisson_draw
from promptdp.records.record import Record, write_records
from promptdp.training import methods
from promptdp.training import round as round_module
from promptdp.training import run as run_module
from promptdp.training.checkpoint import load_checkpoint
from tests.training.conftest import (
    EXPECTED,
    ROUNDS,
    SLOTS,
    Run,
    calibration,
    reserved_calibration,
    small_study,
)
from tests.training.kills import after, before, killed


def verify(run):
    """What must hold of every complete run, whatever happened on the way; returns the ledger's summary."""
    manifest, ledger = read_json(run.manifest), verify_ledger(run.ledger)
    theta = load_adapter(load_base(run.base), run.adapter).sha256()
    assert ledger.rounds == ROUNDS
    assert manifest["attempts"] == ledger.begun_attempts
    assert manifest["ledger_head"] == ledger.head
    assert manifest["theta_sha256"] == ledger.theta_sha256 == theta
    assert manifest["adapter_sha256"] == sha256_file(run.adapter / "adapter_model.safetensors")
    assert not list(run.folder.rglob("*.tmp"))
    return ledger


# --- a run from end to end ---


@pytest.mark.parametrize("arm", ["dp", "filtered", "gold", "free"])
def test_every_arm_trains_and_writes_its_outputs(run, arm):
    run.arm = arm
    run()
    assert verify(run).begun_attempts == ROUNDS
    assert run.lines == [f"round {t} of {ROUNDS}" for t in range(1, ROUNDS + 1)]


def test_the_manifest_states_the_mechanism_and_its_budget(run):
    run()
    manifest = read_json(run.manifest)
    assert manifest["schema"] == "promptdp/run/1"
    assert manifest["records"] == "withheld"
    assert manifest["mechanism"]["noise_multiplier"] == calibration()["sigma"]
    epsilon = calibration()["epsilon_pld"]
    assert manifest["accounting"] == {"delta": 0.01, "epsilon_retained": epsilon, "epsilon_all": epsilon}
    assert manifest["randomness"]["private"] and manifest["randomness"]["key_bits"] == 256
    assert manifest["randomness"]["coins"].startswith("Poisson sampling: an independent coin per slot")
    assert manifest["not_releasable"] == []


@pytest.mark.parametrize(
    ("changes", "arm", "reason"),
    [
        ({}, "free", "no noise is added"),
        ({"randomness": "seeded"}, "dp", "the randomness is seeded"),
        ({"isolation": "packed"}, "dp", "records share batches"),
    ],
)
def test_a_run_outside_the_guarantee_says_so(run, changes, arm, reason):
    run.study, run.arm = small_study(**changes), arm
    run()
    assert read_json(run.manifest)["not_releasable"] == [reason]


def test_two_private_runs_with_one_seed_differ(run, tmp_path):
    run()
    other = Run(tmp_path / "other", run.base)
    other()
    assert read_json(run.manifest)["theta_sha256"] != read_json(other.manifest)["theta_sha256"]


def test_a_complete_run_writes_its_outputs_again_without_a_round(run, monkeypatch):
    run()
    before = run.public_files()
    shutil.rmtree(run.results)
    monkeypatch.setattr(run_module, "private_round", None)
    run()
    assert run.public_files() == before


def with_reserve():
    bench = small_study().benchmarks["sums"].model_dump() | {"replay_reserve": 2}
    return small_study(benchmarks={"sums": bench})


@pytest.mark.parametrize("kills", [0, 2, 3])
def test_a_replay_reserve_pays_for_that_many_attempts_and_no_more(run, kills):
    run.study, stated = with_reserve(), reserved_calibration()
    write_json(run.calibration, stated)
    for _ in range(kills):
        killed(run, after(Ledger, "begin"))
    run()
    assert verify(run).begun_attempts == ROUNDS + kills
    manifest = read_json(run.manifest)
    assert manifest["mechanism"]["rounds"] == ROUNDS
    assert manifest["mechanism"]["noise_multiplier"] == stated["sigma"]
    at = partial(epsilon_pld, SLOTS, EXPECTED, noise_multiplier=stated["sigma"], delta=0.01)
    accounting = manifest["accounting"]
    assert accounting["epsilon_retained"] == pytest.approx(at(rounds=ROUNDS), rel=1e-9)
    assert accounting["epsilon_all"] == pytest.approx(at(rounds=ROUNDS + kills), rel=1e-9)
    assert (accounting["epsilon_all"] > stated["epsilon_pld"] * (1 + 1e-9)) == (kills > 2)


def test_a_reserve_needs_the_calibration_that_covers_it(run):
    run.study = with_reserve()
    with pytest.raises(InputError, match=r"calibration\.json: rounds is not that of arm dp"):
        run()


# --- kills ---


def test_a_saved_round_is_completed_and_never_drawn_again(run, monkeypatch):
    killed(run, after(run_module, "save_checkpoint", 2))
    drawn, original = [], run_module.private_round
    monkeypatch.setattr(
        run_module,
        "private_round",
        lambda t, attempt, **rest: drawn.append((t, attempt)) or original(t, attempt, **rest),
    )
    run()
    assert drawn == [(3, 1), (4, 1)]


def test_a_round_that_was_begun_and_not_saved_is_drawn_afresh(run, monkeypatch):
    killed(run, after(Ledger, "begin", 2))
    drawn, original = [], run_module.private_round
    monkeypatch.setattr(
        run_module,
        "private_round",
        lambda t, attempt, **rest: drawn.append((t, attempt)) or original(t, attempt, **rest),
    )
    run()
    assert drawn == [(2, 2), (3, 1), (4, 1)]


def test_resuming_asks_the_engine_for_nothing_of_committed_rounds(run, monkeypatch):
    killed(run, after(Ledger, "commit", 3))
    asked, generate, score = [], LocalEngine.generate, methods.score
    monkeypatch.setattr(
        LocalEngine, "generate", lambda self, *rest: asked.append("engine") or generate(self, *rest)
    )
    monkeypatch.setattr(methods, "score", lambda *rest: asked.append("verifier") or score(*rest))
    monkeypatch.setattr(run_module, "private_round", lambda *rest, **more: asked.append("round"))
    run()
    public = ["engine", "verifier", "verifier"]
    assert asked == [*public, "round"]  # the public record, and round 4
    asked.clear()
    run()
    assert asked == public  # a complete run


@pytest.mark.parametrize("content", [b"", b"x", bytes(31), bytes(33), bytes(64)])
def test_a_zone_whose_key_is_not_one_trains_nothing(run, content):
    """Under an emptied key the name of a run would be a plain hash, and test for a guessed record."""
    run()
    key = run.private / "zone.key"
    saved = key.read_bytes()
    assert len(saved) == 32 and len(set(saved)) > 8
    key.write_bytes(content)
    with pytest.raises(
        InputError, match=r"zone\.key: is not a key of 32 bytes; put back the zone's key"
    ) as caught:
        run()
    assert "\n" not in str(caught.value) and key.read_bytes() == content
    key.write_bytes(saved)
    run()
    assert len(Register(run.register).looks("sums")) == 1


def test_two_processes_on_one_run_take_turns(run):
    other = os.fork()
    if other == 0:
        run()
        os._exit(0)
    run()
    assert os.waitpid(other, 0)[1] == 0
    assert verify(run).begun_attempts == ROUNDS


# --- the recovery state ---


def test_recovery_state_is_closed_to_others_and_holds_no_generator_state(run):
    run()
    assert run.recovered.stat().st_mode & 0o777 == 0o700
    assert {path.name for path in run.recovered.iterdir()} == {"ledger.jsonl", "checkpoint.safetensors"}

    with safe_open(run.recovered / "checkpoint.safetensors", "pt") as saved:
        assert set(saved.keys()) == {"theta", "exp_avg", "exp_avg_sq", "step"}
        assert set(saved.metadata()) == {
            *("round", "attempt", "ledger_length", "ledger_head", "state_sha256")
        }


def test_lost_weights_start_a_new_branch_whose_attempts_add_up(run):
    killed(run, after(Ledger, "commit", 2))
    (run.recovered / "checkpoint.safetensors").unlink()
    run()
    ledger = verify(run)
    assert (ledger.branch, ledger.begun_attempts) == (2, 2 + ROUNDS)


def damage_file(path):
    path.write_bytes(path.read_bytes()[:-1] + b"?")


def damage_moment(path):
    """Another first moment of AdamW; theta and the place in the ledger stay."""
    state, place = load_checkpoint(path)
    with safe_open(path, "pt") as saved:
        metadata = saved.metadata()
    save_file(state | {"exp_avg": state["exp_avg"] + 1}, path, metadata)
    assert place.round


@pytest.mark.parametrize("damage", [damage_moment, damage_file, lambda path: path.write_bytes(b"")])
@pytest.mark.parametrize("complete", [False, True])
def test_damaged_weights_are_refused_and_once_removed_training_starts_over_charged(run, damage, complete):
    if complete:
        run()
    else:
        killed(run, after(Ledger, "commit", 2))
    begun = ROUNDS if complete else 2
    checkpoint, ledger = run.recovered / "checkpoint.safetensors", run.recovered / "ledger.jsonl"
    damage(checkpoint)
    before = ledger.read_bytes()
    with pytest.raises(InputError, match=r"checkpoint\.safetensors: is damaged; remove this file alone"):
        run()
    assert ledger.read_bytes() == before
    checkpoint.unlink()
    run()
    summary = verify(run)
    assert (summary.branch, summary.begun_attempts) == (2, begun + ROUNDS)
    accounting = read_json(run.manifest)["accounting"]
    assert accounting["epsilon_all"] > accounting["epsilon_retained"]
    assert "the rounds already drawn stay charged" in "".join(run.lines)


def edit(lines):
    lines[2] = lines[2].replace(b'"attempt":1', b'"attempt":2')


def swap(lines):
    lines[2], lines[3] = lines[3], lines[2]


@pytest.mark.parametrize(
    ("damage", "error", "message"),
    [
        (edit, InputError, r"ledger\.jsonl:3: the line does not follow"),
        (swap, InputError, r"ledger\.jsonl:3: the line does not follow"),
        (lambda lines: lines.pop(1), InputError, r"ledger\.jsonl:2: the line "),
        (lambda lines: lines.__delitem__(slice(-3, None)), PrivacyRefusal, "newest checkpoint"),
        (lambda lines: lines.clear(), PrivacyRefusal, "newest checkpoint"),
    ],
    ids=["edited", "reordered", "a line missing", "truncated", "emptied"],
)
@pytest.mark.parametrize("complete", [False, True])
def test_a_damaged_ledger_is_never_gone_on_with(run, damage, error, message, complete):
    if complete:
        run()
        run.ledger.unlink()
    else:
        killed(run, after(Ledger, "begin", 3))
    path = run.recovered / "ledger.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    damage(lines)
    path.write_bytes(b"".join(lines))
    for _ in range(2):
        with pytest.raises(error, match=message):
            run()
    assert not run.ledger.exists()


def test_other_settings_or_other_records_are_another_run(run):
    run()
    run.study = small_study(optimizer={"beta1": 0.5})
    run()
    run.write_records(6)
    run()
    assert len([path for path in run.recovery.iterdir() if path.is_dir()]) == 3
    looks = [json.loads(line) for line in run.register.read_text().splitlines()]
    assert len({look["run"] for look in looks if look["event"] == "run"}) == 3


def test_the_register_has_a_line_before_records_are_read(run):
    run.records.unlink()
    with pytest.raises(InputError, match=r"train\.jsonl"):
        run()
    (entry,) = map(json.loads, run.register.read_text().splitlines())
    assert (entry["event"], entry["arm"], entry["seed"]) == ("reads records", "dp", 1)


def test_a_killed_and_resumed_run_is_one_look_in_the_register(run):
    killed(run, before(Ledger, "begin"))
    killed(run, after(Ledger, "begin", 2))
    run()
    events = [entry["event"] for entry in Register(run.register).entries()]
    assert (events.count("reads records"), events.count("run")) == (3, 1)


def test_every_execution_is_a_look_whose_ledger_the_register_finds(run):
    for execution in (1, 2):
        run(execution=execution)
    looks = Register(run.register).looks("sums")
    assert [(look.arm, look.seed, look.execution) for look in looks] == [("dp", 1, 1), ("dp", 1, 2)]
    assert {verify_ledger(look.ledger).begun_attempts for look in looks} == {ROUNDS}
    assert len({look.ledger for look in looks}) == 2


def test_a_run_whose_ledger_is_gone_is_never_begun_anew_uncharged(run):
    run()
    shutil.rmtree(run.recovered)
    for _ in range(2):
        with pytest.raises(PrivacyRefusal, match=r"ledger\.jsonl: is gone, and with it the count"):
            run()
    run(execution=2)
    assert len(Register(run.register).looks("sums")) == 2


# --- what stays private ---


def seed_that(draws, slot):
    """A seed under which some round draws a slot, or none does."""
    mechanism = Mechanism(SLOTS, EXPECTED, ROUNDS, 0.9, 0.1, 0.01)
    for seed in range(1, 1000):
        source = Randomness.seeded(seed)
        rounds = [poisson_draw(mechanism, source.stream(t, "coins")) for t in range(1, ROUNDS + 1)]
        if any(slot in drawn for drawn in rounds) == draws:
            return seed
    raise AssertionError("no such seed")


@pytest.mark.parametrize("drawn", [False, True])
@pytest.mark.parametrize("arm", ["dp", "gold"])
def test_the_presence_of_a_record_shows_in_public_files_only_if_a_round_draws_it(
    tmp_path, tiny_folder, monkeypatch, arm, drawn
):
    source = Randomness.seeded(seed_that(drawn, slot=6))
    monkeypatch.setattr(Randomness, "seeded", classmethod(lambda cls, seed: source))
    files = []
    for count in (6, 7):
        one = Run(tmp_path / str(count), tiny_folder, arm, small_study(randomness="seeded"))
        one.write_records(count)
        one()
        files.append(one.public_files())
    differing = {name for name in files[0] if files[0][name] != files[1][name]}
    assert differing == (
        {"adapter/adapter_model.safetensors", "run.json", "ledger.jsonl"} if drawn else set()
    )


def test_no_public_file_and_no_line_of_progress_quotes_a_record(run, capfd):
    run.arm = "gold"
    run()
    out, err = capfd.readouterr()
    for text in [*run.public_files().values(), out.encode(), err.encode(), "".join(run.lines).encode()]:
        assert b"MARK" not in text and b"id-" not in text


@pytest.mark.parametrize("arm", ["dp", "gold"])
def test_nothing_is_said_of_a_private_record_that_is_too_long(run, monkeypatch, capfd, arm):
    monkeypatch.setattr(round_module, "poisson_draw", lambda mechanism, stream: range(mechanism.slots))
    run.arm, long = arm, "MARK" * 33
    write_records(run.records, [Record("id-0", long, "1", solution=long)])
    handler = logging.StreamHandler()  # where transformers tells its warnings, under this test's capture
    logger = logging.getLogger("transformers")
    logger.addHandler(handler)
    try:
        run()
    finally:
        logger.removeHandler(handler)
    assert "".join(capfd.readouterr()) == ""


def fail_once(run, monkeypatch) -> PromptDPError:
    """Train while the engine quotes a record in an exception, after the public record has passed."""
    generate, calls = LocalEngine.generate, []

    def fail(self, prompts, *rest):
        calls.append(prompts)
        if len(calls) > 1:  # the first is the public record's
            raise RuntimeError(f"MARK3 {prompts}")
        return generate(self, prompts, *rest)

    with monkeypatch.context() as patched:
        patched.setattr(LocalEngine, "generate", fail)
        with pytest.raises(PromptDPError) as caught:
            run()
    return caught.value


def test_a_failure_inside_the_mechanism_tells_nothing_and_spoils_the_release(run, monkeypatch):
    error = fail_once(run, monkeypatch)
    assert "MARK3" in (run.recovered / "failure-1-1.txt").read_text()
    assert "MARK" not in str(error) and error.__cause__ is None
    assert error.exit_status == 1
    (run.recovered / "failure-1-1.txt").unlink()
    run()
    ledger = verify(run)
    assert (ledger.begun_attempts, ledger.failed_attempts) == (ROUNDS + 1, 1)
    assert "MARK" not in run.ledger.read_text()
    assert read_json(run.manifest)["not_releasable"] == ["a round failed inside the mechanism"]


def test_a_confidential_run_in_which_a_round_failed_publishes_nothing(run, monkeypatch):
    run.study = small_study(records="confidential")
    fail_once(run, monkeypatch)
    for _ in range(2):
        with pytest.raises(PrivacyRefusal, match="nothing of this run is published"):
            run()
        assert not run.results.exists()


@pytest.mark.parametrize(
    ("changes", "arm", "message"),
    [({}, "free", "adds no noise"), ({"randomness": "seeded"}, "dp", "seeded randomness is not private")],
)
def test_confidential_records_refuse_what_is_not_private(run, changes, arm, message):
    run.study, run.arm = small_study(records="confidential", **changes), arm
    with pytest.raises(PrivacyRefusal, match=message):
        run()
    assert not run.register.exists()


def test_confidential_records_train_a_private_arm(run):
    run.study = small_study(records="confidential")
    run()
    verify(run)


# --- bad input ---


def test_a_private_arm_needs_the_calibration_of_its_own_mechanism(run):
    settings = read_json(run.calibration)
    run.calibration.write_text(json.dumps(settings | {"rounds": 3}))
    with pytest.raises(InputError, match=r"calibration\.json: rounds is not that of arm dp"):
        run()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sigma": 0}, "sigma is not a positive number"),
        ({"sigma": None}, "sigma is not a positive number"),
        ({"sigma": float("nan")}, "not valid JSON"),
        ({"sigma": True}, "sigma is not a positive number"),
        ({"sigma": 1e-6}, "sigma spends more than the stated epsilon_pld"),
        ({"sigma": 0.522}, "sigma spends more than the stated epsilon_pld"),
        ({"epsilon_pld": None}, "epsilon_pld is not a positive number"),
        ({"epsilon_pld": 1.0}, "sigma spends more than the stated epsilon_pld"),
        ({"epsilon_pld": 8.01}, "epsilon_pld is above the target of arm dp"),
        ({"epsilon_target": None}, "epsilon_target is not that of arm dp"),
        ({"epsilon_target": 80, "epsilon_pld": 80, "sigma": 0.2}, "epsilon_pld is above the target"),
        ({"epsilon_target": 80}, "epsilon_target is not that of arm dp"),
    ],
)
@pytest.mark.parametrize("confidentiality", ["public", "confidential"])
def test_noise_that_does_not_meet_the_budget_reads_no_record(run, change, message, confidentiality):
    run.study = small_study(records=confidentiality)
    run.calibration.write_text(json.dumps(calibration() | change))
    with pytest.raises(InputError, match=rf"calibration\.json: {message}"):
        run()
    assert not run.register.exists()


@pytest.mark.parametrize("content", ["[]", "7", "{}", "not JSON"])
def test_a_file_that_is_no_calibration_is_refused(run, content):
    run.calibration.write_text(content)
    with pytest.raises(InputError, match=r"calibration\.json"):
        run()


def test_a_given_noise_multiplier_needs_its_own_account(run):
    noise = 1.5
    arm = run.study.arms["dp"].model_dump() | {"noise_multiplier": noise}
    run.study = small_study(arms={"dp": arm})
    with pytest.raises(InputError, match=r"calibration\.json: sigma is not that of arm dp"):
        run()
    stated = account(SLOTS, EXPECTED, ROUNDS, noise, 0.01).as_json()
    write_json(run.calibration, stated)
    run()
    assert read_json(run.manifest)["accounting"]["epsilon_retained"] == stated["epsilon_pld"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"benchmark": "stories"}, "no run has benchmark stories here; there are sums"),
        ({"arm": "none"}, "no run has arm none here; there are dp, filtered, free, gold"),
        ({"seed": 3}, "no run has seed 3 here; there are 1, 2"),
        ({"execution": 0}, "execution 0: executions are numbered from 1"),
    ],
)
def test_a_run_that_the_study_does_not_have_is_refused(run, given, message):
    with pytest.raises(InputError, match=message):
        run(**given)
    assert not run.register.exists()


def test_a_register_in_a_folder_that_others_read_is_refused_and_the_folder_left_alone(run):
    with tempfile.TemporaryDirectory() as name:
        working = Path(name)
        working.chmod(0o755)
        run.register = working / "x.jsonl"
        with pytest.raises(InputError, match="others can read this folder"):
            run()
        assert working.stat().st_mode & 0o777 == 0o755 and not list(working.iterdir())


def test_an_adapter_never_replaces_a_folder_that_holds_something_else(run):
    run.adapter.mkdir(parents=True)
    (run.adapter / "thesis.txt").write_text("years")
    with pytest.raises(InputError, match=r"adapter: holds thesis\.txt"):
        run()
    assert (run.adapter / "thesis.txt").read_text() == "years" and not run.register.exists()


def test_the_records_that_name_a_run_are_those_it_trains_on(run, monkeypatch):
    read = []
    original = Path.open

    def opened(self, *rest, **options):
        if self == run.records:
            read.append(self)
        return original(self, *rest, **options)

    monkeypatch.setattr(Path, "open", opened)
    run()
    assert len(read) == 1


def test_gold_names_the_line_that_lacks_a_solution(run):
    lines = [json.loads(line) for line in run.records.read_text().splitlines()]
    del lines[2]["solution"]
    run.records.write_text("".join(json.dumps(line) + "\n" for line in lines))
    run.arm = "gold"
    with pytest.raises(InputError, match=r"train\.jsonl:3: key 'solution'"):
        run()


def test_more_records_than_slots_are_refused(run):
    run.write_records(SLOTS + 1)
    with pytest.raises(InputError, match="slots"):
        run()
