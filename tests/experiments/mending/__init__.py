"""Stops that a model could mend by itself, and whether what it is told is enough for that."""
