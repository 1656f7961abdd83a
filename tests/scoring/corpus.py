"""Texts to score: responses and answers put together from seeds, by mutation and by a grammar."""

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import NamedTuple

from promptdp.scoring.limits import RESPONSE_CHARACTERS

from .cases import CASES
from .hostile import FRAGMENTS, HOSTILE, LONG, POWERS, WRAPPED

SHARED = Path(__file__).resolve().parents[3] / "shared"


class Input(NamedTuple):
    """What a rule is called with, and how it came about."""

    response: str
    gold: str
    capped: bool
    made: str


# -- seeds

ANSWERS = [
    *r"7 -12 0.5 1,234 \frac{3}{7} 2\sqrt{3} 3\pi x^2+1 (1,2) [0,\infty) \{1,2,3\} x=5 45^\circ 20\%".split(),
    *r"\text{(C)} B 101_2 3:4 \$18.50 -\frac{1}{2} 0.1\overline{6} e^{i\pi} \pm\sqrt2 1+2i 8.0".split(),
    r"x \in (-\infty,1)\cup(2,3]",
    r"3\frac{1}{2} \text{ feet}",
    r"\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}",
    "5 or 6",
    r"1 < x \le 3",
    "y = 2x + 1",
]
SENTENCES = [
    "The answer is %s.",
    "Answer: %s",
    r"So it is $\boxed{%s}$.",
    "Therefore, we get $%s$.",
    "#### %s",
    "Hence %s, since the other root is negative.",
    "First add. Then\n\\[ %s \\]\n",
    "It is %s or perhaps %s",
    "Thus there are %s apples (not %s).",
    "The best option is (%s).",
    "Let $n = %s$.\nSo the total is %s dollars",
    "the answer is not %s",
    "%s",
]


def beside(name: str, key: str) -> list[str]:
    """Texts of a file beside the repository; none where it is not there."""
    path = SHARED / name
    if not path.is_file():
        return []
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as stream:
        return [json.loads(line)[key] for line in stream]


# -- answers by a grammar: § is an expression, № a numeral, ¤ a name, and the rest stands for itself

GRAMMAR = {
    "§": [
        *"№ ¤ -§ §+§ §-§ §§ §/§ §^§ (§) |§| §! §% §=§ §<§ §,§ [§,§) (§,§] (§,§,§) §:§ §_№ f(§) {§}".split(),
        *r"§\cdot§ \frac{§}{§} \frac№№ \dfrac{§}{§} §^{§} \sqrt{§} \sqrt[№]{§} \sqrt№ \binom{§}{§}".split(),
        *r"\sin§ \cos(§) \tan^{-1}§ \arctan{§} \ln§ \log_{№}§ \log§ \exp(§) \gcd(§,§) \lcm(§,§)".split(),
        *r"\max(§,§) \lfloor§\rfloor \lceil§\rceil \{§,§\} \{§\} §^\circ \pm§ §\pm§ §\cup§ §\cap§".split(),
        *r"§\setminus§ §\le§<§ §\ne§ ¤\in§ \$§ \overline{¤¤} №.№\overline{№} §_{№} \left(§\right)".split(),
        *r"\text{¤} §\text{ cm} \begin{pmatrix}§&§\\§&§\end{pmatrix} \sum_{¤=№}^{№}§ §\approx§".split(),
        *r"(§)^{№/№} (§)^№ №^{№^№} \mathbb{R} \emptyset §\implies§ \boxed{§} §\,§ §\%".split(),
        r"§\text{ and }§",
        "§ or §",
        "§ and §",
        "№ №/№",
    ],
    "№": [*"0 1 2 3 7 10 12 60 100 997 0.5 3.14 .25 1,000 12,345 1{,}000 1e9 2.50 007".split(), "1 000"],
    "¤": [*r"x y n k a f e i \pi \theta \infty A B x_1 C cm and \alpha T".split()],
}
DEEPEST = 6


