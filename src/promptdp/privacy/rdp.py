"""Budgets by Renyi differential privacy: the looser value beside each budget (Appendix A-F).

Opacus computes them; its fractional orders are exact. Those of dp_accounting, since release 0.4.4, are loose
by up to 0.02.
"""

import importlib.util
import math
import warnings
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from types import ModuleType

from promptdp.privacy.events import Event, by_round

RDP_ORDERS = [*(i / 10 for i in range(11, 110)), *range(11, 64), 128, 256, 512, 1024]


def rdp_epsilon(events: Sequence[Event], delta: float) -> tuple[float, float]:
    """The epsilon at delta, with the order that gives it; events and delta have been checked.

    The conversion is that of Balle et al. [54], the orders those of dp_accounting's default grid.
    """
    curves = [
        [rounds * _renyi_divergence(expected / slots, noise_multiplier, order) for order in RDP_ORDERS]
        for (slots, expected, noise_multiplier), rounds in by_round(events).items()
    ]
    with warnings.catch_warnings():  # the minimum may sit at an end of the grid: looser, still a bound
        warnings.simplefilter("ignore")
        epsilon, order = _opacus_rdp().get_privacy_spent(
            orders=RDP_ORDERS, rdp=[sum(terms) for terms in zip(*curves, strict=True)], delta=delta
        )
    return max(0.0, float(epsilon)), float(order)


def _renyi_divergence(q: float, noise_multiplier: float, order: float) -> float:
    try:
        return float(
            _opacus_rdp().compute_rdp(q=q, noise_multiplier=noise_multiplier, steps=1, orders=float(order))
        )
    except (ValueError, ArithmeticError):
        return math.inf  # the series left double precision: the other orders still give a bound


@cache
def _opacus_rdp() -> ModuleType:
    """Opacus' Renyi analysis by itself: importing the package around it would load torch."""
    package = importlib.util.find_spec("opacus")
    assert package is not None and package.submodule_search_locations
    path = Path(package.submodule_search_locations[0], "accountants", "analysis", "rdp.py")
    spec = importlib.util.spec_from_file_location("opacus_rdp", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
