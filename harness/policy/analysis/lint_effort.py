"""The effort of the lint: comparisons of names with names are estimated before they start.

A rule that looks up each argument in a schema, or each field in each place, costs a product. If
the products of a policy are too large, the lint reports the tools and classes whose rules it
skipped, so that no policy passes unchecked.
"""

from typing import Final

from evals.schema_budget import json_values
from harness.policy.envelopes import PolicyTool
from harness.policy.schema_lint import is_plain

TOO_MUCH: Final = (
    "too many names to be looked at one by one, so some rules of the lint were left out: "
    "write fewer of them, or split the policy"
)

_MOST: Final = 6_000_000
"""Units of about half a microsecond."""
_OF_QUESTION: Final = 100
_LARGE: Final = 200
"""Values of a schema from which on a question costs more than what is read of it."""
_MOST_STARS: Final = 20


class LintEffort:
    """The remaining effort for one policy."""

    def __init__(self) -> None:
        """Start with the full effort."""
        self._left = _MOST

    def allows(self, cost: int) -> bool:
        """Spend a cost. Return False and spend nothing if it exceeds the rest."""
        if cost > self._left:
            return False
        self._left -= cost
        return True


def cost_of_names(tool: PolicyTool) -> int:
    """Estimate the cost of looking up each name of a tool in its schema."""
    roles, makes = tool.arg_roles or {}, (tool.result.makes if tool.result else None) or {}
    names = [*roles, *(tool.arg_kinds or ()), *(tool.may_be_empty or ()), *makes]
    schema = True if tool.args_schema is None else tool.args_schema
    many = len(names) + len(tool.bound_args or ()) + len(_required_names(schema))
    pointers = [name for name in roles if name[:1] == "/"]
    if not pointers and is_plain(schema):
        return many
    return (many + 3 * sum(map(_places_of, pointers))) * cost_of_question(schema)


def cost_of_question(shape: object) -> int:
    """Estimate the cost of looking up one name in a schema or an example of a class."""
    size = json_values(shape)
    # Members of both are compared with each other.
    return _OF_QUESTION + size + max(0, size - _LARGE) ** 2 // 10


def _required_names(schema: object) -> tuple[str, ...]:
    required = schema.get("required", ()) if isinstance(schema, dict) else ()
    return tuple(required)


def _places_of(pointer: str) -> int:
    """Estimate how many schemas a lookup of a pointer visits.

    A star is an element or a member, so what is below it is looked up twice.
    """
    stars = pointer.count("*")
    return pointer.count("/") << min(stars, _MOST_STARS)
