"""`critic verify`, `critic score`, `critic run`: parsers, commands, texts."""
