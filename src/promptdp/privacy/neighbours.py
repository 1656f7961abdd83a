"""Whose presence or content a budget protects: one prompt, a group of prompts, or a prompt's content.

Theorem 1 is about one presence bit (Definition 3). What its budget implies beyond that is stated twice: by
the paper's conversions (Proposition 1, Corollary 1), and by an accountant that is asked about the other pair
of datasets directly, which says much less is lost.
"""

import math
from dataclasses import dataclass
from typing import Any

from promptdp.errors import InputError
from promptdp.privacy.mechanism import RELATION, check_count

Conversion = tuple[float, float]
"""(epsilon, delta) that a one-prompt budget implies."""


@dataclass(frozen=True)
class Neighbours:
    """The pairs of datasets that a budget is about.

    Attributes:
        group: K. One dataset holds all K prompts, the other holds none of them, as when a person who
            contributed K prompts takes part or not. (Proposition 1 also covers some added and some removed.)
        replace_one: the datasets differ in the prompt at one occupied slot (Corollary 1).

    Raises:
        InputError: K is no integer of at least 1, or both kinds are asked for at once.
    """

    group: int = 1
    replace_one: bool = False

    def __post_init__(self) -> None:
        """Refuse what is no relation that the accountants cover."""
        check_count("group", self.group)
        if self.replace_one and self.group > 1:
            raise InputError("group: replacing is accounted for one prompt; give --group or --replace-one")

    @property
    def relation(self) -> str:
        """The name of the relation in files."""
        if self.replace_one:
            return "replace-one"
        return RELATION if self.group == 1 else "add-or-remove-group"

    def converted(self, epsilon: float, delta: float) -> Conversion:
        """What the one-prompt budget implies for these neighbours; for one prompt itself.

        Proposition 1 in the form of its proof, (K epsilon, delta sum over j < K of e^(j epsilon)), or
        Corollary 1, (2 epsilon, (1 + e^epsilon) delta): the same with K = 2.
        """
        steps = 2 if self.replace_one else self.group
        try:
            return steps * epsilon, delta * math.fsum(math.exp(j * epsilon) for j in range(steps))
        except OverflowError:
            return steps * epsilon, math.inf

    def stated(self, conversion: Conversion | None) -> dict[str, Any]:
        """A conversion as files hold it, if there is one; a delta of 1 or more is marked as vacuous."""
        if conversion is None:
            return {}
        epsilon, delta = conversion
        entry: dict[str, Any] = {"epsilon": epsilon, "delta": delta if math.isfinite(delta) else None}
        if delta >= 1:
            entry["vacuous"] = True
        return {"corollary_1" if self.replace_one else "proposition_1": entry}


ONE_PROMPT = Neighbours()
"""Definition 3: one presence bit differs."""
