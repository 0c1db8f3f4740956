"""What the lint of a policy costs beyond start-up and reading, by the number of its tools."""
