"""Every look at the same slots: in the register, counted by its live ledger, named where that is gone."""

import pytest
import torch

from promptdp.assurance.looks import CHECKPOINT, charged_looks, look_of, private_looks
from promptdp.errors import InputError, PrivacyRefusal
from promptdp.privacy.ledger import Ledger, read_live_ledger
from promptdp.privacy.mechanism import Mechanism
from promptdp.privacy.register import Look, Register
from promptdp.training.checkpoint import Place, save_checkpoint
from promptdp.training.run import CHECKPOINT as SAVED

MECHANISM = Mechanism(40, 4, 3, 1.5, 0.1, 1e-3)
FREE = Mechanism(40, 4, 3, 0.0, 0.1, 1e-3)


class Zone:
    """A private zone with a register and the ledgers of made-up runs."""

    def __init__(self, folder):
        folder.mkdir(mode=0o700)
        self.folder, self.register = folder, folder / "register.jsonl"

    def look(self, arm="dp", seed=1, execution=1, run="a", begun=3, mechanism=MECHANISM, header=None):
        path = self.folder / f"{arm}-{seed}-{execution}-{run}" / "ledger.jsonl"
        path.parent.mkdir()
        identity = {"study": "small", "benchmark": "sums", "arm": arm, "seed": seed}
        ledger = Ledger.open(path, header or identity | {"mechanism": mechanism.as_json()})
        for t in range(1, begun + 1):
            ledger.commit(t, ledger.begin(t), "0" * 64)
        Register(self.register).add_look(
            Look(**identity, execution=execution, run=run, ledger=path.resolve())
        )
        return ledger


@pytest.fixture
def zone(tmp_path):
    return Zone(tmp_path / "zone")


def test_looks_come_by_arm_seed_and_execution_whenever_they_began(zone):
    for arm, seed, execution in (("gold", 1, 1), ("dp", 2, 1), ("dp", 1, 2), ("dp", 1, 1)):
        zone.look(arm, seed, execution)
    names = [(look.arm, look.seed, look.execution) for look in charged_looks(zone.register, "sums")]
    assert names == [("dp", 1, 1), ("dp", 1, 2), ("dp", 2, 1), ("gold", 1, 1)]


def test_a_look_is_charged_what_its_live_ledger_has_begun_and_nothing_before_its_first_round(zone):
    ledger = zone.look(begun=2)
    ledger.begin(3)
    ledger.fail(3, 1)
    ledger.begin(3)
    zone.look(seed=2, begun=0)
    (look,) = charged_looks(zone.register, "sums")
    assert look.event == (40, 4, 4, 1.5) and look.failed_attempts == 1
    assert look_of(ledger.head, [look]) is look and look_of("0" * 64, [look]) is None


def test_a_line_that_a_run_is_writing_or_a_kill_cut_off_counts_for_nothing(zone):
    zone.look(begun=2)
    before = charged_looks(zone.register, "sums")
    (path,) = zone.folder.glob("*/ledger.jsonl")
    with path.open("ab") as stream:
        stream.write(b'{"attempt":1,"branch":1,"eve')
    assert charged_looks(zone.register, "sums") == before


def listed(zone):
    return [look.as_json() for look in charged_looks(zone.register, "sums")]


def test_how_far_a_look_has_come_is_not_told_before_it_is_complete(zone):
    """It is charged with all its rounds after its first one, and with more only if it begins more."""
    ledger = zone.look(begun=1)
    first = listed(zone)
    assert first[0]["charged_attempts"] == MECHANISM.rounds == 3
    for t in (2, 3):
        ledger.commit(t, ledger.begin(t), "0" * 64)
        assert listed(zone) == first
    ledger.close()
    assert listed(zone) == first
    ledger.start_branch()
    assert listed(zone) == first
    ledger.begin(1)
    assert listed(zone)[0]["charged_attempts"] == 4


def test_the_order_of_looks_of_one_name_does_not_tell_which_began_first(zone, tmp_path):
    other = Zone(tmp_path / "other")
    for a, noise in ((zone, (1.5, 2.0)), (other, (2.0, 1.5))):
        for run, sigma in zip("ab", noise, strict=True):
            mechanism = Mechanism(40, 4, 3, sigma, 0.1, 1e-3)
            a.look(run=run, mechanism=mechanism)
    assert listed(zone) == listed(other)


# --- what stands beside the register and beside a ledger ---


def save(ledger, folder):
    """A checkpoint as training saves it after the attempt in progress."""
    round, attempt = ledger.pending
    save_checkpoint(
        folder / CHECKPOINT,
        {"theta": torch.zeros(3)},
        Place(round, attempt, ledger.length, ledger.head),
    )


@pytest.fixture
def saved(zone):
    """A look of three rounds whose checkpoint was saved after the third had begun; its ledger's path."""
    ledger, path = zone.look("gold", 7, begun=2), zone.folder / "gold-7-1-a" / "ledger.jsonl"
    ledger.begin(3)
    save(ledger, path.parent)
    ledger.commit(3, 1, "0" * 64)
    return path


def test_the_checkpoint_has_the_name_that_training_gives_it():
    assert CHECKPOINT == SAVED


def test_a_ledger_that_contains_what_its_checkpoint_was_saved_after_is_charged(zone, saved):
    assert [look.begun_attempts for look in charged_looks(zone.register, "sums")] == [3]
    lines = saved.read_bytes().splitlines(keepends=True)
    saved.write_bytes(b"".join(lines[:6]))
    assert [look.begun_attempts for look in charged_looks(zone.register, "sums")] == [3]


