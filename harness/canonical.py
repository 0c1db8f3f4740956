"""Canonical JSON (RFC 8785) and the SHA-256 digest of envelopes: one byte form for one value."""

from evals.canonical_json import canonical_bytes, canonical_json, digest

__all__ = ["canonical_bytes", "canonical_json", "digest"]
