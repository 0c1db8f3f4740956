"""`critic what-if`: parsers, commands, texts."""
