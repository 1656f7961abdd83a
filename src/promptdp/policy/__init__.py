"""The policy: a public base model with a trainable adapter, its rollouts and its log-probabilities."""
