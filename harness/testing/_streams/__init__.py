"""The laws of guards on streams of events. Private: import `harness.testing.laws`."""
