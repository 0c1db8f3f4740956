"""Where the values of a plan come from, and what that is worth in their roles.

`judge` finds the doubts about a plan; the other modules are what it looks things up in. They are
loaded when a spec asks for provenance: most of them compile patterns.
"""

from typing import TYPE_CHECKING

from evals.front import lazy_front

if TYPE_CHECKING:
    from critic.provenance.origin_judge import doubts_of
    from critic.provenance.roles import RoleTree, role_tree, without_role

__all__ = ["RoleTree", "doubts_of", "role_tree", "without_role"]

if not TYPE_CHECKING:  # so that a misspelt name stays an error to a type checker
    __getattr__ = lazy_front(
        __name__,
        {
            "critic.provenance.origin_judge": "doubts_of",
            "critic.provenance.roles": "RoleTree role_tree without_role",
        },
    )
