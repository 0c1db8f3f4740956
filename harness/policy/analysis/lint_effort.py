"""The effort of a lint: what is about names against names is estimated before it is begun.

A rule that asks a schema about each argument, or each field about each place, costs a product.
Where all products of a policy together are too large, the lint says of which tool or class it left
some rules out, so that no policy passes that was not looked at.
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
    """The effort that is left for one policy."""

    def __init__(self) -> None:
        """Begin with all of it."""
        self._left = _MOST

    def allows(self, cost: int) -> bool:
        """Take a cost from what is left; False, and nothing taken, where it is more than that."""
        if cost > self._left:
            return False
        self._left -= cost
        return True


def cost_of_names(tool: PolicyTool) -> int:
    """Return about what it costs to ask the schema of a tool about each name that the tool has."""
    roles, makes = tool.arg_roles or {}, (tool.result.makes if tool.result else None) or {}
    names = [*roles, *(tool.arg_kinds or ()), *(tool.may_be_empty or ()), *makes]
    schema = True if tool.args_schema is None else tool.args_schema
    many = len(names) + len(tool.bound_args or ()) + len(_required_names(schema))
    pointers = [name for name in roles if name[:1] == "/"]
    if not pointers and is_plain(schema):
        return many
    return (many + 3 * sum(map(_places_of, pointers))) * cost_of_question(schema)


def cost_of_question(shape: object) -> int:
    """Return about what it costs to ask a schema, or an example of a class, about one name."""
    size = json_values(shape)
    # Members of both are compared with each other.
    return _OF_QUESTION + size + max(0, size - _LARGE) ** 2 // 10


def _required_names(schema: object) -> tuple[str, ...]:
    required = schema.get("required", ()) if isinstance(schema, dict) else ()
    return tuple(required)


def _places_of(pointer: str) -> int:
    """Return about how many schemas ask about the places on the way to a pointer's.

    A star is an element or a member: what is below it is asked about twice.
    """
    stars = pointer.count("*")
    return pointer.count("/") << min(stars, _MOST_STARS)
