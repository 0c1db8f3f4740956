"""`critic docs`: parsers, commands, texts."""
