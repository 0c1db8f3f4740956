"""How plans, worlds and runs are drawn. Private."""
