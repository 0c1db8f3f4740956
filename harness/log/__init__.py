"""The decision log: `record` is what is kept, `sql` is where, `errors` is how that can fail."""
