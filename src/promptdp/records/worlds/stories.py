"""Small word problems, in the manner of GSM8K: the last number of the completion is scored.

The base sometimes ends on a remark with another number, or answers without working; how often depends on the
scenario and, in two of them, on the things counted.
"""

import random
from collections.abc import Callable

from promptdp.records.worlds.problem import Problem, World

LARGEST = 99
"""Every value on the way is in 0..99, so that each number is one token."""

NAMES = ("Ana", "Bo", "Carla", "Dan", "Emma", "Finn", "Gita", "Hugo")
THINGS = ("beads", "books", "cards", "coins", "nuts", "pens", "shells", "stamps")


def _styles(scenario: str, rank: int) -> dict[str, float]:
    """The shares of the styles in a scenario on the thing of this rank.

    In two scenarios they are graded by the thing, through the tie with the worked style, so that a small
    change of preference moves some greedy answers and a larger one moves more.
    """
    if scenario == "orchard":
        remark = 0.32 + 0.04 * rank
        return {"worked": 0.80 - remark, "remark": remark, "direct": 0.20}
    if scenario == "savings":
        direct = 0.36 + 0.04 * rank
        return {"worked": 0.85 - direct, "remark": 0.15, "direct": direct}
    return {"worked": 0.50, "remark": 0.15, "direct": 0.35}


Steps = list[tuple[str, int]]
Scenario = Callable[[str, str, str, int, int, int], tuple[str, Steps]]


def _market(name: str, other: str, things: str, a: int, b: int, c: int) -> tuple[str, Steps]:
    question = (
        f"{name} has {a} {things}. {name} buys {b} boxes of {c} {things}. How many {things} does {name} have?"
    )
    return question, [(f"{b}*{c}", b * c), (f"{a}+{b * c}", a + b * c)]


def _orchard(name: str, other: str, things: str, a: int, b: int, c: int) -> tuple[str, Steps]:
    question = (
        f"{name} finds {a} {things} and {b} more. {name} gives {c} to {other}. How many {things} are left?"
    )
    return question, [(f"{a}+{b}", a + b), (f"{a + b}-{c}", a + b - c)]


def _shelf(name: str, other: str, things: str, a: int, b: int, c: int) -> tuple[str, Steps]:
    question = f"There are {a} {things}. {name} takes {b} and brings {c} back. How many {things} are there?"
    return question, [(f"{a}-{b}", a - b), (f"{a - b}+{c}", a - b + c)]


def _savings(name: str, other: str, things: str, a: int, b: int, c: int) -> tuple[str, Steps]:
    question = (
        f"{name} saves {a} {things}. {other} saves {b} more than {name} and loses {c}."
        f" How many {things} does {other} have?"
    )
    return question, [(f"{a}+{b}", a + b), (f"{a + b}-{c}", a + b - c)]


SCENARIOS: dict[str, Scenario] = {
    "market": _market,
    "orchard": _orchard,
    "shelf": _shelf,
    "savings": _savings,
}


STYLES = {
    f"{scenario} {things}": _styles(scenario, rank)
    for scenario in SCENARIOS
    for rank, things in enumerate(THINGS)
}


def sample(rng: random.Random) -> Problem:
    """Draw a scenario and three numbers whose intermediate values are all in 0..99."""
    scenario = rng.choice(list(SCENARIOS))
    name, other = rng.sample(NAMES, 2)
    things = rng.choice(THINGS)
    while True:
        numbers = rng.randint(10, 60), rng.randint(2, 9), rng.randint(2, 9)
        question, steps = SCENARIOS[scenario](name, other, things, *numbers)
        if all(0 <= value <= LARGEST for _, value in steps):
            break
    answer = str(steps[-1][1])
    working = ", ".join(f"{step}={value}" for step, value in steps)
    return Problem(
        unit=f"stories {scenario} {numbers[0]} {numbers[1]} {numbers[2]}",
        kind=f"{scenario} {things}",
        question=question,
        answer=answer,
        completions={
            "worked": f"{working}. #### {answer}",
            "remark": f"{working}. So {answer} {things}. The first number was {numbers[0]}.",
            "direct": f"#### {answer}",
        },
        reference="worked",
    )


WORLD = World(sample, STYLES)
