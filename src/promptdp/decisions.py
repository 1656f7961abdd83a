"""The decisions of a protocol: what each fixes, what it came after, what must follow it (Table VIII)."""

from collections.abc import Iterable, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Annotated, Any

from pydantic import Discriminator, Field, JsonValue, Tag, model_validator

from promptdp.errors import InputError
from promptdp.study import Name, Settings, Study
from promptdp.timeline import Job, Jobs, SeenFile, road


def _kind(written: Any) -> str:
    is_file = isinstance(written, dict) and written.keys() == {"file"}
    return "file" if is_file or isinstance(written, SeenFile) else "jobs"


Text = Annotated[str, Field(min_length=1)]
Seen = Annotated[Annotated[Jobs, Tag("jobs")] | Annotated[SeenFile, Tag("file")], Discriminator(_kind)]


class Decision(Settings):
    """One choice: what was decided, what it fixes, what had been seen before it and what must follow it.

    `title` is its row in Table VIII; decisions of one title share a row. `freezes` are files with their
    hashes; one that ends in `.sha256` is a lock: every file it lists is frozen too. `settings` are settings
    of the study, by their keys joined with dots. `after` is what had been seen, `before` what must follow:
    with a `scorer`, of training runs and scores only those that use it. `taken` and `seen` say in words when,
    and on what else, the choice was made; no stamp proves them.
    """

    title: Text | None = None
    statement: Text
    taken: Text | None = None
    seen: Text | None = None
    scorer: Name | None = None
    freezes: dict[str, str | None] = Field(default_factory=dict)
    settings: dict[str, JsonValue] = Field(default_factory=dict)
    after: tuple[Seen, ...] = ()
    before: tuple[Jobs, ...] = ()

    @model_validator(mode="after")
    def _fixes_something(self) -> "Decision":
        if not (self.freezes or self.settings):
            raise ValueError("fixes nothing; name files under freezes, or settings of the study")
        return self

    def precedes(self, job: Job) -> bool:
        """Whether a job must follow the decision."""
        mine = self.scorer is None or job.scorer in (None, self.scorer)
        return mine and any(jobs.hold(job) for jobs in self.before)

    def seen_jobs(self, jobs: Iterable[Job]) -> list[Job]:
        """Those of some jobs whose outputs had been seen, each once."""
        found = [job for seen in self.after if isinstance(seen, Jobs) for job in seen.among(jobs)]
        return list(dict.fromkeys(found))

    def seen_files(self) -> list[str]:
        """The files that had been seen."""
        return [seen.file for seen in self.after if isinstance(seen, SeenFile)]


class Protocol(Settings):
    """The decisions of a study by name, in the order of Table VIII.

    `study` is the file of the study; a protocol that fixes its settings, or speaks of its outputs, names it.
    `reenacts` says of what the order is a re-enactment, where the decisions were taken elsewhere.
    """

    study: str | None = None
    reenacts: Text | None = None
    decisions: dict[Name, Decision]

    @model_validator(mode="after")
    def _names_its_study(self) -> "Protocol":
        for name, decision in self.decisions.items():
            if self.study is None and (decision.settings or decision.after):
                raise ValueError(f"study: {name} speaks of a study's settings or outputs; name its file")
        return self

    def gates(self, job: Job) -> list[str]:
        """The decisions that must be stamped before a job runs, in the protocol's order."""
        return [name for name, decision in self.decisions.items() if decision.precedes(job)]

    def check(self, study: Study) -> None:
        """Check that the protocol speaks of what the study has, in an order that can be.

        Raises:
            InputError: a decision names what the study lacks, or decisions wait for each other.
        """
        jobs = road(study)
        before: dict[Job | str, list[Job | str]] = {
            job: [*needed, *self.gates(job)] for job, needed in jobs.items()
        }
        for name, decision in self.decisions.items():
            if decision.scorer not in (None, *study.scorers()):
                raise InputError(f"decisions.{name}.scorer: study {study.name} has no {decision.scorer}")
            try:
                for key in decision.settings:
                    setting(study, key)
                for following in decision.before:
                    following.among(jobs)
                before[name] = [*decision.seen_jobs(jobs)]
            except InputError as error:
                raise InputError(f"decisions.{name}: {error}") from None
        try:
            TopologicalSorter(before).prepare()
        except CycleError as error:
            raise InputError(_impossible(error.args[1], self)) from None


def setting(study: Study, key: str) -> JsonValue:
    """A setting of a study by its keys joined with dots, as JSON holds it.

    Raises:
        InputError: the study has no such setting.
    """
    value: Any = study.model_dump(mode="json")
    for part in key.split("."):
        if not isinstance(value, dict) or part not in value:
            raise InputError(f"{key}: study {study.name} has no such setting; correct the key")
        value = value[part]
    return value


def _impossible(cycle: Sequence[Job | str], protocol: Protocol) -> str:
    """What to say of decisions and jobs that each must come before the next, the last before the first."""
    ring = cycle[:-1]
    first = min(ring.index(node) for node in ring if isinstance(node, str))
    ring = [*ring[first:], *ring[: first + 1]]
    names = dict.fromkeys(node for node in ring if isinstance(node, str))
    return (
        f"the order of {' and '.join(names)} can't be: {', before '.join(map(str, ring))}; "
        "change an after or a before"
    )
