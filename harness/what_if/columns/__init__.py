"""Recorded plans as columns: written once, and judged by the million under another policy."""
