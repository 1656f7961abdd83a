"""What is private: a record and the slot that holds it; and synthetic worlds that stand in for benchmarks."""
