"""Who guards the guard? Every layer of assurance, counted: `python -m tests.assurance`."""
