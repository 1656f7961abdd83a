"""Paired contrasts between two arms, exact on the lattice of possible differences (section VII-E)."""
