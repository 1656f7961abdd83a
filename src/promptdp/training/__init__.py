"""Algorithm 1: private training of an adapter, one record at a time, round by round."""

CODE = ("promptdp.training.round", "promptdp.training.methods", "promptdp.policy.local")
"""The modules whose import closure, with the reward scorer's, decides what a run computes."""
