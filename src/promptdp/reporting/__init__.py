"""Contrasts of a study, and the tables and figures of the paper for any study, from self-describing files."""
