"""Lines in real shells: a jail of stubs, lines to draw, what was foreseen."""
