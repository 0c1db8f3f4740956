"""`critic mcp` and `critic mcp-proxy`: parsers, commands, texts."""
