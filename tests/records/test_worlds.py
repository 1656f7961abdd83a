"""The worlds' promises: splits share no unit, references are right, and a seed fixes what is drawn."""

import itertools
import random
import re

import pytest

from promptdp.errors import InputError
from promptdp.records.worlds import TOPICS, WORLDS, draw, split_of
from promptdp.records.worlds.choices import CLASS_OF, LETTERS, LEXICON, RARE
from promptdp.scoring import score

NEEDED = {"public": 3000, "dev": 600, "train": 874, "eval": 1500}


def read_unit(world: str, question: str) -> str:
    """The unit of a problem, read from its question by other means than the world's own."""
    if world == "arithmetic":
        return f"arithmetic {re.search(r'[0-9*+-]+', question)[0]}"
    if world == "choices":
        word, options = re.fullmatch(r"[A-Z][a-z ]+ (\w+)\? (.*)", question).groups()
        return f"choices {word} {' '.join(sorted(option[:-2] for option in options.split(', ')))}"
    mark = {"boxes of": "market", "finds": "orchard", "takes": "shelf", "saves": "savings"}
    (kind,) = [kind for words, kind in mark.items() if words in question]
    return f"stories {kind} {' '.join(re.findall('[0-9]+', question))}"


def solve(world: str, question: str) -> str:
    """The answer of a problem, found from its question by other means than the world's own."""
    _, *parts = read_unit(world, question).split()
    if world == "arithmetic":
        terms = [re.split(r"\*", term) for term in re.findall(r"[+-]?[0-9*]+", parts[0])]
        return str(sum(int(t[0]) * (int(t[1]) if len(t) > 1 else 1) for t in terms))
    if world == "choices":
        (letter,) = re.findall(rf"\b{CLASS_OF[parts[0]]} ([A-E])", question)
        return letter
    a, b, c = map(int, parts[1:])
    return str(
        {"market": a + b * c, "orchard": a + b - c, "shelf": a - b + c, "savings": a + b - c}[parts[0]]
    )


@pytest.fixture(scope="module")
def drawn():
    return {
        world: {split: draw(world, split, count, seed=3) for split, count in NEEDED.items()}
        for world in WORLDS
    }


@pytest.mark.parametrize("world", WORLDS)
def test_no_two_splits_share_a_unit(world, drawn):
    units = {s: {read_unit(world, r.question) for r in records} for s, records in drawn[world].items()}
    assert len(list(itertools.combinations(units, 2))) == 6
    for one, other in itertools.combinations(units, 2):
        assert not units[one] & units[other]
    for split, members in units.items():
        assert {split_of(unit) for unit in members} == {split}


@pytest.mark.parametrize("world", WORLDS)
def test_a_unit_stands_once_in_what_is_drawn(world, drawn):
    for split, records in drawn[world].items():
        assert len({read_unit(world, r.question) for r in records}) == NEEDED[split]
        assert [r.id for r in records] == [f"{world}-{split}-{i:05d}" for i in range(NEEDED[split])]


@pytest.mark.parametrize("world", WORLDS)
def test_the_public_corpus_holds_no_unit_of_another_split(world):
    rng = random.Random(4)
    for _ in range(20_000):
        prompt, _ = TOPICS[world](rng)
        assert split_of(read_unit(world, prompt)) == "public"


@pytest.mark.parametrize("topic", sorted(TOPICS.keys() - WORLDS.keys()))
def test_the_exercises_of_the_public_corpus_hold_no_problem(topic):
    """A unit of choices is a word with its options: an exercise shows a word or options, never both."""
    rng = random.Random(5)
    for _ in range(2000):
        words = set(re.findall(r"\w+", " ".join(TOPICS[topic](rng))))
        assert not words & CLASS_OF.keys() or len(words & LEXICON.keys()) == 1


