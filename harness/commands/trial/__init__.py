"""`critic try`: parsers, commands, texts."""
