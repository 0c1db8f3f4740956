"""Ways to damage a decision log, and what must hold of it afterwards."""
