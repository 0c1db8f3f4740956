"""Recorded sessions through the real guard: what it stops, what it asks, what it refuses."""
