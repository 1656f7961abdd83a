"""The hidden fresh randomness of assumption (A3): coins, rollouts and noise from one cryptographic source.

A source holds a 256-bit key from the operating system. Every use names what it is for, and draws from an
AES-256-CTR keystream under a subkey of its own, HMAC-SHA256(key, (round, attempt, purpose, slot)): uses are
computationally independent, and the number of values one of them takes cannot shift another. Keys live in one
process's memory: they are never stored, copied or used by a forked child, and a resumed run starts from a new
one. The generators of torch, numpy and random are never used, so no seed of theirs reaches this module.
"""

import hmac
import json
import os
import secrets
from hashlib import sha256
from operator import index
from typing import Any, NoReturn

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext
from cryptography.hazmat.primitives.ciphers.algorithms import AES256
from cryptography.hazmat.primitives.ciphers.modes import CTR

from promptdp.errors import PromptDPError

_KEY_BYTES = 32


class _Secret:
    """An object that stays in the process that made it: not printed, copied, pickled or used after a fork."""

    __slots__ = ("_process",)

    def __init__(self) -> None:
        self._process = os.getpid()

    def _stay_in_process(self) -> None:
        if os.getpid() != self._process:
            raise PromptDPError("a forked process would repeat its parent's randomness; make a new source")

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("randomness is never stored or copied")

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


class Randomness(_Secret):
    """A source of independent streams, one for each (round, attempt, purpose, slot).

    Make it with `from_os` at every process start, or `seeded` in tests.

    Attributes:
        private: True for a source keyed by the operating system; runs from any other can't be released.
    """

    __slots__ = ("_root", "_used", "private")

    def __init__(self, seed: int | None) -> None:
        super().__init__()
        self.private = seed is None
        key = secrets.token_bytes(_KEY_BYTES) if seed is None else sha256(b"not private %d" % seed).digest()
        self._root = hmac.new(key, digestmod=sha256)
        self._used: set[tuple] = set()

    @classmethod
    def from_os(cls) -> "Randomness":
        """A source keyed with 256 fresh bits from the operating system."""
        return cls(seed=None)

    @classmethod
    def seeded(cls, seed: int) -> "Randomness":
        """A reproducible source for tests and continuous integration: NOT private."""
        return cls(seed)

    @property
    def description(self) -> dict[str, Any]:
        """What a manifest says of this source; data-independent, and silent about the key."""
        return {
            "source": "os" if self.private else "seeded",
            "private": self.private,
            "key_bits": 8 * _KEY_BYTES,
            "backend": "AES-256-CTR, subkeys by HMAC-SHA256",
            "coins": "Poisson sampling: an independent coin per slot, exact integer comparison with m/n",
            "noise": "float64-gaussian",
        }

    def stream(self, round: int, purpose: str, slot: int | None = None, attempt: int = 1) -> "Stream":
        """The stream of one use.

        Args:
            round: t, from 1; 0 for uses before the first round.
            purpose: what the values are for ("coins", "noise", "rollout", ...).
            slot: the slot whose record the values serve, where there is one.
            attempt: the ledger's number of this try at the round, so that a retried round draws afresh.

        Raises:
            PromptDPError: a private source was asked twice for the same use, or is used in a forked process.
        """
        self._stay_in_process()
        use = (index(round), index(attempt), purpose, None if slot is None else index(slot))
        if self.private and use in self._used:
            # The slot is not named: that it was drawn is private.
            raise PromptDPError(
                f"round {round}: randomness for {purpose} was drawn before; start a new attempt"
            )
        self._used.add(use)
        subkey = self._root.copy()
        subkey.update(json.dumps(use).encode())
        return Stream(subkey.digest())


class Stream(_Secret):
    """An endless sequence of random 64-bit words; every call takes the next ones.

    Each kind of value takes one word, integers_below one more for each rejected word.
    """

    __slots__ = ("_keystream",)

    def __init__(self, subkey: bytes) -> None:
        super().__init__()
        # A zero nonce is safe because a subkey serves one stream only.
        self._keystream: CipherContext = Cipher(AES256(subkey), CTR(bytes(16))).encryptor()

    def _words(self, count: int) -> np.ndarray:
        self._stay_in_process()
        return np.frombuffer(self._keystream.update(bytes(8 * count)), dtype="<u8")

    def integers_below(self, bound: int, count: int) -> np.ndarray:
        """`count` exactly uniform integers in [0, bound), int64 (count,).

        Words from the largest multiple of `bound` up are rejected and replaced, so there is no modulo bias.
        """
        if not 1 <= bound <= 2**63:
            raise ValueError("bound must lie in [1, 2^63]")
        last_fair = np.uint64(2**64 - 2**64 % bound - 1)
        words = self._words(count)
        fair = words[words <= last_fair]
        while len(fair) < count:
            words = self._words(count - len(fair))
            fair = np.concatenate([fair, words[words <= last_fair]])
        return (fair % np.uint64(bound)).astype(np.int64)

    def uniforms(self, count: int) -> np.ndarray:
        """`count` uniform multiples of 2^-53 in [0, 1), float64 (count,)."""
        return (self._words(count) >> np.uint64(11)) * 2.0**-53

    def normals(self, count: int) -> np.ndarray:
        """`count` independent standard normals, float64 (count,).

        The inverse distribution function of a uniform in (0, 1/2) with 63 random bits, under a random sign:
        small uniforms keep their relative precision, so the tails (to |z| = 9.2) are accurate too.
        """
        from scipy.special import ndtri  # imported here: drawing coins should not need scipy

        words = self._words(count)
        magnitudes = (words >> np.uint64(1)).astype(np.float64)
        magnitudes += 0.5
        magnitudes *= 2.0**-64
        ndtri(magnitudes, out=magnitudes)
        return np.negative(magnitudes, out=magnitudes, where=(words & np.uint64(1)).astype(bool))

    def seed(self, bits: int = 63) -> int:
        """A uniform integer of `bits` bits (1 to 64), for a backend that only takes seeds."""
        if not 1 <= bits <= 64:
            raise ValueError("bits must lie in [1, 64]")
        return int(self._words(1)[0]) >> (64 - bits)
