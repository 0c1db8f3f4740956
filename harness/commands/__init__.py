"""The commands of `critic`, one module each, imported when it is called."""
