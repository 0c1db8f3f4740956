"""The work of an auditor on a log: prove it, copy it, show it, gate a release by it."""
