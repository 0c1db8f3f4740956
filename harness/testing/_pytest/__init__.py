"""The items of the pytest plugin. Private."""
