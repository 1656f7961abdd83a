"""Every look at the slots of a benchmark: what the register says of it, and what its live ledger has begun.

Several runs on the same slots are several looks at the same records (Appendix A-E: the guarantee is per run).
Whoever keeps one of them has seen the others, so that a statement about one names and composes them all.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open

from promptdp.assurance.forms import mechanism_of
from promptdp.errors import InputError, PrivacyRefusal
from promptdp.files import canonical_json
from promptdp.privacy.accounting import Event
from promptdp.privacy.ledger import read_live_ledger
from promptdp.privacy.mechanism import Mechanism
from promptdp.privacy.register import Look, Register

CHECKPOINT = "checkpoint.safetensors"
"""What training saves beside a live ledger, with the place in it after which it was saved."""


@dataclass(frozen=True)
class ChargedLook:
    """One run's look, with what it is charged.

    Attributes:
        arm, seed, execution: which run of the study.
        mechanism: the mechanism its ledger was opened with.
        begun_attempts: every attempt ever begun, on every branch.
        failed_attempts: those that failed inside the mechanism.
        closed: the run is complete.
        head: the hash of its ledger's last line.
    """

    arm: str
    seed: int
    execution: int
    mechanism: Mechanism
    begun_attempts: int
    failed_attempts: int
    closed: bool
    head: str

    @property
    def charged_attempts(self) -> int:
        """The attempts begun; of a run that is not complete at least all its rounds, as if it were.

        How far another run has come when a statement is made follows from how long its records take: it is a
        clock. Its number of rounds is public.
        """
        return self.begun_attempts if self.closed else max(self.mechanism.rounds, self.begun_attempts)

    @property
    def event(self) -> Event:
        """What the accountant charges for it."""
        mechanism = self.mechanism
        return mechanism.slots, mechanism.expected, self.charged_attempts, mechanism.noise_multiplier

    def as_json(self) -> dict[str, Any]:
        """What a public statement says of it: data-independent facts, none that names its private folder."""
        return {
            "arm": self.arm,
            "seed": self.seed,
            "execution": self.execution,
            "expected": self.mechanism.expected,
            "noise_multiplier": self.mechanism.noise_multiplier,
            "charged_attempts": self.charged_attempts,
        }


def charged_looks(register: Path, benchmark: str) -> list[ChargedLook]:
    """Every look at a benchmark's slots that has begun a round, by arm, seed and execution.

    The order in which they began is left out: it may follow from how long the others took.

    Args:
        register: the study's private register.
        benchmark: its benchmark.

    Raises:
        InputError: there is no such register, or a line of it or of a ledger is broken, or a ledger is of
            another run, or a checkpoint is damaged, or the slots of two private looks differ in number.
        PrivacyRefusal: the ledger of a look is gone or was cut short, or a ledger beside the register is of
            no look in it, so that its attempts can't be charged.
    """
    if not register.is_file():
        raise InputError(
            f"{register}: there is no register here; give the register.jsonl of the study's zone"
        )
    if strays := Register(register).strays(benchmark):
        raise PrivacyRefusal(
            f"{register}: has no line for the ledger {strays[0]}, which began rounds on {benchmark}; "
            "put back the register as it was"
        )
    ledgers = {look.ledger: look for look in Register(register).looks(benchmark)}
    looks = [_charged(register, look) for look in ledgers.values()]
    begun = [look for look in looks if look.begun_attempts]
    slots = {look.mechanism.slots for look in private_looks(begun)}
    if len(slots) > 1:
        raise InputError(
            f"{register}: the looks at {benchmark} have {' and '.join(map(str, sorted(slots)))} slots, which "
            "compose to no budget stated here; give a benchmark whose slots change another name"
        )
    return sorted(begun, key=lambda look: (look.arm, look.seed, look.execution, look.event))


def private_looks(looks: Iterable[ChargedLook]) -> list[ChargedLook]:
    """The looks that added noise; the others have no finite budget."""
    return [look for look in looks if look.mechanism.private]


def look_of(head: str, looks: Sequence[ChargedLook]) -> ChargedLook | None:
    """The look whose ledger ends in a hash, if it is among them."""
    return next((look for look in looks if look.head == head), None)


def _charged(register: Path, look: Look) -> ChargedLook:
    name = f"arm {look.arm}, seed {look.seed}, execution {look.execution}"
    if not look.ledger.is_file():
        raise PrivacyRefusal(
            f"{register}: the ledger of {name} is gone ({look.ledger}), so its attempts can't be charged; "
            "put its recovery folder back from a copy"
        )
    saved = _saved_at(look.ledger.with_name(CHECKPOINT))  # first: a run in progress writes its ledger first
    ledger = read_live_ledger(look.ledger)
    if saved is not None:
        try:
            ledger.confirm(*saved)
        except PrivacyRefusal as refusal:
            raise PrivacyRefusal(
                f"{register}: the ledger of {name} was cut or exchanged: {refusal}"
            ) from None
    summary = ledger.summary
    stated = {key: summary.header.get(key) for key in ("study", "benchmark", "arm", "seed")}
    if canonical_json(stated) != canonical_json({key: getattr(look, key) for key in stated}):
        raise InputError(f"{look.ledger}:1: is not of {name} of the register; put back its own ledger")
    return ChargedLook(
        look.arm,
        look.seed,
        look.execution,
        mechanism_of(summary.header, look.ledger),
        summary.begun_attempts,
        summary.failed_attempts,
        summary.closed,
        summary.head,
    )


def _saved_at(checkpoint: Path) -> tuple[int, str] | None:
    """The length and the last hash of the ledger when a checkpoint was saved; None where there is none."""
    if not checkpoint.exists():
        return None
    try:
        with safe_open(checkpoint, framework="numpy") as stream:
            place = stream.metadata()
        return int(place["ledger_length"]), place["ledger_head"]
    except (SafetensorError, OSError, KeyError, TypeError, ValueError):
        raise InputError(f"{checkpoint}: is damaged; put it back from a copy, or resume its run") from None
