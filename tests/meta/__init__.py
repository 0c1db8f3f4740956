"""Tests of the project itself: floors, names, documents."""
