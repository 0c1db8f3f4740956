"""Replay on more than one machine, by workers of `dask.distributed`."""
