"""What the Critic costs: `python -m tests.benchmarks`. It measures and reports; it never fails."""
