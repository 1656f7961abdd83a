"""Expressions of two or three operations, in the manner of MATH: the answer is scored inside a box.

The base often has the right value without the box, or guesses it without working it out; how often depends on
the verb of the question.
"""

import random

from promptdp.records.worlds.problem import Problem, World

LARGEST = 99
"""Every value on the way is in 0..99, so that each number is one token."""

STYLES = {
    "Compute": {"worked, boxed": 0.60, "worked, plain": 0.15, "direct, boxed": 0.15, "direct, plain": 0.10},
    "Evaluate": {"worked, boxed": 0.50, "worked, plain": 0.20, "direct, boxed": 0.20, "direct, plain": 0.10},
    "Find": {"worked, boxed": 0.30, "worked, plain": 0.15, "direct, boxed": 0.30, "direct, plain": 0.25},
    "What is": {"worked, boxed": 0.25, "worked, plain": 0.15, "direct, boxed": 0.35, "direct, plain": 0.25},
    "Calculate": {"worked, boxed": 0.38, "worked, plain": 0.34, "direct, boxed": 0.14, "direct, plain": 0.14},
    "Work out": {"worked, boxed": 0.34, "worked, plain": 0.38, "direct, boxed": 0.12, "direct, plain": 0.16},
    "Simplify": {"worked, boxed": 0.28, "worked, plain": 0.44, "direct, boxed": 0.10, "direct, plain": 0.18},
}


def sample(rng: random.Random) -> Problem:
    """Draw an expression whose intermediate values are all in 0..99."""
    while True:
        expression, steps = rng.choice((_product_first, _product_last))(rng)
        values = [value for _, value in steps]
        if all(0 <= value <= LARGEST for value in values):
            break
    kind = rng.choice(list(STYLES))
    answer = str(values[-1])
    working = ", ".join(f"{step}={value}" for step, value in steps)
    return Problem(
        unit=f"arithmetic {expression}",
        kind=kind,
        question=f"{kind} {expression}{'?' if kind == 'What is' else '.'}",
        answer=answer,
        completions={
            "worked, boxed": f"{working}. The answer is \\boxed{{{answer}}}.",
            "worked, plain": f"{working}. The answer is {answer}.",
            "direct, boxed": f"\\boxed{{{answer}}}",
            "direct, plain": f"The answer is {answer}.",
        },
        reference="worked, boxed",
    )


Steps = list[tuple[str, int]]


def _product_first(rng: random.Random) -> tuple[str, Steps]:
    a, b, c, d = rng.randint(2, 9), rng.randint(2, 9), rng.randint(1, 9), rng.randint(1, 9)
    plus, then = rng.choice("+-"), rng.choice("+-")
    product = a * b
    middle = product + c if plus == "+" else product - c
    last = middle + d if then == "+" else middle - d
    steps = [(f"{a}*{b}", product), (f"{product}{plus}{c}", middle), (f"{middle}{then}{d}", last)]
    return f"{a}*{b}{plus}{c}{then}{d}", steps


def _product_last(rng: random.Random) -> tuple[str, Steps]:
    a, b, c = rng.randint(1, 40), rng.randint(2, 9), rng.randint(2, 9)
    sign = rng.choice("+-")
    product = b * c
    last = a + product if sign == "+" else a - product
    return f"{a}{sign}{b}*{c}", [(f"{b}*{c}", product), (f"{a}{sign}{product}", last)]


WORLD = World(sample, STYLES)
