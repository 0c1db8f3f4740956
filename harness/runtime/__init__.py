"""The canonical loop and its ports."""