@pytest.mark.parametrize("kept", [1, 3, 5])
def test_a_ledger_cut_shorter_than_its_checkpoint_is_refused_by_the_name_of_its_look(zone, saved, kept):
    """With its first line alone it would be no look at all."""
    saved.write_bytes(b"".join(saved.read_bytes().splitlines(keepends=True)[:kept]))
    with pytest.raises(
        PrivacyRefusal, match=r"the ledger of arm gold, seed 7, execution 1 was cut"
    ) as caught:
        charged_looks(zone.register, "sums")
    assert str(saved) in str(caught.value) and "\n" not in str(caught.value)


def test_another_ledger_than_the_checkpoint_s_is_refused(zone, saved):
    header = read_live_ledger(saved).summary.header
    saved.unlink()
    ledger = Ledger.open(saved, header)
    for t in (1, 2, 3):
        ledger.commit(t, ledger.begin(t), "1" * 64)
    with pytest.raises(PrivacyRefusal, match="was cut or exchanged"):
        charged_looks(zone.register, "sums")


@pytest.mark.parametrize("content", [b"", b"\0" * 100, b"x"])
def test_a_damaged_checkpoint_is_named(zone, saved, content):
    saved.with_name(CHECKPOINT).write_bytes(content)
    with pytest.raises(InputError, match=r"checkpoint\.safetensors: is damaged"):
        charged_looks(zone.register, "sums")


def test_a_live_ledger_that_no_line_of_the_register_names_is_refused(zone):
    zone.look()
    path = zone.folder / "recovery" / "sums" / "gold" / "seed7" / "ab" / "ledger.jsonl"
    path.parent.mkdir(parents=True)
    ledger = Ledger.open(path, {"study": "small", "benchmark": "sums", "arm": "gold", "seed": 7})
    assert len(charged_looks(zone.register, "sums")) == 1
    ledger.begin(1)
    with pytest.raises(PrivacyRefusal, match=rf"register\.jsonl: has no line for the ledger {path}"):
        charged_looks(zone.register, "sums")
    assert charged_looks(zone.register, "stories") == []


def test_a_look_that_is_registered_twice_is_charged_once(zone):
    zone.look()
    again = Register(zone.register).looks("sums")[0]
    Register(zone.register).add_look(again)
    assert len(charged_looks(zone.register, "sums")) == 1


def test_other_settings_of_one_run_are_another_look(zone):
    zone.look(run="a")
    zone.look(run="b", begun=2)
    assert sorted(look.begun_attempts for look in charged_looks(zone.register, "sums")) == [2, 3]


def test_looks_without_noise_are_told_from_the_others_and_looks_elsewhere_left_out(zone):
    zone.look()
    zone.look("free", mechanism=FREE)
    looks = charged_looks(zone.register, "sums")
    assert [look.arm for look in private_looks(looks)] == ["dp"] and len(looks) == 2
    assert charged_looks(zone.register, "stories") == []


def test_a_look_whose_ledger_is_gone_is_named_with_what_to_do(zone):
    zone.look()
    zone.look("gold", seed=7, execution=2)
    (zone.folder / "gold-7-2-a" / "ledger.jsonl").unlink()
    with pytest.raises(PrivacyRefusal, match="the ledger of arm gold, seed 7, execution 2 is gone") as caught:
        charged_looks(zone.register, "sums")
    assert "put its recovery folder back" in str(caught.value) and caught.value.exit_status == 3


def test_a_ledger_of_another_run_is_not_taken_for_it(zone):
    other = {
        "study": "small",
        "benchmark": "sums",
        "arm": "gold",
        "seed": 1,
        "mechanism": MECHANISM.as_json(),
    }
    zone.look(header=other)
    zone.look(run="b", header=other | {"arm": "dp", "seed": True})
    with pytest.raises(InputError, match=r"ledger\.jsonl:1: is not of arm dp, seed 1, execution 1"):
        charged_looks(zone.register, "sums")


@pytest.mark.parametrize(
    ("mechanism", "message"),
    [
        (None, "lacks mechanism"),
        ({"slots": 40}, "lacks mechanism.expected"),
        (MECHANISM.as_json() | {"more": 1}, "mechanism.more"),
        (MECHANISM.as_json() | {"expected": 41}, r"mechanism\.expected: 41 of 40 slots"),
        (MECHANISM.as_json() | {"noise_multiplier": "1.5"}, "mechanism.noise_multiplier"),
    ],
)
def test_a_ledger_that_states_no_mechanism_of_the_theorem_is_named(zone, mechanism, message):
    header = {"study": "small", "benchmark": "sums", "arm": "dp", "seed": 1}
    zone.look(header=header | ({} if mechanism is None else {"mechanism": mechanism}))
    with pytest.raises(InputError, match=rf"ledger\.jsonl: {message}"):
        charged_looks(zone.register, "sums")


def test_private_looks_at_other_numbers_of_slots_compose_to_nothing_that_is_stated(zone):
    zone.look()
    zone.look("free", mechanism=Mechanism(50, 4, 3, 0.0, 0.1, 1e-3))
    assert len(charged_looks(zone.register, "sums")) == 2
    zone.look("gold", mechanism=Mechanism(50, 4, 3, 1.5, 0.1, 1e-3))
    with pytest.raises(InputError, match="40 and 50 slots"):
        charged_looks(zone.register, "sums")


def test_a_register_that_is_not_there_says_which_one_to_give(tmp_path):
    with pytest.raises(InputError, match=r"there is no register here; give the register\.jsonl"):
        charged_looks(tmp_path / "register.jsonl", "sums")
