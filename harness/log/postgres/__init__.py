"""A decision log in PostgreSQL."""
