"""Generators of proposals, runs and verdicts."""
