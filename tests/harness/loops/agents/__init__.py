"""Tests of agents, usage and journals."""
