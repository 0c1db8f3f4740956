"""The base of every integration: one guarded session, and the replies to its calls."""
