"""A second opinion on the scorers' verdicts, never the judge: where other software decides otherwise.

The scorers decide by counted work and give the same verdict everywhere. The other software runs under a
clock, in a child that may be killed; what it says is compared and listed, and changes no verdict.
"""
