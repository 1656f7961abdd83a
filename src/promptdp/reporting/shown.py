"""What of a study its tables and figures show: which evaluation sets, which arms, which contrasts."""

from promptdp.study import Contrast, Study

ROLES = {"strict": "Strict", "robust": "Robust"}
REFERENCE, ALTERNATIVE = "reference", "alternative"


def base_of(study: Study) -> str | None:
    """The public base: the first arm that is not trained."""
    return next((name for name, spec in study.arms.items() if not spec.trained), None)


def control_of(study: Study) -> str | None:
    """The arm that lacks the reward signal alone: the first of GRPO with advantages of zero."""
    arms = study.arms.items()
    return next((name for name, a in arms if a.objective == "grpo" and a.advantage == "zero"), None)


def scorers_of(study: Study, evaluation_set: str) -> dict[str, str]:
    """The rules of an evaluation set by their role, strict first."""
    scorers = study.evaluation_sets[evaluation_set].scorers
    return {role: rule for role in ROLES if (rule := getattr(scorers, role))}


def own_sets(study: Study) -> list[str]:
    """The evaluation sets of the benchmarks' own problems."""
    return [name for name, spec in study.evaluation_sets.items() if not spec.transfer]


def transfer_sets(study: Study) -> list[str]:
    """The evaluation sets of other sources, which Table XIII alone shows."""
    return [name for name, spec in study.evaluation_sets.items() if spec.transfer]


def rescored_sets(study: Study) -> list[str]:
    """The evaluation sets that a second scorer reads too."""
    return [name for name in own_sets(study) if len(scorers_of(study, name)) > 1]


def endpoint(study: Study, benchmark: str) -> str | None:
    """The evaluation set a benchmark is reported on: the first of its own problems with split eval."""
    sets = {name: study.evaluation_sets[name] for name in own_sets(study)}
    return next((n for n, spec in sets.items() if spec.benchmark == benchmark and spec.split == "eval"), None)


def arms_of(study: Study, evaluation_set: str) -> list[str]:
    """The arms that answer an evaluation set, in the study's order, without those of blocks alone."""
    answering = dict.fromkeys(arm for arm, _ in study.evaluations(evaluation_set))
    supporting = study.supporting_arms()
    return [arm for arm in answering if arm not in supporting]


def main_contrasts(study: Study, evaluation_set: str) -> list[Contrast]:
    """The contrasts of an evaluation set outside any block: those of Tables II, XI and XIII."""
    return [c for c in study.evaluated_contrasts(evaluation_set) if c.block is None]


def block_contrasts(study: Study, evaluation_set: str) -> list[Contrast]:
    """The contrasts of an evaluation set that Table XII shows, block by block."""
    found = [c for c in study.evaluated_contrasts(evaluation_set) if c.block is not None]
    blocks = list(dict.fromkeys(c.block for c in found))
    return sorted((c for c in found if c.versus != base_of(study)), key=lambda c: blocks.index(c.block))


def arms_against_base(study: Study, evaluation_set: str) -> list[str]:
    """The arms that Figure 2 shows: those contrasted with the base outside blocks, in the study's order."""
    found = {c.arm for c in main_contrasts(study, evaluation_set) if c.versus == base_of(study)}
    return [arm for arm in study.arms if arm in found]


def sweeps(study: Study, evaluation_set: str) -> dict[str, dict[str, str]]:
    """The blocks that Figure 3 shows: those that contrast an arm with the base.

    Returns:
        by block, the trained arms of its contrasts that the study contrasts with the base, each as a
        reference of the block or an alternative to that, references first. A block that has no reference of
        its own has the method for one.
    """
    made = study.evaluated_contrasts(evaluation_set)
    with_base = {c.arm: c.block for c in made if c.versus == base_of(study)}
    blocks = dict.fromkeys(c.block for c in made if c.block in with_base.values() and c.block is not None)
    found = {}
    for block in blocks:
        inside = [c for c in made if c.block == block]
        references = {c.versus: REFERENCE for c in inside if study.arms[c.versus].trained}
        roles = references or {study.method() or "": REFERENCE}
        roles |= {c.arm: ALTERNATIVE for c in inside if c.arm not in roles}
        found[block] = {arm: role for arm, role in roles.items() if arm in with_base}
    return found


def comparators(study: Study) -> list[str]:
    """What the method is contrasted with on the benchmarks' own problems, outside blocks (Table II)."""
    return list(
        dict.fromkeys(
            c.versus
            for c in study.contrasts
            if c.arm == study.method() and any(c in main_contrasts(study, name) for name in own_sets(study))
        )
    )
