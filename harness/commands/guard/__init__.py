"""`critic guard`: parsers, commands, texts."""
