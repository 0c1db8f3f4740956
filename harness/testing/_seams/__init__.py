"""The parts of the contract of integrations. Private: import `harness.testing.seams`."""
