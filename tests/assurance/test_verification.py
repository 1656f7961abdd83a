"""Every check of the suite passes on the code as it is and fails on a double that breaks what it checks."""

import random

import numpy as np
import pytest
import torch

from promptdp.assurance.verification import (
    accountant,
    chance,
    coins,
    empty,
    equivalence,
    gradients,
    groups,
    isolation,
    noise,
    rounds,
    seeds,
    sensitivity,
)
from promptdp.assurance.verification.binary64 import Binary64
from promptdp.assurance.verification.subject import MixedReward, Subject
from promptdp.policy import decode
from promptdp.policy.base import load_base
from promptdp.policy.logprob import shared_prefix_logprobs
from promptdp.privacy.accounting import epsilon_rdp
from promptdp.privacy.clip import clip
from promptdp.privacy.mechanism import Mechanism
from promptdp.privacy.noise import gaussian_noise
from promptdp.privacy.randomness import Randomness
from promptdp.study import Study
from promptdp.training import advantages as advantages_module
from promptdp.training import objectives, round
from tests.tiny import tiny_folder, tiny_folders  # noqa: F401
from tests.training.conftest import small_study

torch.set_num_threads(1)
MECHANISM = Mechanism(40, 8, 4, 0.9, 0.3, 1e-3)
TENSORS = [64, 96, 640, 800]


@pytest.fixture(scope="module")
def study():
    given = small_study().model_dump()
    given["benchmarks"]["sums"] |= {"epsilon": 1.0}  # more noise is calibrated faster
    return Study.model_validate(given | {"rollouts": {"samples": 4, "temperature": 1.0}})


@pytest.fixture(scope="module")
def subject(study, tiny_folder):  # noqa: F811
    return Subject(study, load_base(tiny_folder))


@pytest.fixture
def in_binary64(study, tiny_folder):  # noqa: F811
    """Runs a check on the base in binary64 throughout."""

    def run(check, *arguments):
        with Binary64():
            return check(Subject(study, load_base(tiny_folder, "float64")), *arguments)

    return run


def verdict(rows):
    """Whether any of the rows fails; each must have judged something."""
    rows = rows if isinstance(rows, list) else [rows]
    assert rows and {row.verdict for row in rows} <= {"pass", "fail"}
    return "fail" if any(row.verdict == "fail" for row in rows) else "pass"


# --- sensitivity ---


def by_halves(gradient, clipping_norm):
    return torch.cat([clip(part, clipping_norm) for part in gradient.chunk(2)])


def in_single_precision(gradient, clipping_norm):
    return clip(gradient.float(), clipping_norm).float().double() * (1 + 1e-7)


CLIPS = {
    "clips each chunk": by_halves,
    "doesn't clip": lambda gradient, clipping_norm: gradient.double(),
    "clips each coordinate": lambda gradient, clipping_norm: gradient.double().clamp(-0.7, 0.7),
    "drops what is too long": lambda g, c: g.double() if g.norm() <= c else torch.zeros_like(g).double(),
    "rounds to float32": in_single_precision,
}


def test_the_sensitivity_is_the_clipping_norm_in_every_number_format(subject, in_binary64):
    own = sensitivity.check_sensitivity(subject, sensitivity.CLAIM.on("own"))
    paper = in_binary64(sensitivity.check_sensitivity, sensitivity.CLAIM, sensitivity.PAPERS_NORM)
    assert verdict([own, paper]) == "pass" and own.id == "sensitivity-own"


@pytest.mark.parametrize("name", CLIPS)
def test_the_sensitivity_check_fails_on_a_clip_that(name, subject, monkeypatch):
    monkeypatch.setattr(round, "clip", CLIPS[name])
    row = sensitivity.check_sensitivity(subject, sensitivity.CLAIM, sensitivity.PAPERS_NORM)
    assert verdict(row) == "fail"


# --- equivalence ---


def test_a_round_without_privacy_is_a_flat_step(in_binary64):
    assert verdict(in_binary64(equivalence.check_equivalence)) == "pass"


def summed_loss(logprobs, reference, advantage, kl_weight):
    return len(logprobs) / 5 * objectives_completion_loss(logprobs, reference, advantage, kl_weight)


objectives_completion_loss = objectives.completion_loss


def test_the_equivalence_check_fails_on_a_sum_over_tokens(in_binary64, monkeypatch):
    monkeypatch.setattr(objectives, "completion_loss", summed_loss)
    assert verdict(in_binary64(equivalence.check_equivalence)) == "fail"


