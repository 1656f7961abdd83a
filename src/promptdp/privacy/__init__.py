"""The private mechanism: all that Theorem 1 of the paper relies on, and the books that show it ran."""
