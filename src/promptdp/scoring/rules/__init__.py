"""The scorers, one module each; the file of a rule and what it imports here are frozen by hash."""
