"""Line 7 of Algorithm 1: the bound on one record's contribution."""

import math

import torch

from promptdp.errors import InputError


def clip(gradient: torch.Tensor, clipping_norm: float) -> torch.Tensor:
    """Equation (4): gradient * min(1, C / ||gradient||), one L2 norm over all coordinates, in float64.

    Args:
        gradient: float (p,), a record's whole gradient, after all its chunks; any float dtype.
        clipping_norm: C >= 0; infinity leaves a finite gradient unchanged.

    Returns:
        float64 (p,), of norm at most C up to rounding; zeros when the norm is not finite or C is 0.

    Raises:
        InputError: C is negative or NaN.
    """
    if not clipping_norm >= 0:
        raise InputError(f"clipping_norm: must not be negative, not {clipping_norm!r}")
    gradient = gradient.detach().to(torch.float64)
    norm = torch.linalg.vector_norm(gradient).item()
    if not math.isfinite(norm) or clipping_norm == 0:
        return torch.zeros_like(gradient)
    return gradient if norm <= clipping_norm else gradient * (clipping_norm / norm)
