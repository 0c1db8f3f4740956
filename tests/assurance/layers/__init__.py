"""The layers of the assurance, one module each; every one has `run(quick=...)`."""
