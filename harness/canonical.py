"""The public door to the canonical form: one byte form per value, and its SHA-256 digest."""

from evals.canonical import canonical_bytes, canonical_json, digest

__all__ = ["canonical_bytes", "canonical_json", "digest"]
