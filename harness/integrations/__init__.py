"""Guards for agents of frameworks: one small file each, over one session of a guard.

Import the module of your framework: each needs its own extra.
"""
