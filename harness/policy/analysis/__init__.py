"""Analyses of a policy: lint it, compare two, derive one. The guard needs none of them."""
