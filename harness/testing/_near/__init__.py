"""Near misses of what is compared for equality. Private: import `harness.testing.equalities`."""
