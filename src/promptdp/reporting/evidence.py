"""The contrasts of a study, each in the Holm family the study gives it (section VII-E)."""

from collections.abc import Sequence
from pathlib import Path

from promptdp.errors import InputError
from promptdp.files import sha256_file, shown, write_json
from promptdp.statistics.contrast import contrast, mcnemar_p_values
from promptdp.statistics.scores import (
    ScoreFile,
    Scores,
    one_arm,
    read_scores_files,
    require_one_evaluation,
)
from promptdp.study import Study

SCHEMA = "promptdp/contrast/1"


def write_study_contrast(
    study: Study, evaluation_set: str, scorer: str, name: str, scores: Sequence[Path], out: Path
) -> None:
    """Write one contrast of a study on one evaluation set under one scorer.

    Holm's adjustment runs over the seed pairs of every contrast that shares its `family` in the study.

    Args:
        study: the study. evaluation_set: a name in the study's evaluation sets. scorer: the rule that scored.
        name: `ARM-VERSUS`. scores: the scores of every arm in the family, one file for each seed; others are
        refused. out: the JSON file, schema `promptdp/contrast/1`: the keys of `contrast` beside what was
        contrasted and the
            SHA-256 of every input.

    Raises:
        InputError: the study has no such evaluation set or contrast, a score file is not of this study,
        evaluation set and scorer, a seed of an arm is missing, or the files can't be compared
        (`require_one_evaluation`).
    """
    if evaluation_set not in study.evaluation_sets:
        raise InputError(
            f"--evaluation-set: study {study.name} has no set {shown(evaluation_set)}; "
            f"there are {', '.join(study.evaluation_sets)}"
        )
    contrasts = {spec.name: spec for spec in study.evaluated_contrasts(evaluation_set)}
    if name not in contrasts:
        raise InputError(
            f"--name: study {study.name} has no contrast {shown(name)} on {evaluation_set}; "
            f"there are {', '.join(sorted(contrasts)) or 'none'}"
        )
    spec = contrasts[name]
    family = [other for other in contrasts.values() if other.family == spec.family]
    wanted = {end for member in family for end in (member.arm, member.versus)}
    arms = _arms(study, evaluation_set, scorer, wanted, read_scores_files(scores))
    others = [
        p
        for member in family
        if member.name != name
        for p in mcnemar_p_values(arms[member.arm], arms[member.versus])
    ]
    write_json(
        out,
        {
            "schema": SCHEMA,
            "study": study.name,
            "evaluation_set": evaluation_set,
            "scorer": scorer,
            "name": name,
            "arm": spec.arm,
            "versus": spec.versus,
            "family": spec.family,
            "inputs": {str(path): sha256_file(path) for path in scores},
            **contrast(arms[spec.arm], arms[spec.versus], family_p=others),
        },
    )


def _arms(
    study: Study, evaluation_set: str, scorer: str, wanted: set[str], files: list[ScoreFile]
) -> dict[str, Scores]:
    """The scores of each wanted arm, complete over the arm's seeds."""
    expected = {"study": study.name, "evaluation_set": evaluation_set, "scorer": scorer}
    by_arm: dict[str, list[ScoreFile]] = {arm: [] for arm in sorted(wanted)}
    for file in files:
        metadata = file.metadata or {}
        for key, value in expected.items():
            if metadata.get(key) != value:
                raise InputError(f"{file.path}: its {key} is not {value}; give the scores of this contrast")
        if metadata.get("arm") not in list(by_arm):
            raise InputError(f"{file.path}: its arm is in no contrast of this family; leave it out")
        by_arm[metadata["arm"]].append(file)
    require_one_evaluation(files)
    arms = {arm: one_arm(arm_files) for arm, arm_files in by_arm.items()}
    for arm, seed in study.evaluations(evaluation_set):
        if arm in arms and seed not in arms[arm]:
            raise InputError(f"--scores: seed {seed} of arm {arm} is missing; give every seed of the study")
    return arms
