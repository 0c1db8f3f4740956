"""A decision log in SQLite."""
