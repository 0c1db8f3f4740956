"""Replay: the recorded verdicts derived once more, by code that cannot execute a tool."""
