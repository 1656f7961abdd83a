"""Seeds of general-purpose generators neither repeat nor move the coins and the noise.

The examined sequence is drawn without torch, so that a child process costs a fraction of a second.
"""

import hashlib
import os
import random
import subprocess
import sys
from collections.abc import Callable, Sequence

import numpy as np

from promptdp.assurance.verification.row import Claim, Row
from promptdp.privacy.mechanism import Mechanism
from promptdp.privacy.randomness import Randomness
from promptdp.privacy.sampler import poisson_draw

EXAMPLE = Mechanism(1000, 500, 1, 1.0, 1.0, 1e-6)
REPEATED = Claim(
    id="seeds-repeat",
    title="Seeds don't repeat the randomness",
    source="Assumption (A3)",
    claim="Coins and noise differ between two runs whose seeds of random, numpy and torch and whose "
    "PYTHONHASHSEED are equal.",
    method="A thousand coins and a thousand normals from the operating system's source, after equal "
    "seeds: two runs in this process and two in processes of their own. Value: how many repeat an "
    "earlier one.",
)
MOVED = Claim(
    id="seeds-move",
    title="Seeds don't move the randomness",
    source="Assumption (A3)",
    claim="A source of the suite's own key gives the same coins and noise whatever those seeds are.",
    method="The same from a fixed source, after other seeds and in a process with another "
    "PYTHONHASHSEED. Value: how many differ.",
)
CHILD = """
import sys
from promptdp.assurance.verification.seeds import sequence
from promptdp.privacy.randomness import Randomness
print(sequence(Randomness.from_os() if sys.argv[1] == "os" else Randomness.seeded(1), int(sys.argv[2])))
"""


def sequence(randomness: Randomness, seed: int) -> str:
    """The digest of a round's coins and noise, drawn after seeding the process's generators."""
    random.seed(seed)
    np.random.seed(seed)
    if torch := sys.modules.get("torch"):
        torch.manual_seed(seed)
    coins = poisson_draw(EXAMPLE, randomness.stream(1, "coins"))
    noise = randomness.stream(1, "noise").normals(1000)
    return hashlib.sha256(repr(coins).encode() + noise.tobytes()).hexdigest()


def check_seeds(draw: Callable[[Randomness, int], str] = sequence, child: str = CHILD) -> list[Row]:
    """Draw again and again under equal seeds, and from one key under different ones."""
    fresh = [draw(Randomness.from_os(), 0) for _ in range(2)] + [_child(child, "os", 0, 0) for _ in range(2)]
    fixed = [draw(Randomness.seeded(1), 0), draw(Randomness.seeded(1), 1)]
    fixed += [_child(child, "seeded", 0, 0), _child(child, "seeded", 1, 1)]
    return [
        REPEATED.at_most(len(fresh) - len(set(fresh)), 0),
        MOVED.at_most(sum(value != fixed[0] for value in fixed), 0),
    ]


def _child(program: str, source: str, seed: int, hash_seed: int) -> str:
    command: Sequence[str] = [sys.executable, "-c", program, source, str(seed)]
    environment = os.environ | {"PYTHONHASHSEED": str(hash_seed)}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.strip()
