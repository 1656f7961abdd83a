"""Global add/remove sensitivity: one record moves the sum by at most C, whatever its gradient."""

from collections.abc import Iterator, Sequence

import torch

from promptdp.assurance.verification.rounds import clipped_sum
from promptdp.assurance.verification.row import Claim, Row
from promptdp.assurance.verification.subject import Subject

CONTENTS, RANDOM_ADDITIONS, ADVERSARIAL = 5, 20, 1e12
PAPERS_NORM = 0.7
TOLERANCE = 1e-10
CLAIM = Claim(
    id="sensitivity",
    title="Global add/remove sensitivity",
    source="Appendix B; Lemma 1; equation (4)",
    claim="Adding one record changes the clipped sum by at most the clipping norm C, and a gradient "
    "of magnitude 1e12 changes it by C.",
    method="The gradients of five public records, and 21 additions one at a time (20 random ones, one "
    "of magnitude 1e12), each through the production round at q = 1 without noise. Value: the "
    "distance from 1 of the largest ratio of the change to C.",
)


def excess(contents: Sequence[torch.Tensor], clipping_norm: float) -> float:
    """How far the largest of the changes by one addition, over C, is from 1."""
    slots = len(contents) + 1
    before = clipped_sum(contents, slots, clipping_norm)
    changes = [
        torch.linalg.vector_norm(clipped_sum([*contents, addition], slots, clipping_norm) - before)
        for addition in _additions(contents[0])
    ]
    return abs(float(torch.stack(changes).max()) / clipping_norm - 1)


def check_sensitivity(subject: Subject, claim: Claim, clipping_norm: float | None = None) -> Row:
    """The sensitivity of the study's methods on this copy of the base.

    Args:
        subject: what is examined.
        claim: what the row says.
        clipping_norm: C; None for the clipping norms of the study's private arms.
    """
    ratios = []
    for objective, advantage, (benchmark, *_) in subject.methods():
        examples = subject.trial(benchmark, objective, advantage).examples(CONTENTS)
        gradients = [example.gradient for example in examples]
        norms = [clipping_norm] if clipping_norm else clipping_norms(subject)
        ratios += [excess(gradients, norm) for norm in norms]
    return claim.at_most(max(ratios), TOLERANCE)


def clipping_norms(subject: Subject) -> list[float]:
    """The clipping norms of the study's private arms, each once; the paper's test value if it has none."""
    arms = subject.study.arms.values()
    found = {arm.clipping_norm for arm in arms if arm.private and arm.clipping_norm is not None}
    return sorted(found) or [PAPERS_NORM]


def _additions(like: torch.Tensor) -> Iterator[torch.Tensor]:
    generator = torch.Generator().manual_seed(2)

    def direction() -> torch.Tensor:
        drawn = torch.randn(len(like), generator=generator, dtype=torch.float64)
        return drawn / drawn.norm()

    for place in range(RANDOM_ADDITIONS):
        # Lengths from 1e-3 to 1e3: below, about and above any clipping norm in use.
        yield (direction() * 10.0 ** (6 * place / (RANDOM_ADDITIONS - 1) - 3)).to(like.dtype)
    yield (direction() * ADVERSARIAL).to(like.dtype)
