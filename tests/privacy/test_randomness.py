import copy
import hmac
import json
import os
import pickle
import random
import subprocess
import sys
from hashlib import sha256

import numpy as np
import pytest
import torch
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES256
from cryptography.hazmat.primitives.ciphers.modes import ECB
from scipy import stats
from scipy.special import ndtri

from promptdp.errors import PromptDPError
from promptdp.privacy.randomness import Randomness

FALSE_ALARM = 1e-6  # per test, shared among its comparisons


def words(stream, count):
    return [stream.seed(64) for _ in range(count)]


def test_a_stream_is_aes_in_counter_mode_under_its_own_hmac_subkey():
    # Written again from the definitions: SHA-256, HMAC, and single AES blocks of a counter.
    key = sha256(b"not private 7").digest()
    subkey = hmac.digest(key, json.dumps([3, 2, "rollout", 41]).encode(), "sha256")
    encryptor = Cipher(AES256(subkey), ECB()).encryptor()
    blocks = b"".join(encryptor.update(counter.to_bytes(16, "big")) for counter in range(4))
    expected = [int.from_bytes(blocks[i : i + 8], "little") for i in range(0, 64, 8)]
    assert words(Randomness.seeded(7).stream(3, "rollout", slot=41, attempt=2), 8) == expected


def test_sequential_calls_advance_one_stream():
    whole = Randomness.seeded(1).stream(1, "noise").uniforms(10)
    stream = Randomness.seeded(1).stream(1, "noise")
    parts = [stream.uniforms(3), stream.uniforms(0), stream.uniforms(7)]
    assert np.array_equal(np.concatenate(parts), whole)


USES = [
    {"round": t, "purpose": purpose, "slot": slot, "attempt": attempt}
    for t in (1, 2)
    for purpose in ("coins", "noise", "rollout")
    for slot in (None, 0, 1)
    for attempt in (1, 2)
]


def test_streams_of_different_rounds_purposes_slots_and_attempts_are_independent():
    source = Randomness.from_os()
    count = 50_000
    draws = np.stack([source.stream(**use).normals(count) for use in USES])
    assert len(np.unique(draws)) > draws.size - 4  # a chance repeat: once in 10,000 draws
    correlations = np.corrcoef(draws)[np.triu_indices(len(USES), k=1)]
    limit = stats.norm.isf(FALSE_ALARM / 2 / len(correlations))
    assert np.abs(correlations * np.sqrt(count)).max() < limit


def test_two_sources_of_the_same_use_are_independent():
    count = 200_000
    a, b = (Randomness.from_os().stream(1, "noise").normals(count) for _ in range(2))
    assert abs(np.corrcoef(a, b)[0, 1]) * np.sqrt(count) < stats.norm.isf(FALSE_ALARM / 2)
    assert np.intersect1d(a, b).size < 2


def test_successive_values_of_a_stream_are_independent():
    count = 200_000
    values = Randomness.from_os().stream(1, "noise").normals(count)
    lags = (1, 2, 3, 4, 8, 16)
    limit = stats.norm.isf(FALSE_ALARM / 2 / len(lags))
    for lag in lags:
        assert abs(np.mean(values[lag:] * values[:-lag])) * np.sqrt(count) < limit


