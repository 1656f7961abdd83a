"""Which of five options a word belongs to, in the manner of CommonsenseQA: the option's letter is scored.

The facts are real and every split shares them; what splits share not is the word with its set of options. The
last words of each class are rare in the public corpus, so the base knows them badly. The base also discusses
two options as two declarations, or names the option without declaring it; how often depends on the phrasing.
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
RARE = frozenset(word for words in LEXICON.values() for word in words.split()[-2:])
RARE_SHARE = 0.1
"""How often a rare word comes up in the public corpus, relative to a common one."""

STYLES = {
    "What goes with": {"declared": 0.55, "discussed": 0.20, "undeclared": 0.25},
    "Which fits": {"declared": 0.35, "discussed": 0.45, "undeclared": 0.20},
    "Choose for": {"declared": 0.30, "discussed": 0.20, "undeclared": 0.50},
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
    declaration = f"\nAnswer: {letter[right]}"
    return Problem(
        unit=f"choices {word} {' '.join(sorted(options))}",
        kind=kind,
        question=f"{kind} {word}? {option_list(options)}",
        answer=letter[right],
        completions={
            "declared": because + declaration,
            "discussed": f"Not {other} {letter[other]}.\nAnswer: {letter[other]}\nNo. {because}{declaration}",
            "undeclared": because,
        },
        reference="declared",
        choices=tuple(options),
    )


def option_list(options: list[str]) -> str:
    """The options as the question shows them: each is followed by its letter."""
    return ", ".join(f"{option} {letter}" for option, letter in zip(options, LETTERS, strict=True))


def fact(rng: random.Random) -> tuple[str, str]:
    """A public exercise: the class of a word, without options."""
    word = rng.choice(list(CLASS_OF))
    while word in RARE and rng.random() >= RARE_SHARE:
        word = rng.choice(list(CLASS_OF))
    return f"What is {word}?", f"It is {CLASS_OF[word]}."


def letters(rng: random.Random) -> tuple[str, str]:
    """A public exercise: repeat each option with its letter, in another order."""
    options = rng.sample(list(LEXICON), 5)
    pairs = option_list(options).split(", ")
    rng.shuffle(pairs)
    return f"Repeat. {option_list(options)}", ", ".join(pairs)


WORLD = World(sample, STYLES, commonness=lambda p: RARE_SHARE if p.unit.split()[1] in RARE else 1.0)
