"""All layers of assurance, with figures: `python -m tests.assurance`."""
