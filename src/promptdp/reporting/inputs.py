"""What tables and figures are made from: files that say of themselves what they are."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from promptdp.errors import InputError
from promptdp.files import read_json, sha256_file
from promptdp.forms import of_study, validated
from promptdp.reporting.answers import Answers, read_answers
from promptdp.reporting.forms import (
    CalibrationFile,
    CompositionFile,
    ContrastFile,
    DecisionFile,
    ScoresMetadata,
)
from promptdp.statistics.scores import read_scores_file
from promptdp.study import RunSettings, Study

ScoresKey = tuple[str, str, str]  # evaluation set, scorer, arm


class MechanismKey(NamedTuple):
    """Which calibration: one of epsilon (it was the target) and noise_multiplier (it was given) is None.

    `rounds` are those that the budget covers, a replay reserve included.
    """

    slots: int
    expected: int
    rounds: int
    delta: float
    epsilon: float | None
    noise_multiplier: float | None


@dataclass
class Inputs:
    """The content of a study's files, found by what it is about.

    `accuracies` are in percent by (evaluation set, scorer, arm) and seed, `score_files` the files they come
    from; `contrasts` by (evaluation set, scorer, arm, versus); `calibrations` by mechanism; `compositions` by
    benchmark; `decisions` are the protocol's stamps by name; `hashes` are the files' SHA-256 by path.
    """

    accuracies: dict[ScoresKey, dict[int, float]] = field(default_factory=dict)
    score_files: dict[ScoresKey, dict[int, Path]] = field(default_factory=dict)
    contrasts: dict[tuple[str, str, str, str], dict[str, Any]] = field(default_factory=dict)
    calibrations: dict[MechanismKey, dict[str, Any]] = field(default_factory=dict)
    compositions: dict[str, dict[str, Any]] = field(default_factory=dict)
    decisions: dict[str, dict[str, Any]] = field(default_factory=dict)
    hashes: dict[str, str] = field(default_factory=dict)

    def calibration(self, settings: RunSettings) -> dict[str, Any] | None:
        """The calibration of a run's mechanism, if it is among the files."""
        public = settings.model_dump(include=set(MechanismKey._fields))
        return self.calibrations.get(MechanismKey(**public | {"rounds": settings.calibrated_rounds}))

    def answers(self, study: Study, evaluation_set: str, scorer: str, arm: str) -> Answers | None:
        """What every seed of an arm answered, or None if a seed's file is not among the files.

        Raises:
            InputError: as `read_answers`.
        """
        files = self.score_files.get((evaluation_set, scorer, arm), {})
        seeds = study.seeds(arm, study.evaluation_sets[evaluation_set].benchmark)
        if any(seed not in files for seed in seeds):
            return None
        return {seed: read_answers(files[seed]) for seed in seeds}


def read_inputs(study: Study, paths: Sequence[Path]) -> Inputs:
    """Read score files (Parquet) and JSON files of contrasts, calibrations, compositions and decisions.

    Raises:
        InputError: a file is malformed, of another study, of a schema no table reads, or says what another
        file says.
    """
    inputs = Inputs()
    for path in paths:
        inputs.hashes[str(path)] = sha256_file(path)
        _add(study, inputs, path)
    return inputs


def _add(study: Study, inputs: Inputs, path: Path) -> None:
    if path.suffix == ".parquet":
        file = read_scores_file(path)
        metadata = validated(ScoresMetadata, of_study(study.name, file.metadata or {}, path), path)
        place = (metadata["evaluation_set"], metadata["scorer"], metadata["arm"])
        for seed, problems in file.seeds.items():
            accuracy = 100 * sum(problems.values()) / len(problems)
            _once(path, inputs.accuracies.setdefault(place, {}), seed, accuracy)
            inputs.score_files.setdefault(place, {})[seed] = path
        return
    content = read_json(path)
    schema = content.get("schema") if isinstance(content, dict) else None
    if schema == "promptdp/contrast/1":
        validated(ContrastFile, of_study(study.name, content, path), path)
        key = (content["evaluation_set"], content["scorer"], content["arm"], content["versus"])
        _once(path, inputs.contrasts, key, content)
    elif schema == "promptdp/calibration/1":
        target = validated(CalibrationFile, content, path)["epsilon_target"]
        mechanism = MechanismKey(
            content["slots"],
            content["expected"],
            content["rounds"],
            content["delta"],
            epsilon=target,
            noise_multiplier=content["sigma"] if target is None else None,
        )
        _once(path, inputs.calibrations, mechanism, content)
    elif schema == "promptdp/composition/1":
        validated(CompositionFile, of_study(study.name, content, path), path)
        _once(path, inputs.compositions, content["benchmark"], content)
    elif schema == "promptdp/decision/1":
        _once(path, inputs.decisions, validated(DecisionFile, content, path)["decision"], content)
    else:
        raise InputError(
            f"{path}: is not what tables are made from; give scores, contrasts, calibrations, compositions "
            "or stamps of decisions"
        )


def _once(path: Path, among: dict[Any, Any], key: Any, value: Any) -> None:
    if key in among:
        raise InputError(f"{path}: says what another input says already; give each file once")
    among[key] = value
