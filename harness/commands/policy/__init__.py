"""`critic policy` and `critic init`: parsers, commands, texts."""
