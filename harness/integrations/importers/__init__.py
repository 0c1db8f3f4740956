"""Importers: recorded runs of agents in other formats, read as session events."""
