"""`critic loop` and `critic sessions`: parsers, commands, texts."""
