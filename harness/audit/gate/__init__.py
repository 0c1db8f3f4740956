"""The release gate: compare the runs of a candidate with those of a baseline."""
