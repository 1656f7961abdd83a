"""The accountant against a published value, a second accountant, and the budgets that the study asks for."""

from collections.abc import Callable, Mapping

from promptdp.assurance.verification.row import Claim, Row
from promptdp.privacy.accounting import calibrate, epsilon_pld, epsilon_rdp
from promptdp.privacy.bracket import bracket
from promptdp.privacy.mechanism import Mechanism
from promptdp.study import Study

Epsilon = Callable[[int, int, int, float, float], float]
REFERENCE, REFERENCE_TOLERANCE = 3.77, 3.2e-4
EXTERNAL = Claim(
    id="accountant-reference",
    title="External accountant",
    source="Appendix B; Section VI-C",
    claim="At q = 0.1, noise multiplier 3.0, 512 rounds and delta 1e-6 the accountant gives the value "
    "3.77 that JAX-Privacy publishes.",
    method="The production accountant. Value: the absolute difference.",
)
BUDGETS = Claim(
    id="accountant-budgets",
    title="Budgets of the study",
    source="Section VI-C; equation (6)",
    claim="The noise that is calibrated for a budget spends no more than it.",
    method="Every mechanism of the study is calibrated and accounted anew. Value: the largest epsilon "
    "over its target (1 where the study gives the noise, not the budget).",
)
SECOND = Claim(
    id="accountant-second",
    title="A second accountant",
    source="Appendix A-F",
    claim="The reported epsilon lies between the rigorous bounds of an accountant that shares no code "
    "with it.",
    method="The reference mechanism and every mechanism of the study, by our own discretised "
    "convolution rounded down and up. Value: how many lie outside.",
)
RENYI = Claim(
    id="accountant-renyi",
    title="Renyi accounting",
    source="Appendix A-F",
    claim="The Renyi value is never below the reported one, which is the tighter bound.",
    method="The same mechanisms by Opacus. Value: the smallest ratio of the Renyi epsilon to the "
    "reported one.",
)


def study_mechanisms(study: Study) -> dict[str, Mechanism]:
    """The mechanism of every private arm by name and clipping norm, its noise calibrated anew."""
    noise: dict[str, float] = {}
    found: dict[str, Mechanism] = {}
    for benchmark, arm, _ in study.runs():
        settings = study.run_settings(benchmark, arm)
        if not settings.private:
            continue
        assert settings.clipping_norm is not None, "the study's types refuse a private arm without it"
        given = settings.noise_multiplier
        if given is None and settings.mechanism_name not in noise:
            assert settings.epsilon is not None
            noise[settings.mechanism_name] = calibrate(
                settings.slots, settings.expected, settings.rounds, settings.epsilon, settings.delta
            ).noise_multiplier
        found[f"{settings.mechanism_name}, C {settings.clipping_norm:.6g}"] = Mechanism(
            settings.slots,
            settings.expected,
            settings.rounds,
            noise[settings.mechanism_name] if given is None else given,
            settings.clipping_norm,
            settings.delta,
        )
    return found


def check_accountant(
    study: Study, mechanisms: Mapping[str, Mechanism], epsilon: Epsilon = epsilon_pld
) -> list[Row]:
    """The published value, the study's budgets, the second accountant and the Renyi value."""
    reference = (10, 1, 512, 3.0, 1e-6)
    targets = {
        settings.mechanism_name: settings.epsilon
        for settings in (study.run_settings(benchmark, arm) for benchmark, arm, _ in study.runs())
    }
    accounted = {"reference": reference} | {
        name.partition(",")[0]: (m.slots, m.expected, m.rounds, m.noise_multiplier, m.delta)
        for name, m in mechanisms.items()
    }
    spent = {name: epsilon(*parameters) for name, parameters in accounted.items()}
    shares = [spent[name] / target for name in spent if (target := targets.get(name)) is not None]
    outside = sum(not _inside(spent[name], *accounted[name]) for name in spent)
    ratios = [epsilon_rdp(*accounted[name])[0] / spent[name] for name in spent]
    return [
        EXTERNAL.at_most(abs(spent["reference"] - REFERENCE), REFERENCE_TOLERANCE),
        BUDGETS.at_most(max(shares, default=1.0), 1),
        SECOND.at_most(outside, 0),
        RENYI.at_least(min(ratios), 1),
    ]


def _inside(value: float, slots: int, expected: int, rounds: int, sigma: float, delta: float) -> bool:
    low, high = bracket([(slots, expected, rounds, sigma)], delta)
    return low <= value <= high