def test_the_equivalence_check_fails_on_another_regulariser(in_binary64, monkeypatch):
    monkeypatch.setattr(advantages_module, "REGULARISER", 1.1e-4)
    assert verdict(in_binary64(equivalence.check_equivalence)) == "fail"


def test_the_equivalence_check_fails_on_a_realised_divisor(in_binary64, monkeypatch):
    monkeypatch.setattr(Mechanism, "divisor", property(lambda self: self.expected + 1))
    assert verdict(in_binary64(equivalence.check_equivalence)) == "fail"


def test_binary64_leaves_no_float32_in_a_model(in_binary64):
    def dtypes(double):
        trial = double.trial("sums")
        example = trial.examples(1)[0]
        logprobs = trial.policy.logprobs(trial.policy.prompt(example.record), example.completions)
        return {u.dtype for u in logprobs} | {example.gradient.dtype}

    assert in_binary64(dtypes) == {torch.float64}
    # Rounding of float32 anywhere inside would keep the two ways of scoring 1e-7 apart.
    row = in_binary64(gradients.check_fast, gradients.FAST, gradients.DOUBLE_TOLERANCE)
    assert verdict(row) == "pass" and row.measured < 1e-12


# --- coins ---


def shuffled(mechanism, stream):
    return random.sample(range(mechanism.slots), mechanism.expected)


def at_rate(factor):
    def draw(mechanism, stream):
        return np.flatnonzero(stream.uniforms(mechanism.slots) < factor * mechanism.sampling_rate).tolist()

    return draw


def one_coin_for_all(mechanism, stream):
    return list(range(mechanism.slots)) if stream.uniforms(1)[0] < mechanism.sampling_rate else []


