"""Four tables of what a log holds, for questions in SQL, and the folder that keeps them."""
