"""What a protocol may say of a study's jobs, and which orders can be."""

import pytest
import yaml
from pydantic import ValidationError

from promptdp.decisions import Decision, Protocol
from promptdp.errors import InputError
from promptdp.protocol import load_protocol
from promptdp.study import load_study
from promptdp.timeline import Job, Jobs, road

TRAIN = Job("train", "stories", "gsm8k", "gold", 1)
PREDICT = Job("predict", "stories", None, "gold", 1)
SCORE = Job("score", "stories", "gsm8k", "gold", 1)
PROBLEMS = Job("records_eval", "stories")


@pytest.fixture(scope="module")
def study():
    return load_study("config/studies/micro.yaml")


def protocol(**decisions) -> Protocol:
    fixes = {"statement": "s", "settings": {"rollouts.samples": 8}}
    named = {name: fixes | decision for name, decision in decisions.items()}
    return Protocol.model_validate({"study": "config/studies/micro.yaml", "decisions": named})


def test_a_study_has_every_job_once_with_those_it_reads(study):
    jobs = road(study)
    assert len([job for job in jobs if job.rule == "train"]) == len(study.runs()) == 54
    assert len([job for job in jobs if job.rule == "score"]) == 114
    assert jobs[SCORE] == [PROBLEMS, PREDICT]
    assert jobs[PREDICT] == [PROBLEMS, TRAIN]
    assert jobs[Job("predict", "stories", None, "base", 0)] == [PROBLEMS]
    assert jobs[TRAIN] == jobs[PROBLEMS] == []
    assert str(SCORE) == "score stories/gsm8k/gold/seed1" and str(PROBLEMS) == "records_eval stories"


def test_a_rule_alone_is_all_of_its_jobs_and_lists_choose_among_them(study):
    jobs = road(study)
    assert len(Jobs.model_validate("train").among(jobs)) == 54
    chosen = Jobs.model_validate({"train": {"benchmarks": ["stories"], "arms": ["gold"], "seeds": [1]}})
    assert chosen.among(jobs) == [TRAIN]
    assert Jobs.model_validate("predict").model_dump() == "predict"
    assert chosen.model_dump() == {"train": {"benchmarks": ["stories"], "arms": ["gold"], "seeds": [1]}}
    assert Jobs.model_validate(chosen.model_dump()) == chosen


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("bake", "Input should be 'records_eval', 'train', 'predict' or 'score'"),
        ({"bake": {"arms": ["gold"]}}, "Input should be 'records_eval', 'train', 'predict' or 'score'"),
        ({"train": {"scorers": ["gsm8k"]}}, "train is chosen by benchmarks, arms, seeds, not by scorers"),
        ({"predict": {"benchmarks": ["stories"]}}, "not by benchmarks"),
        ({"train": {"arms": []}}, "at least 1 item"),
        ({"train": {}}, "is RULE, or RULE: {LISTS}"),
        ({"train": None}, "is RULE, or RULE: {LISTS}"),
        ({"train": {"arms": ["gold"]}, "score": {"arms": ["gold"]}}, "with one rule"),
        (["train"], "is RULE, or RULE: {LISTS}"),
        (7, "is RULE, or RULE: {LISTS}"),
    ],
)
def test_jobs_that_are_written_wrong_are_refused(written, message):
    with pytest.raises(ValidationError) as error:
        Jobs.model_validate(written)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("decision", "message"),
    [
        ({"before": [{"train": {"arms": ["silver"]}}]}, "no job so chosen has arms silver; its jobs have"),
        ({"after": [{"score": {"scorers": ["boxes"]}}]}, "no job so chosen has scorers boxes"),
        ({"after": [{"predict": {"arms": ["base"], "seeds": [1]}}]}, "no job so chosen has arms base"),
        ({"before": [{"train": {"arms": ["gold", "base"]}}]}, "no job so chosen has arms base"),
        ({"before": [{"train": {"arms": ["gold"], "seeds": [1, 3]}}]}, "no job so chosen has seeds 3"),
        ({"scorer": "boxes", "before": ["score"]}, "scorer: study micro has no boxes"),
        ({"settings": {"arms.gold.seed": 1}}, "arms.gold.seed: study micro has no such setting"),
        (
            {"settings": {"rollouts.samples.more": 1}},
            "rollouts.samples.more: study micro has no such setting",
        ),
    ],
)
def test_a_decision_that_speaks_of_what_the_study_lacks_is_refused_by_name(decision, message, study):
    with pytest.raises(InputError, match=r"^decisions\.mine") as error:
        protocol(mine=decision).check(study)
    assert message in str(error.value) and "\n" not in str(error.value)


