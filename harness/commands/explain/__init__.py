"""`critic explain`: parsers, commands, texts."""