def generated(random: Random, symbol: str = "§", depth: int = 0) -> str:
    """An answer of the grammar."""
    if symbol == "§" and depth >= random.randint(0, DEEPEST):
        symbol = random.choice("№№¤")
    form = random.choice(GRAMMAR[symbol])
    return re.sub("[§№¤]", lambda part: generated(random, part[0], depth + 1), form)


# -- mutations of a text, with another at hand

ALIKE = {
    "a": "аα", "e": "е", "x": "х×", "A": "АΑ", "B": "ВΒ", "C": "С", "1": "１١𝟏", "0": "０O", "-": "−–‐",
    "/": "∕⁄", "{": "｛", "}": "｝", "\\": "＼", "(": "（", ")": "）", "|": "∣ǀ", ",": "，‚", ".": "．。",
    " ": "\u00a0\u3000", ":": "：∶", "'": "′’", "$": "＄", "*": "∗·", "<": "‹＜", "=": "＝", "^": "ˆ",
}  # fmt: skip
HIDDEN = [
    "\x00",
    "\ud800",
    "\udfff",
    "\u202e",
    "\u200f",
    "\u200b",
    "\ufeff",
    "\u2028",
    "\x85",
    "\x1b[2J",
    "\r",
]
NESTS = [
    ("(", ")"), ("{", "}"), (r"\boxed{", "}"), (r"\frac{", "}{2}"), (r"\sqrt{", "}"), ("|", "|"),
    (r"\{", r"\}"), ("f(", ")"), ("2^{", "}"), (r"\left(", r"\right)"), (r"\text{", "}"), ("[", ",1)"),
    (r"\begin{pmatrix}", r"\end{pmatrix}"), ("<<", ">>"), ("$", "$"), (r"\sin ", ""), ("x_{", "}"),
    ("-", ""), ("", "!"), ("**", "**"),
]  # fmt: skip
SIZES = ["1e-%d", "10^%d", "0.25^%d", "2^{%d}", "%d!", r"\binom{%d}{60}"]


def cut(random: Random, text: str) -> tuple[int, int]:
    """A stretch of a text."""
    first, last = sorted((random.randint(0, len(text)), random.randint(0, len(text))))
    return first, last


