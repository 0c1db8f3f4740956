"""Guess the labels of a tool from its description; never laxer than a careful person's label."""
