"""A study's contrasts: complete arms, the family the study names, and what the file says of itself."""

import pytest

from promptdp.errors import InputError
from promptdp.files import read_json, sha256_file
from promptdp.reporting.evidence import write_study_contrast
from promptdp.statistics.contrast_files import contrast_files
from tests.reporting import fabricated

PLACE = ("arithmetic", "math_strict")


def scores_of(paths, *arms):
    return [p for p in paths if p.suffix == ".parquet" and p.parts[-4:-2] == PLACE and p.parts[-2] in arms]


def written(study, paths, name, out):
    write_study_contrast(study, *PLACE, name, paths, out)
    return read_json(out)


def test_the_file_says_what_was_contrasted_and_from_what(tiny, tmp_path):
    study, paths = tiny
    scores = scores_of(paths, "dp_grpo", "control")
    result = written(study, scores, "dp_grpo-control", tmp_path / "c.json")
    expected = {
        "schema": "promptdp/contrast/1",
        "study": "tiny",
        "evaluation_set": "arithmetic",
        "scorer": "math_strict",
        "name": "dp_grpo-control",
        "arm": "dp_grpo",
        "versus": "control",
        "family": "reward",
        "inputs": {str(path): sha256_file(path) for path in scores},
    }
    assert {key: result[key] for key in expected} == expected
    alone = contrast_files(scores_of(paths, "dp_grpo"), scores_of(paths, "control"))
    assert {key: result[key] for key in alone} == alone


def test_holm_adjusts_over_every_contrast_of_the_named_family(tiny, tmp_path):
    study, paths = tiny
    arms = ("dp_grpo", "control", "gold", "nonprivate", "base")
    result = written(study, scores_of(paths, *arms), "dp_grpo-base", tmp_path / "c.json")
    members = [
        contrast_files(scores_of(paths, arm), scores_of(paths, "base"))
        for arm in ("dp_grpo", "control", "gold", "nonprivate")
    ]
    family = sorted(test["p"] for member in members for test in member["mcnemar"])
    running, adjusted = 0.0, {}
    for place, p in enumerate(family):
        running = max(running, (len(family) - place) * p)
        adjusted[p] = min(1.0, running)
    assert len(family) == 3 + 3 + 2 + 1
    assert [test["p_holm"] for test in result["mcnemar"]] == [
        pytest.approx(adjusted[test["p"]]) for test in result["mcnemar"]
    ]


def test_a_missing_seed_is_refused(tiny, tmp_path):
    study, paths = tiny
    scores = [path for path in scores_of(paths, "dp_grpo", "control") if path.name != "seed2.parquet"]
    with pytest.raises(InputError, match="seed 2 of arm control is missing"):
        written(study, scores, "dp_grpo-control", tmp_path / "c.json")
    assert not (tmp_path / "c.json").exists()


def test_an_unknown_contrast_is_refused_with_those_there_are(tiny, tmp_path):
    study, paths = tiny
    with pytest.raises(InputError, match="no contrast gold-control on arithmetic; there are control-base"):
        written(study, scores_of(paths, "gold", "control"), "gold-control", tmp_path / "c.json")


def test_an_unknown_evaluation_set_is_refused_with_those_there_are(tiny, tmp_path):
    with pytest.raises(InputError, match="has no set sums; there are arithmetic, stories"):
        write_study_contrast(tiny[0], "sums", "gsm8k", "gold-base", tiny[1], tmp_path / "c.json")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"study": "other"}, "its study is not tiny"),
        ({"evaluation_set": "stories"}, "its evaluation_set is not arithmetic"),
        ({"scorer": "math_robust"}, "its scorer is not math_strict"),
        ({"arm": "gold"}, "its arm is in no contrast of this family"),
        ({"arm": ["gold"]}, "its arm is in no contrast of this family"),
        ({"seed": 3}, "seed 3 stands in .* too"),
    ],
)
def test_scores_of_something_else_are_refused(tiny, tmp_path, changes, message):
    study, paths = tiny
    stray = tmp_path / "stray.parquet"
    metadata = {
        "study": "tiny",
        "evaluation_set": "arithmetic",
        "scorer": "math_strict",
        "scorer_digest": "digest of math_strict",
        "arm": "control",
        "seed": 4,
        "manifest": fabricated.MANIFEST,
    }
    fabricated.write_score_file(stray, [True] * 400, metadata | changes)
    scores = [*scores_of(paths, "dp_grpo", "control"), stray]
    with pytest.raises(InputError, match=message):
        written(study, scores, "dp_grpo-control", tmp_path / "c.json")
