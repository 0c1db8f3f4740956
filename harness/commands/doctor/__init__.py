"""`critic doctor`: parsers, commands, texts."""
