import dataclasses
import math
import subprocess
import sys
from fractions import Fraction

import pytest

from promptdp.errors import InputError
from promptdp.privacy.mechanism import Mechanism

MATH = Mechanism(6988, 128, 50, 0.4842404738068581, 0.05536, 1 / 69880)


def test_every_derived_quantity_comes_from_the_public_fields():
    assert MATH.sampling_rate == Fraction(128, 6988)
    assert MATH.divisor == 128
    assert MATH.noise_std == 0.4842404738068581 * 0.05536
    assert MATH.private


@pytest.mark.parametrize("clipping_norm", [0.05536, math.inf])
def test_a_non_private_arm_has_no_noise_even_unclipped(clipping_norm):
    mechanism = dataclasses.replace(MATH, noise_multiplier=0, clipping_norm=clipping_norm)
    assert mechanism.noise_std == 0.0
    assert not mechanism.private


def test_a_missing_clipping_norm_is_null_in_json():
    mechanism = dataclasses.replace(MATH, noise_multiplier=0, clipping_norm=math.inf)
    assert mechanism.as_json()["clipping_norm"] is None
    assert MATH.as_json()["clipping_norm"] == 0.05536


def test_no_field_can_be_set_after_the_mechanism_is_made():
    with pytest.raises(dataclasses.FrozenInstanceError):
        MATH.noise_multiplier = 0.1


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"slots": 0}, "slots"),
        ({"slots": 6988.0}, "slots"),
        ({"slots": True}, "slots"),
        ({"expected": 0}, "expected"),
        ({"expected": 6989}, "sampling rate above 1"),
        ({"expected": 128.5}, "expected"),
        ({"rounds": 0}, "rounds"),
        ({"rounds": 2.5}, "rounds"),
        ({"noise_multiplier": -1.0}, "noise_multiplier"),
        ({"noise_multiplier": math.nan}, "noise_multiplier"),
        ({"noise_multiplier": math.inf}, "noise_multiplier"),
        ({"noise_multiplier": "0.5"}, "noise_multiplier"),
        ({"clipping_norm": 0.0}, "clipping_norm"),
        ({"clipping_norm": -1.0}, "clipping_norm"),
        ({"clipping_norm": math.nan}, "clipping_norm"),
        ({"clipping_norm": math.inf}, "unbounded sensitivity"),
        ({"clipping_norm": None}, "clipping_norm"),
        ({"delta": 0.0}, "delta"),
        ({"delta": -1e-6}, "delta"),
        ({"delta": math.nan}, "delta"),
        ({"delta": 1 / 6988}, "delta"),
        ({"delta": 1.0}, "delta"),
        ({"delta": 1e-16}, "floor"),
        ({"relation": "replace-one"}, "relation"),
    ],
)
def test_a_mechanism_outside_the_theorem_is_refused_by_name(change, named):
    with pytest.raises(InputError, match=named) as refusal:
        dataclasses.replace(MATH, **change)
    assert "\n" not in str(refusal.value)


def test_the_mechanism_needs_no_numerical_library():
    code = (
        "import sys, promptdp.privacy.mechanism, promptdp.privacy.ledger\n"
        "sys.exit(bool({'torch', 'numpy', 'scipy', 'dp_accounting', 'opacus'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
