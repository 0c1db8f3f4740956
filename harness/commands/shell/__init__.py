"""`critic shell`: parsers, commands, texts."""
