"""Which of five options a word belongs to, in the manner of CommonsenseQA: the option's letter is scored.

The facts are real and every split shares them; what splits share not is the word with its set of options. The
last words of each class are rare in the public corpus, so the base knows them badly. The base also declares
without naming the option first, declares two options, or names one without declaring it; how often depends on
the phrasing. An option is followed by its letter, and a worked answer names the option first: a model this
small finds the letter as what follows the same word further up.
"""

import random

from promptdp.records.worlds.problem import Problem, World

LETTERS = "ABCDE"

LEXICON = {
    "bird": "robin eagle owl crow swan heron finch gull",
    "cloth": "silk wool cotton linen velvet denim satin lace",
    "dance": "waltz tango polka salsa rumba ballet jig samba",
    "fish": "salmon trout tuna cod pike carp herring eel",
    "flower": "rose tulip daisy lily iris poppy orchid violet",
    "game": "chess poker tennis golf cricket hockey rugby darts",
    "gem": "ruby pearl opal jade topaz diamond emerald amber",
    "insect": "moth wasp beetle ant bee fly gnat flea",
    "metal": "iron gold copper silver tin zinc lead nickel",
    "music": "piano violin flute drum harp cello trumpet guitar",
    "spice": "pepper ginger cumin clove thyme basil mint saffron",
    "tree": "oak pine birch maple cedar elm willow ash",
}
"""class -> its words, the rare ones last."""

CLASS_OF = {word: name for name, words in LEXICON.items() for word in words.split()}
RARE = frozenset(word for words in LEXICON.values() for word in words.split()[-3:])
RARE_SHARE = 0.02
"""How often a rare word comes up in the public corpus, relative to a common one."""

STYLES = {
    "What goes with": {"declared": 0.55, "direct": 0.15, "discussed": 0.15, "undeclared": 0.15},
    "Which suits": {"declared": 0.50, "direct": 0.20, "discussed": 0.10, "undeclared": 0.20},
    "Find for": {"declared": 0.45, "direct": 0.25, "discussed": 0.10, "undeclared": 0.20},
    "Pick for": {"declared": 0.30, "direct": 0.55, "discussed": 0.05, "undeclared": 0.10},
    "Which fits": {"declared": 0.25, "direct": 0.10, "discussed": 0.60, "undeclared": 0.05},
    "Choose for": {"declared": 0.30, "direct": 0.10, "discussed": 0.10, "undeclared": 0.50},
}


def sample(rng: random.Random) -> Problem:
    """Draw a word, four classes it does not belong to, and the order of the five options."""
    kind = rng.choice(list(STYLES))
    word = rng.choice(list(CLASS_OF))
    right = CLASS_OF[word]
    options = [right, *rng.sample([name for name in LEXICON if name != right], 4)]
    rng.shuffle(options)
    other = rng.choice([option for option in options if option != right])
    letter = dict(zip(options, LETTERS, strict=True))
    because = f"It is {right} {letter[right]}."
    declaration = f"Answer: {letter[right]}"
    return Problem(
        unit=f"choices {word} {' '.join(sorted(options))}",
        kind=kind,
        question=f"{kind} {word}? {option_list(options)}",
        answer=letter[right],
        completions={
            "declared": f"{because}\n{declaration}",
            "direct": declaration,
            "discussed": f"Answer: {letter[other]}\nNo. {because}\n{declaration}",
            "undeclared": because,
        },
        reference="declared",
        choices=tuple(options),
    )


def option_list(options: list[str]) -> str:
    """The options as the question shows them: each is followed by its letter."""
    return ", ".join(f"{option} {letter}" for option, letter in zip(options, LETTERS, strict=False))


def fact(rng: random.Random) -> tuple[str, str]:
    """A public exercise: the class of a word, without options."""
    word = rng.choice(list(CLASS_OF))
    while word in RARE and rng.random() >= RARE_SHARE:
        word = rng.choice(list(CLASS_OF))
    return f"What is {word}?", f"It is {CLASS_OF[word]}."


def letters(rng: random.Random) -> tuple[str, str]:
    """A public exercise: repeat two to five options with their letters, in any order and more than once."""
    shown = option_list(rng.sample(list(LEXICON), rng.randint(2, 5)))
    return f"Repeat. {shown}", ", ".join(rng.choices(shown.split(", "), k=12))


WORLD = World(sample, STYLES, commonness=lambda p: RARE_SHARE if p.unit.split()[1] in RARE else 1.0)
