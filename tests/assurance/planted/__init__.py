"""Planted bugs: small errors that some layer of the assurance must notice."""
