"""What the files of a run must hold before anything is stated about it.

Forms are closed: a key more could say what no statement covers. Texts that a statement repeats are names, or
plain words on one line, so that nothing but the statement's own words gets onto its page.
"""

import math
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from promptdp.errors import InputError
from promptdp.forms import Form, validated
from promptdp.privacy.mechanism import Mechanism
from promptdp.study import Count, Name, Seed, StudyName

Budget = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Sha256 = Annotated[str, Field(pattern=r"\A[0-9a-f]{64}\z")]
Version = Annotated[str, Field(pattern=r"\A[0-9][0-9A-Za-z.+-]{0,39}\z")]
Slug = Annotated[str, Field(pattern=r"\A[a-z0-9-]{1,80}\z")]
Module = Annotated[str, Field(pattern=r"\A[A-Za-z0-9_]+(\.[A-Za-z0-9_]+)*\z")]
Words = Annotated[str, Field(pattern=r"\A[A-Za-z0-9 ,.;()'+-]{1,200}\z")]
"""Plain words, without a character that a page or a terminal reads as an instruction."""
Obstacle = Literal[
    "no noise is added",
    "the randomness is seeded",
    "records share batches",
    "a round failed inside the mechanism",
    "a round of another run on these slots failed inside the mechanism",
]
"""What stands against a release."""


class Closed(Form):
    """A form with no other keys than its own."""

    model_config = ConfigDict(extra="forbid")


class MechanismForm(Closed):
    """The mechanism in a manifest, a ledger or a certificate; null clipping is none."""

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


class SettingsForm(Closed):
    """The settings of a run; a manifest written before there was a `replay_reserve` reads as one without."""

    benchmark: Name
    arm: Name
    objective: Literal["grpo", "filtered", "gold"]
    advantage: Literal["group", "zero", "centred", "positive", "shuffled"]
    reward: Name
    prompt: str
    samples: Count
    cap: Count
    slots: int
    expected: int
    rounds: int
    replay_reserve: int = 0
    learning_rate: float
    epsilon: float | None
    delta: float
    noise_multiplier: float | None
    clipping_norm: float | None


class RolloutsForm(Closed):
    """How completions were drawn and weighed."""

    samples: Count
    temperature: float
    kl_weight: float
    logprob_temperature: float


class OptimizerForm(Closed):
    """The optimizer on the noisy mean gradient."""

    name: Literal["AdamW"]
    beta1: float
    beta2: float
    eps: float
    weight_decay: float


class ScorerForm(Closed):
    """The reward."""

    name: Name
    sha256: Sha256


class LoraForm(Closed):
    """The adapter's shape."""

    rank: Count
    alpha: float
    dropout: float
    targets: list[Module] = Field(min_length=1)
    coordinates: int
    tensors: int


class RandomnessForm(Closed):
    """Where a run's coins, rollouts and noise came from, in the words of `Randomness` and of training."""

    source: Literal["os", "seeded"]
    private: bool
    key_bits: int
    backend: str
    coins: str
    noise: str
    rollouts: Words
    dropout: Literal["32-bit seed from the record's stream of the round"] | None


class AccountingForm(Closed):
    """The budget a run claims; null without noise."""

    delta: float | None
    epsilon_retained: float | None
    epsilon_all: float | None


class TrainedWith(Closed):
    """What trained a run."""

    torch: Version
    transformers: Version
    peft: Version


class RunManifest(Holder, Closed):
    """The manifest of a run."""

    schema_: Literal["promptdp/run/1"] = Field(alias="schema")
    study: StudyName
    settings: SettingsForm
    seed: Seed
    execution: Count
    engine: Literal["local"]
    device: Annotated[str, Field(pattern=r"\A[a-z]{1,16}\z")]
    isolation: Literal["strict", "packed"]
    dtype: Literal["float32", "bfloat16", "float16"]
    rollouts: RolloutsForm
    optimizer: OptimizerForm
    scorer: ScorerForm
    lora: LoraForm
    randomness: RandomnessForm
    accounting: AccountingForm
    attempts: int
    records: Literal["withheld"]
    not_releasable: list[Obstacle]
    versions: TrainedWith
    base_sha256: Sha256
    code_sha256: Sha256
    settings_sha256: Sha256
    theta_sha256: Sha256
    adapter_sha256: Sha256
    ledger_head: Sha256


class LookForm(Closed):
    """One look in a certificate's list."""

    arm: Name
    seed: Seed
    execution: Count
    expected: int = Field(ge=1)
    noise_multiplier: float = Field(ge=0, allow_inf_nan=False)
    charged_attempts: int = Field(ge=1)


class RowForm(Form):
    """One row of a verification record: what was measured, and whether it passed."""

    id: Slug
    source: Words
    verdict: Literal["pass", "fail", "measured"]
    measured: Annotated[float, Field(allow_inf_nan=False)] | Words


class VerificationFile(Form):
    """A verification record, as far as a certificate cites it."""

    study: StudyName
    base_sha256: Sha256
    training_code_sha256: Sha256
    passed: bool
    rows: list[RowForm]


class CitedRow(RowForm, Closed):
    """A row in a certificate."""


class CitedForm(Closed):
    """A verification record in a certificate."""

    sha256: Sha256
    rows: list[CitedRow]


class VersionsForm(Closed):
    """What computed a certificate."""

    promptdp: Version
    dp_accounting: Version = Field(alias="dp-accounting")
    opacus: Version


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
    not_releasable: list[Obstacle]
    files: dict[str, Sha256]
    sha256: Sha256


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
