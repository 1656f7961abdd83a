"""The settings that the paper states (Table I, Section VII-A, Appendix C), in our configuration of it."""

from collections.abc import Iterator

from promptdp.reporting.published.finding import Finding, Number, judge, judge_words
from promptdp.reporting.published.values import Key, Published
from promptdp.study import Arm, Study

BENCHMARKS = {"MATH": "math", "GSM8K": "gsm8k", "CSQA": "csqa"}
ARMS = {
    "DP-GRPO": "dp_grpo",
    "Zero-adv. control": "control",
    "Filtered DP-SFT": "filtered",
    "Gold DP-SFT": "gold",
}
"""The names that our study of the paper gives them."""
SCORERS = {"math_strict": "boxed answer", "gsm8k": "final number", "csqa_strict": "option letter"}
"""What Table I says of a scorer."""


def check_settings(published: Published, study: Study) -> Iterator[Finding]:
    """Hold the study that configures the paper's experiment to what the paper states of it.

    What the study lacks differs.
    """
    check = f"study {study.name}"
    for benchmark, name in BENCHMARKS.items():
        for key, numbers in _benchmark(study, benchmark, name):
            yield judge(check, published[key], *numbers)
        strict = _strict_scorer(study, name)
        yield judge_words(check, published["1", "Strict scorer", benchmark], SCORERS.get(strict, strict))
    for key, number in _shared(study):
        yield judge(check, published[key], number)
    for label, name in ARMS.items():
        for key, numbers in _arm(label, study.arms.get(name)):
            yield judge(check, published[key], *numbers)


def _benchmark(study: Study, benchmark: str, name: str) -> Iterator[tuple[Key, list[Number]]]:
    spec = study.benchmarks.get(name)
    sets = [one.problems for one in study.evaluation_sets.values() if one.benchmark == name]
    yield ("1", "Evaluation set", benchmark), list(sets)
    for row, key in (("Training prompts n", "slots"), ("Rounds T", "rounds"), ("Completion cap", "cap")):
        yield ("1", row, benchmark), [] if spec is None else [getattr(spec, key)]
    for row, key in (("Expected prompts per round qn", "expected"), ("Budget ε", "epsilon")):
        yield ("1", row, "all"), [] if spec is None else [getattr(spec, key)]


def _strict_scorer(study: Study, name: str) -> str:
    found = [one.scorers.strict for one in study.evaluation_sets.values() if one.benchmark == name]
    return found[0] if found else "none"


def _shared(study: Study) -> Iterator[tuple[Key, Number]]:
    yield ("1", "Completions per prompt G", "all"), study.rollouts.samples
    yield ("VII-A", "GRPO", "temperature"), study.rollouts.temperature
    yield ("VII-A", "GRPO", "KL weight β"), study.rollouts.kl_weight
    yield ("C-A", "LoRA", "rank"), study.lora.rank
    yield ("C-A", "LoRA", "α"), study.lora.alpha
    yield ("C-A", "LoRA", "dropout"), study.lora.dropout
    yield ("C-A", "LoRA", "projection matrices"), len(study.lora.targets)


def _arm(label: str, arm: Arm | None) -> Iterator[tuple[Key, list[Number]]]:
    supervised = label.endswith("DP-SFT")
    rate: Key = ("C-B", label, "learning rate") if supervised else ("1", "Learning rate", "all")
    norm, learning = (None, None) if arm is None else (arm.clipping_norm, arm.learning_rate)
    yield ("C-B", label, "clipping norm C"), [] if norm is None else [norm]
    yield rate, [] if learning is None else [learning]
