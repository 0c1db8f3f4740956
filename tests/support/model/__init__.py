"""The second statement of the semantics; it shares no code with the engine."""
