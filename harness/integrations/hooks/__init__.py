"""Hooks of command-line agents: judge each call before it is made, in the dialect of the agent."""
