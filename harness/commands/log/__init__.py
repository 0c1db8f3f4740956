"""`critic log`: parsers, commands, texts."""
