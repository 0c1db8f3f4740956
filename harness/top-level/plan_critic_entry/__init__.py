"""Where the script and pytest enter plan-critic: a package that no project's folder can shadow.

Other projects have a folder named `critic`, `evals` or `harness` too, and Python imports the first
on its path. So nothing here imports one of the three before `shadowing.shadowed` has found them to
be ours.
"""
