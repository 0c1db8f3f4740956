"""Bytes that are not envelopes: how they are generated, and every entry that gets them."""
