"""Experiments that anyone can run again, offline, with the same outcome."""
