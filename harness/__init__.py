"""Input and output: JSON, loops, agents, the decision log, replay, the command line."""
