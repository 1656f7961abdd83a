"""The jobs of a study in their order, and the words in which a protocol speaks of them (Table VIII).

A job is one run of a rule of the road whose outputs somebody can have seen, or that can wait for a decision:
the making of an evaluation set, a training run, the predictions of a run, their scores under one scorer.
"""

from collections.abc import Collection, Iterable
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field, model_serializer, model_validator

from promptdp.errors import InputError
from promptdp.study import Name, Seed, Settings, Study

Rule = Literal["records_eval", "train", "predict", "score"]
KEYS = {
    "records_eval": ("evaluation_sets",),
    "train": ("benchmarks", "arms", "seeds"),
    "predict": ("evaluation_sets", "arms", "seeds"),
    "score": ("evaluation_sets", "scorers", "arms", "seeds"),
}
"""What the jobs of a rule can be chosen by."""
Names = Annotated[tuple[Name, ...], Field(min_length=1)]


class Job(NamedTuple):
    """One job: `on` is the benchmark of a training run, else the evaluation set.

    `scorer` is a training run's reward, or the scorer of scores.
    """

    rule: Rule
    on: str
    scorer: str | None = None
    arm: str | None = None
    seed: int | None = None

    def __str__(self) -> str:
        """The job in the words of paths: `score math/math_strict/gold/seed1`."""
        path = "/".join(part for part in (self.on, self.rule == "score" and self.scorer, self.arm) if part)
        return f"{self.rule} {path}" if self.seed is None else f"{self.rule} {path}/seed{self.seed}"


def road(study: Study) -> dict[Job, list[Job]]:
    """Every job of a study with the jobs whose outputs it reads."""
    training = {
        (benchmark, arm, seed): Job("train", benchmark, study.benchmarks[benchmark].reward, arm, seed)
        for benchmark, arm, seed in study.runs()
    }
    jobs: dict[Job, list[Job]] = {job: [] for job in training.values()}
    for name, evaluation_set in study.evaluation_sets.items():
        problems = Job("records_eval", name)
        jobs[problems] = []
        scorers = [s for s in (evaluation_set.scorers.strict, evaluation_set.scorers.robust) if s]
        for arm, seed in study.evaluations(name):
            run = training.get((evaluation_set.benchmark, arm, seed))
            answers = Job("predict", name, arm=arm, seed=seed)
            jobs[answers] = [problems, *([run] if run else [])]
            jobs |= {Job("score", name, scorer, arm, seed): [problems, answers] for scorer in scorers}
    return jobs


class Jobs(Settings):
    """The jobs of a rule, every one or those on lists: `train`, or `train: {arms: [gold], seeds: [1]}`."""

    rule: Rule
    benchmarks: Names | None = None
    evaluation_sets: Names | None = None
    scorers: Names | None = None
    arms: Names | None = None
    seeds: Annotated[tuple[Seed, ...], Field(min_length=1)] | None = None

    @model_validator(mode="before")
    @classmethod
    def _read(cls, written: Any) -> Any:
        if isinstance(written, str):
            return {"rule": written}
        if not isinstance(written, dict) or len(written) != 1:
            raise ValueError("is RULE, or RULE: {LISTS} with one rule")
        (rule, lists), *_ = written.items()
        if not isinstance(lists, dict) or not lists:
            raise ValueError("is RULE, or RULE: {LISTS} with one rule")
        if rule in KEYS and (wrong := [key for key in lists if key not in KEYS[rule]]):
            raise ValueError(f"{rule} is chosen by {', '.join(KEYS[rule])}, not by {wrong[0]}")
        return {"rule": rule, **lists}

    @model_serializer
    def _write(self) -> str | dict[str, dict[str, list[str] | list[int]]]:
        chosen: dict[str, Any] = {key: list(wanted) for key, wanted in self.lists.items()}
        return {self.rule: chosen} if chosen else self.rule

    @property
    def lists(self) -> dict[str, tuple[str, ...] | tuple[int, ...]]:
        """What the jobs are chosen by, without the keys that are left out."""
        return {key: wanted for key in KEYS[self.rule] if (wanted := getattr(self, key)) is not None}

    def hold(self, job: Job) -> bool:
        """Whether a job is among them."""
        return job.rule == self.rule and all(_value(job, key) in wanted for key, wanted in self.lists.items())

    def among(self, jobs: Iterable[Job]) -> list[Job]:
        """Those of some jobs that these are.

        Raises:
            InputError: there is none, or a name on a list is that of none.
        """
        of_rule = [job for job in jobs if job.rule == self.rule]
        found = [job for job in of_rule if self.hold(job)]
        for key, wanted in self.lists.items():
            chosen, there = ({_value(job, key) for job in some} for some in (found, of_rule))
            if lost := [value for value in wanted if value not in chosen]:
                raise InputError(
                    f"{self.rule}: no job so chosen has {key} {lost[0]}; its jobs have {_list(there)}"
                )
        if not found:
            raise InputError(f"{self.rule}: the study has no such job")
        return found


class SeenFile(Settings):
    """A file that had been seen: the table of a pilot, say, or a record of earlier runs."""

    file: Annotated[str, Field(min_length=1)]


def _value(job: Job, key: str) -> str | int | None:
    if key in ("benchmarks", "evaluation_sets"):
        return job.on
    return {"scorers": job.scorer, "arms": job.arm, "seeds": job.seed}[key]


def _list(names: Collection[str | int | None]) -> str:
    return ", ".join(sorted(str(name) for name in names))
