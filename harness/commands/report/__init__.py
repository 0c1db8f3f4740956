"""`critic report`: parsers, commands, texts."""