def one_coin_for_pairs(mechanism, stream):
    coins = stream.uniforms(mechanism.slots // 2).repeat(2) < mechanism.sampling_rate
    return np.flatnonzero(coins).tolist()


def same_in_every_round(mechanism, stream):
    return at_rate(1.0)(mechanism, Randomness.seeded(1).stream(1, "coins"))


def without_the_last_slot(mechanism, stream):
    return [slot for slot in at_rate(1.0)(mechanism, stream) if slot != mechanism.slots - 1]


def test_the_coins_are_independent_and_exact():
    assert verdict([*coins.check_six_slots(), coins.check_own_coins([MECHANISM])]) == "pass"


@pytest.mark.parametrize(
    "draw",
    [
        shuffled,
        at_rate(1.1),
        at_rate(0.9),
        one_coin_for_all,
        one_coin_for_pairs,
        same_in_every_round,
        without_the_last_slot,
    ],
)
def test_the_exact_coin_tests_fail_on_a_sampler_that_is(draw):
    assert verdict(coins.check_own_coins([MECHANISM], draw)) == "fail"


@pytest.mark.parametrize("draw", [shuffled, at_rate(1.1), one_coin_for_all, same_in_every_round])
def test_the_papers_coin_tests_fail_on_a_sampler_that_is(draw):
    assert verdict(coins.check_six_slots(draw)) == "fail"


# --- isolation ---


def test_no_record_knows_its_company(subject):
    rows = [
        isolation.check_rewards(subject),
        isolation.check_companies(subject),
        isolation.check_strict(subject),
    ]
    assert verdict(rows) == "pass"


def running_baseline(monkeypatch):
    """Rewards lose the mean of all rewards seen so far: a statistic that all records share."""
    given, seen = objectives._rewards, []

    def rewards(*args):
        seen.extend(own := given(*args))
        return [value - 0.5 * sum(seen) / len(seen) for value in own] if own else own

    shifted = lambda kind, values, stream: torch.tensor(values, dtype=torch.float64)  # noqa: E731
    monkeypatch.setattr(objectives, "_rewards", rewards)
    monkeypatch.setattr(objectives, "advantages", shifted)


def couple_batches(monkeypatch):
    """All records are decoded in one batch, where each row's logits lean on the batch's mean."""
    forward = decode.CompactModel.forward

    def coupled(self, ids, cache, rotation):
        logits = forward(self, ids, cache, rotation)
        return logits + 0.1 * logits.mean(0)

    monkeypatch.setattr(decode.CompactModel, "forward", coupled)


def test_the_isolation_checks_fail_on_an_objective_that_reads_a_global(subject, monkeypatch):
    running_baseline(monkeypatch)
    assert verdict(isolation.check_rewards(subject)) == "fail"
    assert verdict(isolation.check_companies(subject)) == "fail"
    assert verdict(isolation.check_strict(subject)) == "fail"


def test_the_isolation_checks_fail_on_decoding_that_couples_records(subject, monkeypatch):
    couple_batches(monkeypatch)
    trial = Subject.trial
    monkeypatch.setattr(
        Subject, "trial", lambda *args, **kwargs: trial(*args, **kwargs | {"isolation": "packed"})
    )
    assert verdict(isolation.check_companies(subject)) == "fail"
    assert verdict(isolation.check_strict(subject)) == "fail"


def test_the_packed_row_reports_a_coupling_and_judges_nothing(subject, monkeypatch):
    before = isolation.report_packed(subject)
    couple_batches(monkeypatch)
    after = isolation.report_packed(subject)
    assert before.verdict == after.verdict == "measured"
    assert before.measured.startswith("0 of 12") and not after.measured.startswith("0 of 12")


def test_the_reward_of_the_suite_runs_the_verifier_and_mixes_groups():
    asked = []

    def verifier(*, response, reference, capped):
        asked.append(response)
        return None if response == "?" else 1.0

    reward = MixedReward(verifier)
    values = [reward(response=text, reference="", capped=False) for text in ("ab", "abc", "?")]
    assert values == [1.0, 0.0, None] and asked == ["ab", "abc", "?"]
    reward.inverted = True
    assert reward(response="ab", reference="", capped=False) == 0.0


# --- groups ---


def with_residue(kind, rewards, stream):
    """Equation (2) without the rule for equal rewards."""
    values = torch.tensor(rewards, dtype=torch.float64)
    return (values - values.mean()) / (values.std(correction=1) + 1e-4)


def test_groups_with_equal_rewards_are_kept(subject):
    assert verdict([groups.check_advantages(), *groups.check_constant_groups(subject)]) == "pass"


def test_the_advantage_check_fails_where_rounding_leaves_a_residue():
    assert verdict(groups.check_advantages(with_residue)) == "fail"


def test_the_group_checks_fail_on_an_objective_that_drops_groups_with_equal_rewards(subject, monkeypatch):
    given = objectives._rewards

    def dropping(*args):
        rewards = given(*args)
        return [] if len(set(rewards)) == 1 else rewards

    monkeypatch.setattr(objectives, "_rewards", dropping)
    assert [row.verdict for row in groups.check_constant_groups(subject)] == ["fail", "fail"]


def test_the_gradient_row_fails_where_equal_rewards_still_push(subject, monkeypatch):
    monkeypatch.setattr(objectives, "advantages", lambda kind, values, stream: torch.tensor(values))
    assert groups.check_constant_groups(subject)[0].verdict == "fail"


def test_the_retention_row_fails_on_a_round_that_scales_groups_down(subject, monkeypatch):
    monkeypatch.setattr(round, "clip", lambda gradient, norm: clip(gradient, norm) / 2)
    assert [row.verdict for row in groups.check_constant_groups(subject)] == ["pass", "fail"]


# --- chunks, and the two ways of scoring ---


def chunk_rows(subject, tolerance=gradients.SINGLE_TOLERANCE):
    return gradients.check_chunks_by_norm(subject, gradients.CHUNKED_OWN, gradients.FLIPS, tolerance)


def test_chunks_change_a_gradient_by_rounding_alone(subject, in_binary64):
    assert verdict(in_binary64(gradients.check_chunks)) == "pass"
    chunks, flips = chunk_rows(subject)
    assert chunks.verdict == "pass" and flips.verdict == "measured"


def clip_each_chunk(total, gradient):
    clipped = clip(gradient, 0.05)
    return clipped if total is None else total + clipped


def test_the_chunk_checks_fail_on_a_clip_within_the_chunks(subject, in_binary64, monkeypatch):
    monkeypatch.setattr(objectives, "_add", clip_each_chunk)
    assert verdict(in_binary64(gradients.check_chunks)) == "fail"
    assert chunk_rows(subject)[0].verdict == "fail"


def test_the_chunk_checks_fail_where_the_last_chunk_is_lost(subject, in_binary64, monkeypatch):
    whole = objectives.Policy.chunks
    monkeypatch.setattr(
        objectives.Policy, "chunks", lambda self, size: (pieces := list(whole(self, size)))[:-1] or pieces
    )
    assert verdict(in_binary64(gradients.check_chunks)) == "fail"


def test_flipped_clip_decisions_are_counted(subject, monkeypatch):
    monkeypatch.setattr(
        objectives, "_add", lambda total, gradient: gradient if total is None else 0 * gradient
    )
    flips = chunk_rows(subject, None)[1]
    assert int(flips.measured.split()[0]) > 0


def test_both_ways_of_scoring_give_one_gradient(subject):
    assert verdict(gradients.check_fast(subject, gradients.FAST, gradients.SINGLE_TOLERANCE)) == "pass"


def test_the_scoring_check_fails_on_another_temperature(subject, monkeypatch):
    tempered = lambda model, prompt, y: shared_prefix_logprobs(model, prompt, y, 1.01)  # noqa: E731
    monkeypatch.setattr(gradients, "shared_prefix_logprobs", tempered)
    assert verdict(gradients.check_fast(subject, gradients.FAST, gradients.SINGLE_TOLERANCE)) == "fail"


# --- the accountant ---


@pytest.fixture(scope="module")
def mechanisms(study):
    return accountant.study_mechanisms(study)


def test_the_accountant_gives_the_published_value_and_meets_the_studys_budgets(study, mechanisms):
    assert len(mechanisms) == 1 and {m.clipping_norm for m in mechanisms.values()} == {0.1}
    assert verdict(accountant.check_accountant(study, mechanisms)) == "pass"


@pytest.mark.parametrize(
    ("epsilon", "failing"),
    [
        (lambda *event: epsilon_rdp(*event)[0], {"accountant-reference", "accountant-budgets"}),
        (lambda *event: 0.97 * accountant.epsilon_pld(*event), {"accountant-reference", "accountant-second"}),
        (lambda *event: 1.5 * accountant.epsilon_pld(*event), {"accountant-renyi", "accountant-second"}),
    ],
)
def test_the_accountant_rows_fail_on_another_epsilon(study, mechanisms, epsilon, failing):
    rows = accountant.check_accountant(study, mechanisms, epsilon)
    assert failing <= {row.id for row in rows if row.verdict == "fail"}


def test_the_budget_row_fails_on_noise_that_is_too_small(study, mechanisms):
    quieter = {
        name: Mechanism(m.slots, m.expected, m.rounds, 0.9 * m.noise_multiplier, m.clipping_norm, m.delta)
        for name, m in mechanisms.items()
    }
    rows = accountant.check_accountant(study, quieter)
    assert {row.id for row in rows if row.verdict == "fail"} == {"accountant-budgets"}


# --- noise ---


@pytest.fixture
def small_paper(monkeypatch):
    """The draw of the paper's size is a matter of seconds; a smaller one shows the same faults."""
    monkeypatch.setattr(noise, "PAPERS_COORDINATES", 200_000)


def noise_rows(mutant=None, monkeypatch=None):
    if mutant:
        monkeypatch.setattr(round, "gaussian_noise", mutant)
    return {row.id: row.verdict for row in noise.check_noise([MECHANISM], TENSORS)}


def test_the_noise_of_the_papers_size_has_the_right_scale_and_law():
    assert set(noise_rows().values()) == {"pass"}


def scaled(factor):
    return lambda mechanism, p, stream: factor * gaussian_noise(mechanism, p, stream)


def uniform(mechanism, p, stream):
    return torch.from_numpy((stream.uniforms(p) - 0.5) * 12**0.5) * mechanism.noise_std


def smooth(mechanism, p, stream):
    z = gaussian_noise(mechanism, p + 1, stream)
    return (z[1:] + z[:-1]) / 2**0.5


def one_tensor_quiet(mechanism, p, stream):
    z = gaussian_noise(mechanism, p, stream)
    z[64:160] *= 0.3
    return z


def seeded_by_the_round(mechanism, p, stream):
    return mechanism.noise_std * torch.randn(
        p, dtype=torch.float64, generator=torch.Generator().manual_seed(1)
    )


def tiled(mechanism, p, stream):
    half = gaussian_noise(mechanism, (p + 1) // 2, stream)
    return torch.cat([half, half])[:p]


@pytest.mark.parametrize(
    ("mutant", "failing"),
    [
        (scaled(2 / 3), "noise-full-size"),
        (scaled(3 / 2), "noise-scale"),
        (scaled(1.01), "noise-full-size"),
        (uniform, "noise-law"),
        (smooth, "noise-independence"),
        (one_tensor_quiet, "noise-scale"),
        (seeded_by_the_round, "noise-repeats"),
        (seeded_by_the_round, "noise-independence"),
        (tiled, "noise-repeats"),
        (tiled, "noise-independence"),
    ],
)
def test_the_noise_rows_fail_on_noise_that_is(mutant, failing, small_paper, monkeypatch):
    assert noise_rows(mutant, monkeypatch)[failing] == "fail"


def test_the_power_row_fails_where_a_test_sees_nothing(small_paper, monkeypatch):
    monkeypatch.setattr(noise, "normal_p", lambda values: 0.5)
    assert noise_rows()["noise-power"] == "fail"


def test_a_wrong_noise_multiplier_inside_the_mechanism_is_seen(small_paper, monkeypatch):
    monkeypatch.setattr(Mechanism, "noise_std", property(lambda self: self.noise_multiplier))
    assert noise_rows()["noise-scale"] == "fail"


# --- seeds ---


def from_numpy(randomness, seed):
    np.random.seed(seed)
    return str(np.random.rand())


def test_no_seed_repeats_or_moves_the_randomness():
    assert verdict(seeds.check_seeds()) == "pass"


def test_the_seed_rows_fail_on_coins_from_numpys_generator():
    assert [row.verdict for row in seeds.check_seeds(from_numpy)] == ["fail", "fail"]


def test_the_seed_rows_fail_on_randomness_from_python_hashes():
    repeating = 'print(hash("a"))'
    assert [row.verdict for row in seeds.check_seeds(child=repeating)] == ["fail", "fail"]


def from_torch(mechanism, p, stream):
    return mechanism.noise_std * torch.randn(p, dtype=torch.float64)


def coins_from_numpy(mechanism, stream):
    return np.flatnonzero(np.random.rand(mechanism.slots) < 0.5).tolist()


def test_an_engine_that_seeds_the_process_moves_neither_coins_nor_noise():
    assert verdict(noise.check_engine()) == "pass"


@pytest.mark.parametrize(
    ("drawn", "double"), [("gaussian_noise", from_torch), ("poisson_draw", coins_from_numpy)]
)
def test_the_engine_row_fails_on_draws_from_the_processs_generators(drawn, double, monkeypatch):
    monkeypatch.setattr(round, drawn, double)
    assert verdict(noise.check_engine()) == "fail"


# --- empty rounds and the divisor ---


def test_an_empty_round_moves_every_coordinate_and_the_divisor_is_public(subject):
    assert verdict([empty.check_empty_round(subject, [MECHANISM]), empty.check_divisor()]) == "pass"


def test_the_empty_round_row_fails_on_a_trainer_that_skips_it(subject, monkeypatch):
    monkeypatch.setattr(empty, "private_round", lambda *args: None)
    assert verdict(empty.check_empty_round(subject, [MECHANISM])) == "fail"


def test_the_empty_round_row_fails_on_noise_over_a_part(subject, monkeypatch):
    def part(mechanism, p, stream):
        z = gaussian_noise(mechanism, p, stream)
        z[:64] = 0
        return z

    monkeypatch.setattr(round, "gaussian_noise", part)
    assert verdict(empty.check_empty_round(subject, [MECHANISM])) == "fail"


def test_the_divisor_row_fails_on_the_realised_batch(monkeypatch):
    clipped = []
    monkeypatch.setattr(round, "clip", lambda g, c: (clipped.append(g), clip(g, c))[1])
    monkeypatch.setattr(Mechanism, "divisor", property(lambda self: len(clipped)))
    assert verdict(empty.check_divisor()) == "fail"


# --- chance ---


@pytest.mark.parametrize("successes", [0, 3, 10])
def test_binomial_p_values_are_never_below_those_of_scipy(successes):
    from scipy.stats import binom

    lower, upper = binom.cdf(successes, 10, 0.3), binom.sf(successes - 1, 10, 0.3)
    assert float(chance.binomial_p(successes, 10, 0.3)) == pytest.approx(min(1, 2 * min(lower, upper)))


def test_p_values_of_right_draws_are_above_their_level_as_often_as_it_says():
    drawn = [chance.scale_p(Randomness.seeded(i).stream(1, "z").normals(50)) for i in range(500)]
    assert np.mean(np.array(drawn) < 0.1) == pytest.approx(0.1, abs=0.06)


def test_rounds_hand_out_what_they_are_given():
    gradients_of = [torch.tensor([3.0, 4.0]), torch.tensor([0.1, 0.0])]
    total = rounds.clipped_sum(gradients_of, 3, 1.0)
    torch.testing.assert_close(total, torch.tensor([0.7, 0.8], dtype=torch.float64))
