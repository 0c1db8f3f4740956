"""Bytes that are not envelopes: how they are made, and every entry they are given to."""