CYCLES = {
    "a decision after what it precedes": (
        {"one": {"after": [{"score": {"arms": ["gold"]}}], "before": [{"train": {"arms": ["gold"]}}]}},
        "the order of one can't be: one, before train ",
    ),
    "a decision after the very job it precedes": (
        {"one": {"after": ["predict"], "before": ["predict"]}},
        "the order of one can't be: one, before predict ",
    ),
    "two decisions that wait for each other": (
        {
            "one": {"after": [{"train": {"arms": ["gold"]}}], "before": [{"train": {"arms": ["dp_grpo"]}}]},
            "two": {"after": [{"train": {"arms": ["dp_grpo"]}}], "before": [{"train": {"arms": ["gold"]}}]},
        },
        "the order of one and two can't be: one, before train ",
    ),
}


@pytest.mark.parametrize("case", CYCLES)
def test_an_order_that_can_not_be_is_one_line_that_names_the_decisions_and_the_way(case, study):
    decisions, message = CYCLES[case]
    with pytest.raises(InputError) as error:
        protocol(**decisions).check(study)
    text = str(error.value)
    assert message in text and "\n" not in text
    ring = text.partition("can't be: ")[2].partition(";")[0].split(", before ")
    assert ring[0] == ring[-1] and len(ring) == len(set(ring)) + 1


def test_a_chain_of_decisions_that_can_be_is_no_cycle(study):
    protocol(
        one={"after": [{"score": {"arms": ["gold"]}}], "before": [{"train": {"arms": ["dp_grpo"]}}]},
        two={"after": [{"train": {"arms": ["dp_grpo"]}}], "before": [{"predict": {"arms": ["dp_grpo"]}}]},
    ).check(study)


def test_a_decision_on_a_scorer_gates_only_the_jobs_that_use_it_and_the_others_it_names():
    rule = Decision.model_validate(
        {
            "statement": "s",
            "settings": {"a": 1},
            "scorer": "csqa_final",
            "before": ["score", "train", {"predict": {"arms": ["gold"]}}],
        }
    )
    assert rule.precedes(SCORE._replace(scorer="csqa_final")) and rule.precedes(PREDICT)
    assert not any(map(rule.precedes, (SCORE, TRAIN, PROBLEMS, PREDICT._replace(arm="base"))))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("decisions: {a: {statement: s, before: [train]}}\n", "decisions.a: fixes nothing; name files"),
        ("decisions: {a: {statement: s, settings: {x: 1}}}\n", "study: a speaks of a study's settings"),
        (
            "decisions: {a: {statement: s, freezes: {f: null}, after: [train]}}\n",
            "study: a speaks of a study's settings or outputs; name its file",
        ),
        (
            "study: s\ndecisions: {a: {statement: s, freezes: {f: null}, after: [{file: }]}}\n",
            "decisions.a.after.0.file.file",
        ),
        (
            "decisions: {a: {statement: s, freezes: {f: null}, before: [{train: {arm: [gold]}}]}}\n",
            "decisions.a.before.0: train is chosen by benchmarks, arms, seeds, not by arm",
        ),
    ],
)
def test_a_protocol_that_is_written_wrong_is_one_line_with_its_key(text, message, tmp_path):
    path = tmp_path / "p.yaml"
    path.write_text(text)
    with pytest.raises(InputError) as error:
        load_protocol(path)
    assert f"{path}: {message}" in str(error.value) and "\n" not in str(error.value)


def test_the_papers_protocol_has_the_rows_of_its_table_in_their_order(root):
    raw = yaml.safe_load((root / "config/protocol/paper.yaml").read_text())["decisions"]
    rows = list(dict.fromkeys(decision["title"] for decision in raw.values()))
    lines = (root / "resources/published/table8.csv").read_text().splitlines()
    printed = [line.split(",Fixed when,")[0][2:].strip('"') for line in lines if ",Fixed when," in line]
    assert rows == printed and len(rows) == 11
    assert all(decision["taken"] for decision in raw.values())
    load_protocol("config/protocol/paper.yaml").check(load_study("config/studies/paper.yaml"))
