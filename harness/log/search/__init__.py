"""Search a decision log: list, count, query its index."""
