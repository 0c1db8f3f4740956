"""The code loop: an actor changes a working directory, gates and a critic judge the change."""