@pytest.mark.parametrize("bound", [1, 2, 3, 7, 874, 6988, 2**62 + 1])
def test_integers_below_a_bound_are_uniform(bound):
    count = 200_000
    values = Randomness.from_os().stream(1, "coins").integers_below(bound, count)
    assert values.dtype == np.int64 and values.shape == (count,)
    assert values.min() >= 0 and values.max() < bound
    cells = min(bound, 100)
    edges = [bound * i // cells for i in range(cells + 1)]
    observed = np.diff(np.searchsorted(np.sort(values), edges))
    expected = count * np.diff(np.array(edges, dtype=object)).astype(float) / bound
    if cells > 1:
        assert stats.chisquare(observed, expected).pvalue > FALSE_ALARM / 7


class Keystream:
    """A keystream that is a given list of words."""

    def __init__(self, words):
        self.words = list(words)

    def update(self, zeros):
        taken, self.words = self.words[: len(zeros) // 8], self.words[len(zeros) // 8 :]
        return b"".join(word.to_bytes(8, "little") for word in taken)


def stream_of(*words):
    stream = Randomness.seeded(0).stream(1, "test")
    stream._keystream = Keystream(words)
    return stream


def test_words_beyond_the_last_whole_multiple_of_the_bound_are_rejected():
    # 2^64 = 3 * 6148914691236517205 + 1: the largest word alone would favour the residue 0.
    assert stream_of(2**64 - 1, 2**64 - 2, 5).integers_below(3, 2).tolist() == [2, 2]
    assert stream_of(2**64 - 1, 2**64 - 1, 4, 1).integers_below(3, 2).tolist() == [1, 1]
    assert stream_of(2**64 - 1).integers_below(2, 1).tolist() == [1]


def test_uniforms_are_multiples_of_two_to_the_minus_53_below_one():
    assert stream_of(0, 2**11 - 1, 2**11, 2**64 - 1).uniforms(4).tolist() == [0.0, 0.0, 2**-53, 1 - 2**-53]
    values = Randomness.from_os().stream(1, "rollout").uniforms(200_000)
    assert stats.kstest(values, "uniform").pvalue > FALSE_ALARM


def test_normals_reach_into_both_tails_and_are_symmetric():
    extreme = -ndtri(2.0**-65)
    assert stream_of(0, 1, 2**64 - 2, 2**64 - 1).normals(4) == pytest.approx([-extreme, extreme, 0, 0])
    assert 9.1 < extreme < 9.2


def test_a_seed_has_the_bits_it_is_asked_for():
    assert stream_of(2**64 - 1).seed() == 2**63 - 1
    assert stream_of(2**64 - 1).seed(bits=1) == 1
    assert stream_of(2**63 - 1).seed(bits=1) == 0


@pytest.mark.parametrize("bits", [0, 65])
def test_a_seed_of_no_or_too_many_bits_is_refused(bits):
    with pytest.raises(ValueError, match="bits"):
        stream_of(0).seed(bits)


@pytest.mark.parametrize("bound", [0, -1, 2**63 + 1])
def test_a_bound_outside_int64_is_refused(bound):
    with pytest.raises(ValueError, match="bound"):
        stream_of(0).integers_below(bound, 1)


def test_a_private_source_never_gives_the_same_randomness_twice():
    source = Randomness.from_os()
    source.stream(3, "rollout", slot=17)
    source.stream(3, "rollout", slot=17, attempt=2)
    with pytest.raises(PromptDPError, match="drawn before") as refusal:
        source.stream(3, "rollout", slot=np.int64(17))
    assert "17" not in str(refusal.value)  # that slot 17 was drawn is private


def test_a_seeded_source_repeats_itself_and_says_that_it_is_not_private():
    source = Randomness.seeded(5)
    assert words(source.stream(1, "coins"), 4) == words(source.stream(1, "coins"), 4)
    assert words(source.stream(1, "coins"), 4) != words(Randomness.seeded(6).stream(1, "coins"), 4)
    assert not source.private and not source.description["private"]
    assert source.description["source"] == "seeded"


def test_a_manifest_learns_the_backend_and_no_key():
    source = Randomness.from_os()
    assert source.private and source.description["private"]
    assert source.description["key_bits"] == 256
    assert json.loads(json.dumps(source.description)) == Randomness.from_os().description


@pytest.mark.parametrize("make", [Randomness.from_os, lambda: Randomness.from_os().stream(1, "noise")])
@pytest.mark.parametrize(
    "store", [pickle.dumps, copy.copy, copy.deepcopy, lambda secret: secret.__reduce__()]
)
def test_no_state_can_be_stored_or_copied(make, store):
    with pytest.raises(TypeError):
        store(make())


@pytest.mark.parametrize(
    ("secret", "text"),
    [(Randomness.from_os(), "<Randomness>"), (Randomness.from_os().stream(1, "noise"), "<Stream>")],
)
def test_printing_shows_nothing(secret, text):
    assert repr(secret) == str(secret) == text
    assert not hasattr(secret, "__dict__")


def test_a_forked_process_cannot_repeat_its_parents_randomness():
    source = Randomness.from_os()
    stream = source.stream(1, "noise")
    for use in (lambda: source.stream(2, "noise"), lambda: stream.uniforms(1)):
        child = os.fork()
        if not child:
            try:
                use()
            except PromptDPError:
                os._exit(0)
            os._exit(1)
        assert os.waitpid(child, 0)[1] == 0


def seed_everything():
    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)


def test_seeding_the_usual_generators_changes_nothing():
    seeded, private = [], []
    for _ in range(2):
        seed_everything()
        seeded.append(words(Randomness.seeded(1).stream(1, "coins"), 4))
        private.append(words(Randomness.from_os().stream(1, "coins"), 4))
    assert seeded[0] == seeded[1]
    assert private[0] != private[1]


def test_drawing_leaves_the_usual_generators_alone():
    seed_everything()
    before = random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist()
    stream = Randomness.from_os().stream(1, "noise")
    stream.normals(10), stream.uniforms(10), stream.integers_below(7, 10), stream.seed()
    after = random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist()
    assert before == after


def test_the_hash_seed_of_the_process_changes_nothing():
    code = (
        "from promptdp.privacy.randomness import Randomness as R\n"
        "for source in (R.seeded(1), R.from_os()): print(source.stream(1, 'coins', 3).seed(64))"
    )
    outputs = [
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        for hash_seed in ("0", "0", "1")
    ]
    assert len({seeded for seeded, _ in outputs}) == 1
    assert len({private for _, private in outputs}) == 3
