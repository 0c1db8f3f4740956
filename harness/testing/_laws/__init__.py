"""The laws. Private."""
