"""The blinded audit of extractions: does a rule read the answer that a person reads (Appendix E)?

`changed` finds the responses that two rules read differently, `draw` samples them onto a sheet without arm,
seed, gold or verdict and keeps those in a key, a person fills the sheet in, `read` compares it with the key.
"""
