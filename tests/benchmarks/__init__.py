"""The cost of the Critic: `python -m tests.benchmarks`. It measures and reports; it never fails."""
