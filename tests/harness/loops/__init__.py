"""Tests of the revision loops."""
