"""The generators of plans, their other inputs, and runs. Private."""
