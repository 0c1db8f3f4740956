"""`critic serve`: parsers, commands, texts."""
