"""`critic schema`: parsers, commands, texts."""
