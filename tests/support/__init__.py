"""Shared by tests: builders, generators and the second model."""