def repeated(random: Random, text: str, other: str) -> str:
    """A stretch many times over, seldom up to the longest text that is read."""
    first, last = cut(random, text)
    longest = RESPONSE_CHARACTERS if random.random() < 0.01 else 2_000
    return text[:last] + text[first:last] * (random.randint(1, longest) // (1 + last - first)) + text[last:]


def spliced(random: Random, text: str, other: str) -> str:
    """The start of one text before the end of another."""
    return text[: random.randint(0, len(text))] + other[random.randint(0, len(other)) :]


def truncated(random: Random, text: str, other: str) -> str:
    """A stretch of a text."""
    first, last = cut(random, text)
    return text[first:last]


def nested(random: Random, text: str, other: str) -> str:
    """A stretch in brackets, seldom deeper than the caps."""
    before, after = random.choice(NESTS)
    times = random.randint(1, 60 if random.random() < 0.1 else 4)
    first, last = cut(random, text)
    return text[:first] + before * times + text[first:last] + after * times + text[last:]


def stuttered(random: Random, text: str, other: str) -> str:
    """Operators and marks doubled."""
    return re.sub(r"[-+*/^_=<>!%,.$|\\]", lambda sign: sign[0] * random.choice((1, 1, 2, 3)), text)


def swapped(random: Random, text: str, other: str) -> str:
    """Brackets changed for others."""
    return re.sub(r"[][(){}]", lambda sign: random.choice((sign[0], *"()[]{}")), text)


def confused(random: Random, text: str, other: str) -> str:
    """Characters changed for others that look the same."""
    return "".join(random.choice(ALIKE[c]) if c in ALIKE and random.random() < 0.2 else c for c in text)


def haunted(random: Random, text: str, other: str) -> str:
    """Characters that nobody sees, or that are none, between the others."""
    at = random.randint(0, len(text))
    return text[:at] + random.choice(HIDDEN) * random.randint(1, 3) + text[at:]


def swollen(random: Random, text: str, other: str) -> str:
    """Numerals with very many digits, or of a very large or small value."""
    digits = "".join(random.choices("0123456789", k=random.choice((20, 200, 998, 1500))))
    sizes = [
        *(digits, f"0.{digits}", f"{digits}.{digits}", f"1/{digits}(", f"{digits}^{{-9}}"),
        *(form % random.randint(1, 9999) for form in SIZES),
    ]
    return re.sub("[0-9]+", lambda _: random.choice(sizes), text, count=random.randint(1, 3))


def towered(random: Random, text: str, other: str) -> str:
    """A tower of exponents, factorials or functions in place of a numeral."""
    height = random.randint(1, 12)
    exponents = [part * height + "9" + end * height for part, end in (("9^{", "}"), ("e^{", "}"), ("9^", ""))]
    functions = [r"\sqrt" * height + "9", r"\ln" * height + "9", "9" + "!" * height]
    return re.sub("[0-9]+", lambda _: random.choice([*exponents, *functions, *POWERS]), text, count=1)


def assembled(random: Random, text: str, other: str) -> str:
    """Fragments put together."""
    return random.choice((" ", "")).join(random.choices(FRAGMENTS, k=random.randint(1, 60)))


MUTATIONS: list[Callable[[Random, str, str], str]] = [
    repeated, spliced, truncated, nested, stuttered, swapped, confused, haunted, swollen, towered, assembled,
]  # fmt: skip


class Corpus:
    """The inputs of a seed by number: each depends on these two, and on the files beside the repository."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.responses = [case[3] for case in CASES]
        self.answers = [*ANSWERS, *FRAGMENTS, *HOSTILE.values(), *POWERS, *(case[2] for case in CASES)]
        for benchmark in ("math", "gsm8k", "csqa", "svamp"):
            self.responses += beside(f"cases/scorer_{benchmark}.jsonl", "response")
            self.answers += beside(f"cases/scorer_{benchmark}.jsonl", "gold")
        for name in ("math_qwen25_1p5b_instruct_20x17", "gsm8k_openai"):
            self.responses += beside(f"data/predictions_{name}.jsonl.gz", "response")
        self.answers += beside("data/math_test.jsonl.gz", "answer")

    def __getitem__(self, number: int) -> Input:
        """One input."""
        random = Random(f"{self.seed} {number}")
        made: list[str] = []
        if random.random() < 0.002:
            made.append("long")
            response, gold = random.choice([*LONG.values()])[:RESPONSE_CHARACTERS], self.answer(random, made)
        elif random.random() < 0.4:
            made.append("response")
            response = self.mutated(random, random.choice(self.responses), made)
            gold = self.answer(random, made)
        else:
            content = self.answer(random, made)
            response = random.choice([*SENTENCES, *WRAPPED.values()]).replace("%s", content)
            other = random.random() < 0.3
            gold = self.answer(random, made) if other else self.mutated(random, content, made)
        return Input(response, gold, random.random() < 0.1, " ".join(made))

    def answer(self, random: Random, made: list[str]) -> str:
        """An answer, given or generated, often mutated."""
        grammar = random.random() < 0.5
        made.append("generated" if grammar else "given")
        text = generated(random) if grammar else random.choice(self.answers)
        return self.mutated(random, text, made) if random.random() < 0.5 else text

    def mutated(self, random: Random, text: str, made: list[str]) -> str:
        """A text mutated up to three times, the names of the mutations noted."""
        for mutation in random.choices(MUTATIONS, k=random.choice((0, 1, 1, 2, 3))):
            made.append(mutation.__name__)
            text = mutation(random, text, random.choice(random.choice((self.responses, self.answers))))
        return text
