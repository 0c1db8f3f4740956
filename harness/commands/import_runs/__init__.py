"""`critic import`: parsers, commands, texts."""
