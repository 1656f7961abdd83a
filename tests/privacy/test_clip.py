import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy

from promptdp.errors import InputError
from promptdp.privacy.clip import clip

C = 0.05536
DIRECTION = torch.tensor([3.0, -4.0, 0.0, 12.0], dtype=torch.float64) / 13  # norm 1


def gradient_of(norm, dtype):
    return (DIRECTION * norm).to(dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("clipping_norm", [0, C, math.inf])
@pytest.mark.parametrize("norm", [0, 1e-30, 1e-3, C, math.nextafter(C, 1), 1.0, 1e12])
def test_the_norm_becomes_the_smaller_of_itself_and_c(norm, clipping_norm, dtype):
    gradient = gradient_of(norm, dtype)
    clipped = clip(gradient, clipping_norm)
    assert clipped.dtype == torch.float64 and clipped.shape == gradient.shape
    target = min(gradient.double().norm().item(), clipping_norm)
    assert clipped.norm().item() == pytest.approx(target, rel=1e-15, abs=0)
    assert torch.allclose(clipped, DIRECTION * target, rtol=1e-6 if dtype == torch.float32 else 1e-14, atol=0)


def above(norm, dtype):
    """The next number of a dtype."""
    return torch.nextafter(torch.tensor(norm, dtype=dtype), torch.tensor(math.inf, dtype=dtype)).item()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("clipping_norm", [0, C, math.inf])
def test_a_gradient_of_one_coordinate_meets_the_bound_at_every_edge(clipping_norm, dtype):
    for norm in (0.0, above(0.0, dtype), C, above(C, dtype), 1e12):
        (exact,) = torch.tensor([norm], dtype=dtype).double().tolist()
        (clipped,) = clip(torch.tensor([-norm], dtype=dtype), clipping_norm).tolist()
        if exact <= clipping_norm:
            assert clipped == -exact
        else:
            assert clipped == pytest.approx(-clipping_norm, rel=2**-52, abs=0)
    for norm in (math.inf, -math.inf, math.nan):
        assert clip(torch.tensor([norm], dtype=dtype), clipping_norm).tolist() == [0.0]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("clipping_norm", [0, C, math.inf])
@pytest.mark.parametrize("bad", [math.inf, -math.inf, math.nan])
def test_a_gradient_that_is_not_finite_becomes_zero(bad, clipping_norm, dtype):
    gradient = torch.tensor([1.0, bad, 0.0], dtype=dtype)
    assert clip(gradient, clipping_norm).tolist() == [0.0, 0.0, 0.0]


def test_a_norm_that_overflows_becomes_zero():
    assert clip(torch.full((2,), 1e300, dtype=torch.float64), C).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("tiny", [5e-324, 1e-300])
def test_a_norm_that_underflows_is_within_any_c_but_zero(tiny):
    gradient = torch.tensor([tiny, -tiny], dtype=torch.float64)
    assert clip(gradient, C).tolist() == [tiny, -tiny]
    assert clip(gradient, 0).tolist() == [0.0, 0.0]


def test_a_gradient_within_c_keeps_every_bit():
    gradient = torch.linspace(-1e-3, 1e-3, 101, dtype=torch.float32)
    assert torch.equal(clip(gradient, C), gradient.double())
    assert torch.equal(clip(gradient, math.inf), gradient.double())


def test_the_norm_is_one_over_all_coordinates_in_double_precision():
    # 2^24 ones: a float32 sum of squares would stop growing; clipping each half alone would give sqrt(2) C.
    gradient = torch.ones(2**24 + 2**12, dtype=torch.float32)
    assert clip(gradient, C).norm().item() == pytest.approx(C, rel=1e-12)


def test_half_precision_gradients_are_clipped_in_double_precision():
    assert clip(torch.full((4,), 60_000.0, dtype=torch.float16), C).norm().item() == pytest.approx(
        C, rel=1e-12
    )


def test_the_result_has_no_history():
    gradient = torch.ones(3, requires_grad=True)
    assert not clip(gradient * 1e-3, C).requires_grad


@pytest.mark.parametrize("clipping_norm", [-1e-9, -math.inf, math.nan])
def test_a_clipping_norm_below_zero_is_refused(clipping_norm):
    with pytest.raises(InputError, match="clipping_norm"):
        clip(torch.ones(3), clipping_norm)


gradients = st_numpy.arrays(
    np.float64,
    st.integers(1, 40),
    elements=st.floats(-1e100, 1e100, allow_subnormal=True),
)
clipping_norms = st.floats(1e-6, 1e6)


@given(gradients, clipping_norms)
def test_no_contribution_exceeds_c_and_its_direction_is_kept(gradient, clipping_norm):
    clipped = clip(torch.from_numpy(gradient), clipping_norm).numpy()
    norm = np.linalg.norm(gradient)
    assert np.linalg.norm(clipped) <= clipping_norm * (1 + 1e-12)
    factor = min(1.0, clipping_norm / norm) if norm else 1.0
    np.testing.assert_allclose(clipped, gradient * factor, rtol=1e-12, atol=1e-300)


@given(st.lists(gradients, min_size=1, max_size=4), gradients, clipping_norms)
def test_one_record_moves_the_sum_by_at_most_c(others, one, clipping_norm):
    size = min(len(gradient) for gradient in [*others, one])
    total = sum(clip(torch.from_numpy(gradient[:size]), clipping_norm) for gradient in others)
    with_one = total + clip(torch.from_numpy(one[:size]), clipping_norm)
    rounding = 1e-12 * clipping_norm * (len(others) + 1)
    assert (with_one - total).norm().item() <= clipping_norm + rounding
