"""Everything that meets the world: wire, loop, decision log, replay, command line."""
