"""What a run's identity covers, and the reward a method gets from a scorer."""

import subprocess
import sys

import pytest

from promptdp.closure import import_closure
from promptdp.scoring import Verdict
from promptdp.scoring.verdict import Reason
from promptdp.training import CODE, methods


def test_the_code_of_a_run_covers_its_reward_and_method_and_no_report():
    covered = {name for module in CODE for name in import_closure(module)}
    assert {"promptdp.training.methods", "promptdp.training.objectives", "promptdp.policy.decode"} <= covered
    others = ("study", "reporting", "statistics", "evaluation", "cli", "protocol")
    assert not [name for name in covered if name.split(".")[1:2] and name.split(".")[1] in others]


def test_the_tuple_is_read_without_loading_torch():
    code = "import sys; from promptdp.training import CODE; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    "module", ["promptdp.records.loaders", "promptdp.evaluation.predict", "promptdp.policy.publish"]
)
def test_a_step_that_is_handed_its_study_does_not_load_the_studys_code(module):
    code = f"import sys; import {module}; assert 'promptdp.study' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("verdict", "reward"),
    [
        (Verdict("4", True, "equal", 9), 1.0),
        (Verdict("5", False, "different", 9), 0.0),
        (Verdict(None, False, Reason.LIMIT, 9), None),
    ],
)
def test_the_reward_is_the_verdict_unless_the_scorer_gave_up(monkeypatch, verdict, reward):
    monkeypatch.setattr(methods, "score", lambda *arguments: verdict)
    verifier = methods.verifier("math_strict")
    assert verifier(response="response", reference="4", capped=False) == reward


@pytest.mark.parametrize(
    ("response", "reference", "reward"),
    [(r"so \boxed{4}", "4", 1.0), ("4", r"so \boxed{4}", 0.0), ("4", "4", 0.0)],
)
def test_only_the_response_needs_the_form_and_it_cannot_be_swapped_with_the_reference(
    response, reference, reward
):
    verifier = methods.verifier("math_strict")
    assert verifier(response=response, reference=reference, capped=False) == reward
    with pytest.raises(TypeError):
        verifier(response, reference, False)