@pytest.mark.parametrize("world", WORLDS)
def test_the_reference_answer_is_right_and_the_worked_solution_ends_in_the_scored_form(world, drawn):
    ending = {
        "arithmetic": r".*\\boxed\{(\d+)\}\.",
        "stories": r".* #### (\d+)",
        "choices": r"It is \w+ [A-E]\.\nAnswer: ([A-E])",
    }
    for record in drawn[world]["train"]:
        assert record.answer == solve(world, record.question)
        assert re.fullmatch(ending[world], record.solution)[1] == record.answer


SCORED = {
    ("arithmetic", "math_strict"): {"worked, boxed", "direct, boxed"},
    ("arithmetic", "math_robust"): {"worked, boxed", "direct, boxed", "worked, plain", "direct, plain"},
    ("stories", "gsm8k"): {"worked", "direct"},
    ("choices", "csqa_strict"): {"declared", "direct"},
    ("choices", "csqa_final"): {"declared", "direct", "discussed"},
}


@pytest.mark.parametrize(("world", "rule"), SCORED)
def test_the_scorer_credits_the_styles_it_is_meant_to(world, rule):
    """A remark is credited all the same when the number it ends on happens to be the answer."""
    rng = random.Random(8)
    for _ in range(200):
        problem = WORLDS[world].sample(rng)
        credited = {
            style for style, text in problem.completions.items() if score(rule, text, problem.answer).correct
        }
        lucky = {s for s, text in problem.completions.items() if text.endswith(f" was {problem.answer}.")}
        assert credited == SCORED[world, rule] | lucky


@pytest.mark.parametrize("world", WORLDS)
def test_every_style_of_a_kind_is_a_completion_and_the_shares_sum_to_one(world):
    rng = random.Random(6)
    for _ in range(200):
        problem = WORLDS[world].sample(rng)
        shares = WORLDS[world].styles[problem.kind]
        assert shares.keys() <= problem.completions.keys()
        assert sum(shares.values()) == pytest.approx(1)
        assert problem.record("x").solution == problem.completions[problem.reference]


@pytest.mark.parametrize("world", WORLDS)
def test_a_seed_fixes_what_is_drawn_and_another_seed_changes_it(world):
    assert draw(world, "eval", 50, seed=1) == draw(world, "eval", 50, seed=1)
    assert draw(world, "eval", 50, seed=1) != draw(world, "eval", 50, seed=2)


def test_asking_for_more_units_than_a_split_holds_is_bad_input():
    with pytest.raises(InputError, match="stories: its dev split holds about"):
        draw("stories", "dev", 10_000, seed=0)


def test_every_number_on_the_way_is_one_the_tokenizer_keeps_whole(drawn):
    for world in ("arithmetic", "stories"):
        for record in drawn[world]["train"]:
            assert all(int(n) <= 99 for n in re.findall(r"\d+", f"{record.question} {record.solution}"))


def test_an_option_is_followed_by_its_letter_and_one_option_is_right(drawn):
    for record in drawn["choices"]["eval"]:
        assert len(set(record.choices)) == 5 and set(record.choices) <= LEXICON.keys()
        assert record.question.endswith(
            ", ".join(f"{option} {letter}" for option, letter in zip(record.choices, LETTERS, strict=True))
        )


def test_a_word_has_one_class_and_every_class_has_its_rare_words():
    assert len(CLASS_OF) == sum(len(words.split()) for words in LEXICON.values())
    assert {CLASS_OF[word] for word in RARE} == LEXICON.keys()


def test_rare_words_are_rare_in_the_public_corpus_and_not_in_the_splits(drawn):
    rng = random.Random(7)
    public = [TOPICS["choices"](rng)[0] for _ in range(4000)]

    def share(questions):
        return sum(read_unit("choices", q).split()[1] in RARE for q in questions) / len(questions)

    expected = len(RARE) / len(CLASS_OF)
    assert share(public) < expected / 4
    assert share([r.question for r in drawn["choices"]["eval"]]) == pytest.approx(expected, abs=0.05)
