"""Copies of a log: with some values redacted."""
