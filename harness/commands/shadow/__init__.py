"""`critic shadow`: parsers, commands, texts."""
