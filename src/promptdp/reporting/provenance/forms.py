"""What the files on a chain must say of themselves for it to be followed."""

from pathlib import Path
from typing import Any, TypeVar

from pydantic import Field, ValidationError

from promptdp.errors import InputError
from promptdp.files import read_object
from promptdp.forms import Form
from promptdp.study import RunSettings

Hashes = dict[str, str]
F = TypeVar("F", bound=Form)


class TwinForm(Form):
    """The JSON twin of a table, a figure or a list; one written before there was a seal has none."""

    caption: str = ""
    study: str | None = None
    study_sha256: str | None = None
    inputs: Hashes
    files: Hashes | None = None
    sha256: str | None = None


class ContrastForm(Form):
    """A contrast."""

    study: str
    evaluation_set: str
    scorer: str
    name: str
    inputs: Hashes


class PredictionsForm(Form):
    """The manifest of predictions."""

    base_sha256: str
    adapter_sha256: str | None
    predictions_sha256: str
    engine: str
    device: str
    dtype: str
    decoding: str
    cap: int
    versions: Hashes


class ScoresForm(Form):
    """The metadata of scores."""

    study: str
    evaluation_set: str
    scorer: str
    scorer_digest: str
    arm: str
    seed: int
    records_sha256: str | None = None
    manifest: PredictionsForm


class MechanismForm(Form):
    """The mechanism of a run."""

    slots: int
    expected: int
    rounds: int
    delta: float
    noise_multiplier: float
    clipping_norm: float | None


class RewardForm(Form):
    """The scorer that gave a run its reward."""

    name: str
    sha256: str


class BudgetForm(Form):
    """The budget that a run states; null without noise."""

    epsilon_all: float | None


class RunForm(Form):
    """The manifest of a run."""

    settings: RunSettings
    seed: int
    execution: int
    mechanism: MechanismForm
    accounting: BudgetForm
    scorer: RewardForm
    isolation: str
    settings_sha256: str
    code_sha256: str
    base_sha256: str
    adapter_sha256: str
    ledger_head: str
    versions: Hashes
    not_releasable: list[str]


class CalibrationForm(Form):
    """A calibration."""

    slots: int
    expected: int
    rounds: int
    delta: float
    sigma: float
    q_fraction: str
    epsilon_pld: float


class CompositionForm(Form):
    """What the private runs on the same slots compose to."""

    benchmark: str
    delta: float
    epsilon: float
    runs: dict[str, int]


class BaseForm(Form):
    """The manifest of a base."""

    base: dict[str, Any]
    dtype: str
    files: Hashes
    versions: Hashes


class StampForm(Form):
    """The stamp of a decision, as far as it holds hashes."""

    decision: str
    statement: str
    frozen: Hashes = Field(default_factory=dict)
    evidence: Hashes = Field(default_factory=dict)


def read_form(form: type[F], path: Path) -> F | None:
    """What a JSON file says, or None where it is missing or says something else."""
    try:
        return form.model_validate(read_object(path))
    except (InputError, ValidationError):
        return None
