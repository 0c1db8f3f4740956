"""Ways to hurt a decision log, and what must hold of it afterwards."""
