"""The fabricated study with blocks: a budget sweep, a clipping sweep and a reference without noise."""

from pathlib import Path

from promptdp.study import Study
from tests.reporting import fabricated

METHOD = fabricated.SETTINGS["arms"]["dp_grpo"] | {"seeds": [1, 2]}
ARMS = {
    "eps4": METHOD | {"label": "DP-GRPO, ε = 4.23", "epsilon": 4.23, "benchmarks": ["arithmetic"]},
    "eps1": METHOD | {"label": "DP-GRPO, ε = 1", "epsilon": 1, "benchmarks": ["arithmetic"]},
    "wide": METHOD | {"label": "DP-GRPO, C = 0.12", "clipping_norm": 0.12, "benchmarks": ["arithmetic"]},
    "noiseless": METHOD | {"label": "DP-GRPO without noise, clipped at the same norm", "noise_multiplier": 0},
}
CONTRASTS = [
    {"arm": "eps4", "versus": "dp_grpo", "family": "eps4", "block": "Budget"},
    {"arm": "eps1", "versus": "dp_grpo", "family": "eps1", "block": "Budget"},
    {"arm": "eps4", "versus": "base", "family": "eps4_base", "block": "Budget"},
    {"arm": "eps1", "versus": "base", "family": "eps1_base", "block": "Budget"},
    {"arm": "wide", "versus": "dp_grpo", "family": "wide", "block": "Clipping"},
    {"arm": "noiseless", "versus": "base", "family": "noiseless_base", "block": "Noiseless reference"},
]


def study(folder: Path, **changes) -> Study:
    """The study: Clipping contrasts no arm with the base, Noiseless reference has no reference of its own."""
    settings = {
        "arms": fabricated.SETTINGS["arms"] | ARMS,
        "contrasts": fabricated.SETTINGS["contrasts"] + CONTRASTS,
    }
    return fabricated.study(folder, **settings | changes)
