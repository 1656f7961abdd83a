"""What is private: a record, the slot that holds it, and the synthetic worlds that stand in for benchmarks."""
