"""Tests of the code loop."""
