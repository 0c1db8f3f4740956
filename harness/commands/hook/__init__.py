"""`critic hook`: parsers, commands, texts."""
