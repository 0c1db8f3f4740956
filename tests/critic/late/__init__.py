"""Late plans."""
