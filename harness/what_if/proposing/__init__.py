"""Propose the smallest changes of a policy that let recorded tasks through. Pure."""
