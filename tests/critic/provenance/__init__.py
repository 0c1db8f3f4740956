"""Tests of where values come from, and of what that is worth."""
