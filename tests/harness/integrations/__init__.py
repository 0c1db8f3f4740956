"""Integrations: each with the real library, and without a network."""
