"""Tests of repair suggestions."""
