"""Planted bugs: small faults that some layer of the assurance must notice."""
