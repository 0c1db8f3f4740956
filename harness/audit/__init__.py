"""What an auditor does with a log: prove it, copy it, show it, gate a release by it."""
