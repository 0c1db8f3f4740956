"""Proofs of a log: checkpoints, signed notes, inclusion and consistency, witnesses."""
