"""What a curator can state about the runs of a study, and what a stranger can recheck."""
