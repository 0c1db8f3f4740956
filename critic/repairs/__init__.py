"""Repairs of a refused plan: which there are, which would help, and how to apply them."""
