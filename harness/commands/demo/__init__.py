"""`critic demo`: parsers, commands, texts."""
