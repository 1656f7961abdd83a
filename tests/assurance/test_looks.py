"""Every look at the same slots: in the register, counted by its live ledger, named where that is gone."""

import pytest

from promptdp.assurance.looks import charged_looks, look_of, private_looks
from promptdp.errors import InputError, PrivacyRefusal
from promptdp.privacy.ledger import Ledger
from promptdp.privacy.mechanism import Mechanism
from promptdp.privacy.register import Look, Register

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


def test_a_look_that_is_registered_twice_is_charged_once(zone):
    zone.look()
    again = Register(zone.register).looks("sums")[0]
    Register(zone.register).add_look(again)
    assert len(charged_looks(zone.register, "sums")) == 1


def test_other_settings_of_one_run_are_another_look(zone):
    zone.look(run="a")
    zone.look(run="b", begun=2)
    assert [look.begun_attempts for look in charged_looks(zone.register, "sums")] == [2, 3]


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
