"""What a file must hold to be shown: the keys that tables, figures and lists read, and their kinds.

Keys beyond these are for other readers.
"""

import math
from typing import Annotated

from pydantic import Field, ValidationInfo, field_validator

from promptdp.decisions import Seen
from promptdp.forms import Form
from promptdp.timeline import Jobs

Interval = Annotated[list[float], Field(min_length=2, max_length=2)]


class ScoresMetadata(Form):
    """What a file of scores says of itself."""

    evaluation_set: str
    scorer: str
    arm: str


class SeedTest(Form):
    """McNemar's test of one seed."""

    seed: int
    b: int = Field(ge=0)
    c: int = Field(ge=0)
    p_holm: float = Field(ge=0, le=1)


class ContrastSummary(Form):
    """A contrast as the list of executions keeps it."""

    evaluation_set: str
    scorer: str
    name: str
    difference_pp: float
    ci95_pp: Interval
    per_seed_pp: list[float]


class ContrastFile(ContrastSummary):
    """A contrast of a study."""

    arm: str
    versus: str
    n_problems: int = Field(gt=0)
    accuracy_pp: float
    versus_accuracy_pp: float
    mde_pp: float
    seed_sd_pp: float | None
    seed_t_ci95_pp: Interval | None
    mcnemar: list[SeedTest]

    @field_validator("mcnemar")
    @classmethod
    def _by_seed(cls, tests: list[SeedTest], earlier: ValidationInfo) -> list[SeedTest]:
        known = earlier.data
        if "per_seed_pp" in known and len(tests) != len(known["per_seed_pp"]):
            raise ValueError("is of other seeds than per_seed_pp")
        if any(test.b + test.c > known.get("n_problems", math.inf) for test in tests):
            raise ValueError("counts more problems than n_problems")
        return tests


class CalibrationFile(Form):
    """The calibration of a mechanism."""

    slots: int
    expected: int
    rounds: int
    delta: float = Field(gt=0, lt=1)
    sigma: float = Field(gt=0)
    epsilon_target: float | None
    epsilon_pld: float
    epsilon_rdp: float
    rdp_order: float


class CompositionFile(Form):
    """What the private runs of a benchmark compose to."""

    benchmark: str
    runs: dict[str, int]
    epsilon: float


class AmendmentForm(Form):
    """An amendment of a decision."""

    reason: str


class DecisionFile(Form):
    """The stamp of a decision of the protocol."""

    decision: str
    statement: str
    title: str | None = None
    taken: str | None = None
    seen: str | None = None
    scorer: str | None = None
    reenacts: str | None = None
    after: list[Seen] = Field(default_factory=list)
    before: list[Jobs] = Field(default_factory=list)
    amendments: list[AmendmentForm] = Field(default_factory=list)


class RunFile(Form):
    """The manifest of a run, as far as it tells an execution from another."""

    adapter_sha256: str


class ExecutionFile(Form):
    """A kept execution."""

    number: int
    id: str
    contrasts: list[ContrastSummary]
