"""Small changes of the source, and what notices them."""
