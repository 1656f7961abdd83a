"""The verification suite of Appendix B: every property the proof reads, measured on the code that runs.

Each module holds one group of checks. A check runs the production round, objectives, engine or accountant on
public records and returns rows: what is claimed, how it was measured, the tolerance, the value.
"""
