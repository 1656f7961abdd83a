"""A stand-in for the accountant: its values at the paper's noise multipliers, and steps between them."""

AT = {
    (6988, 128, 50): [
        (0.484240473806858, 7.999999962360),
        (0.612058477104, 4.234855573676),
        (1.002341736108064, 0.999999998156),
    ],
    (6988, 512, 50): [(0.70222370834, 7.999980917753)],
    (6988, 128, 100): [(0.519267738191411, 7.999999969568), (0.612058477104, 5.038498134559)],
    (6961, 128, 100): [(0.519656467437744, 7.999999966531)],
    (10, 1, 512): [(3.0, 3.769686581455)],
}


def stand_in(slots: int, expected: int, rounds: int, noise_multiplier: float, delta: float) -> float:
    """The value at the largest known noise multiplier that is not above, or much where all are."""
    known = [epsilon for sigma, epsilon in AT[slots, expected, rounds] if sigma <= noise_multiplier]
    return known[-1] if known else 1e3
