"""Where the values of a plan come from, and what that is worth in their roles.

`judge` finds the doubts about a plan; the other modules are what it looks things up in.
"""

from critic.provenance.judge import doubts_of
from critic.provenance.roles import RoleTree, role_tree, without_role

__all__ = ["RoleTree", "doubts_of", "role_tree", "without_role"]
