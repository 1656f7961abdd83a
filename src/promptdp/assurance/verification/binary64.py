"""Models in binary64 throughout."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.overrides import TorchFunctionMode


class Binary64(TorchFunctionMode):
    """While active, whatever asks for float32 gets float64.

    Normalisation and rotary embeddings of transformers compute in float32 even inside a float64 model, which
    would hide an error of 1e-10 behind rounding of 1e-7.
    """

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Call a function of torch with every mention of float32 replaced."""
        if func is torch.Tensor.float:
            func = torch.Tensor.double
        named = {key: _wide(value) for key, value in (kwargs or {}).items()}
        return func(*map(_wide, args), **named)


def _wide(value: Any) -> Any:
    return torch.float64 if value is torch.float32 else value
