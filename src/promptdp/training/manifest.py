"""The public manifest of a complete run: it holds no clock, no count and nothing else of the records."""

from importlib.metadata import version
from typing import Any

from promptdp.policy.lora import Adapter
from promptdp.privacy.accounting import epsilon_all
from promptdp.privacy.ledger import LedgerSummary
from promptdp.privacy.mechanism import Mechanism
from promptdp.privacy.randomness import Randomness
from promptdp.training.identity import settings_sha256

SCHEMA = "promptdp/run/1"
VERSIONS = ("torch", "transformers", "peft")


def manifest(
    public: dict[str, Any],
    mechanism: Mechanism,
    epsilon: float | None,
    randomness: Randomness,
    adapter: Adapter,
    ledger: LedgerSummary,
    adapter_sha256: str,
) -> dict[str, Any]:
    """What a run says of itself.

    Args:
        public: its public settings (`identity.public_settings`).
        mechanism: its mechanism.
        epsilon: the epsilon of the mechanism's rounds; None for a non-private arm.
        randomness: the source of this process, of the kind of every process of the run.
        adapter: the trained adapter.
        ledger: the closed ledger.
        adapter_sha256: the hash of the released weights' file.
    """
    obstacles = {
        "no noise is added": not mechanism.private,
        "the randomness is seeded": not randomness.private,
        "records share batches": public["isolation"] != "strict",
        "a round failed inside the mechanism": ledger.failed_attempts > 0,
    }
    return public | {
        "schema": SCHEMA,
        "settings_sha256": settings_sha256(public),
        "records": "withheld",
        "accounting": _accounting(mechanism, epsilon, ledger.begun_attempts),
        "randomness": randomness.description | _backend_seeds(adapter),
        "lora": public["lora"] | {"coordinates": adapter.coordinates, "tensors": len(adapter.names)},
        "attempts": ledger.begun_attempts,
        "device": adapter.model.device.type,
        "theta_sha256": adapter.sha256(),
        "adapter_sha256": adapter_sha256,
        "ledger_head": ledger.head,
        "not_releasable": [reason for reason, holds in obstacles.items() if holds],
        "versions": {package: version(package) for package in VERSIONS},
    }


def _accounting(mechanism: Mechanism, epsilon: float | None, begun_attempts: int) -> dict[str, float | None]:
    """Epsilon of the retained rounds, and of every attempt begun (the one to state)."""
    if epsilon is None:
        return {"delta": None, "epsilon_retained": None, "epsilon_all": None}
    more = begun_attempts > mechanism.rounds
    charged = epsilon_all(mechanism, begun_attempts) if more else epsilon
    return {"delta": mechanism.delta, "epsilon_retained": epsilon, "epsilon_all": charged}


def _backend_seeds(adapter: Adapter) -> dict[str, str | None]:
    """Where a backend takes its randomness from a record's stream, and how wide that is."""
    return {
        "rollouts": "one float64 uniform a token from the record's stream of the round",
        "dropout": "32-bit seed from the record's stream of the round" if adapter.dropout else None,
    }
