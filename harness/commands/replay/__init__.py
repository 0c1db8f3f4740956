"""`critic replay`: parsers, commands, texts."""
