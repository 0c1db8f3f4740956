"""What every integration is built on: one guarded session, and the replies to its calls."""
