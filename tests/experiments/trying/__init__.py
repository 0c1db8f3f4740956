"""What `critic try` makes of guessed policies, on recorded runs that it did not learn from."""
