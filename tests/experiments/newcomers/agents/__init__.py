"""Agents with tasks, attacks and careful labels, which no guess was made for."""
