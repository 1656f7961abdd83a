"""What the files of a run must hold before anything is stated about it."""

import math
from pathlib import Path
from typing import Annotated, Any

from pydantic import ConfigDict, Field

from promptdp.errors import InputError
from promptdp.forms import Form, validated
from promptdp.privacy.mechanism import Mechanism

Budget = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class MechanismForm(Form):
    """The mechanism in a manifest, a ledger or a certificate; null clipping is none."""

    model_config = ConfigDict(extra="forbid")

    slots: int
    expected: int
    rounds: int
    noise_multiplier: float
    clipping_norm: float | None
    delta: float
    relation: str


class Holder(Form):
    """Whatever states a mechanism."""

    mechanism: MechanismForm


class SettingsForm(Form):
    """Which run a manifest is of."""

    benchmark: str
    arm: str
    objective: str
    samples: int
    slots: int
    expected: int
    rounds: int
    delta: float
    clipping_norm: float | None


class LoraForm(Form):
    """The adapter's shape."""

    rank: int
    alpha: float
    dropout: float
    targets: list[str]
    coordinates: int
    tensors: int


class RandomnessForm(Form):
    """Where a run's coins, rollouts and noise came from."""

    source: str
    key_bits: int
    backend: str
    noise: str
    dropout: str | None


class AccountingForm(Form):
    """The budget a run claims; null without noise."""

    delta: float | None
    epsilon_retained: float | None
    epsilon_all: float | None


class RunManifest(Holder):
    """The manifest of a run, as far as a certificate reads it."""

    study: str
    settings: SettingsForm
    seed: int
    execution: int
    engine: str
    isolation: str
    dtype: str
    base_sha256: str
    code_sha256: str
    lora: LoraForm
    randomness: RandomnessForm
    accounting: AccountingForm
    attempts: int
    not_releasable: list[str]


class LookForm(Form):
    """One look in a certificate's list."""

    model_config = ConfigDict(extra="forbid")

    arm: str
    seed: int
    execution: int
    expected: int = Field(ge=1)
    noise_multiplier: float = Field(ge=0, allow_inf_nan=False)
    begun_attempts: int = Field(ge=1)


class RowForm(Form):
    """One row of a verification record: what was measured, and whether it passed."""

    id: str
    source: str
    verdict: str
    measured: float | str


class VerificationFile(Form):
    """A verification record, as far as a certificate cites it."""

    study: str
    base_sha256: str
    training_code_sha256: str
    passed: bool
    rows: list[RowForm]


class CitedRow(RowForm):
    """A row in a certificate."""

    model_config = ConfigDict(extra="forbid")


class CitedForm(Form):
    """A verification record in a certificate."""

    sha256: str
    rows: list[CitedRow]


class VersionsForm(Form):
    """What computed a certificate; other packages may stand beside it."""

    promptdp: str


class CertificateFile(Holder):
    """What a certificate says that the files beside it can't; all else is derived from them again."""

    epsilon: Budget
    epsilon_all: Budget
    epsilon_retained: Budget
    epsilon_rdp: Budget
    rdp_order: Budget
    bracket: list[Budget] = Field(min_length=2, max_length=2)
    epsilon_composed: Budget
    selected_from: list[LookForm]
    nonprivate_looks: list[LookForm]
    verification: CitedForm | None
    versions: VersionsForm
    not_releasable: list[str]
    files: dict[str, str]
    sha256: str


def mechanism_of(content: dict[str, Any], path: Path) -> Mechanism:
    """The mechanism that a file states, held to every rule of `Mechanism`.

    Raises:
        InputError: the file states none, or one outside the theorem.
    """
    stated = validated(Holder, content, path)["mechanism"]
    norm = stated["clipping_norm"]
    try:
        return Mechanism(**stated | {"clipping_norm": math.inf if norm is None else norm})
    except InputError as error:
        raise InputError(f"{path}: mechanism.{error}") from None
