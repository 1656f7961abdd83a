"""Private reward-driven learning: RLVR and GRPO under prompt-level differential privacy."""

__version__ = "0.1.0"
