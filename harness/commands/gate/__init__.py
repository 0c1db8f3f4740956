"""`critic gate`: parsers, commands, texts."""
