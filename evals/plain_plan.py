"""Tell plans among JSON values by the schema of `Plan`, several times faster than by envelopes.

Rule 1: what is taken here is a plan: `Plan` takes it too, with the same values. Its schema is
        asked, and what a schema cannot say is asked of the functions that `Plan` asks.
Rule 2: what is not taken may be a plan all the same: only `Plan` says what is none, and why.
"""

from collections.abc import Mapping
from functools import cache
from operator import itemgetter
from types import NoneType
from typing import Any, Final, NamedTuple

from pydantic_core import PydanticCustomError

from evals.json_schemas import CompiledSchema, compile_schema
from evals.json_value import check_object
from evals.plan import Plan, ReasonStep, ToolStep


class PlainPlan(NamedTuple):
    """The fields of a plan as JSON has them: its arrays are lists.

    Each step has all the fields of its kind, with None or the default where one is absent.
    """

    steps: list[dict[str, Any]]
    declared_outputs: list[str]
    trace_id: str | None


def plain_plan(value: Any) -> PlainPlan | None:
    """Return a JSON value as a plan; None where it is for `Plan` to say whether it is one.

    Args:
        value: what a reader of JSON returned. Nothing else may hold it.
    """
    try:
        if not _schema().is_valid(value):
            return None
        steps = [
            step if len(step) == _FIELDS[step["kind"]] else _ABSENT[step["kind"]] | step
            for step in value["steps"]
        ]
        # To a schema, 1.0 is an integer.
        if not _COUNTS.issuperset(map(type, map(_TOKENS, steps))):
            return None
        for step in steps:
            if "args" in step:
                check_object(step["args"])
    except (PydanticCustomError, ValueError):  # args that are not JSON; nesting that is too deep
        return None
    return PlainPlan(steps, value["declared_outputs"], value.get("trace_id"))


@cache
def _schema() -> CompiledSchema:
    """Return the published schema, but for `kind`: to tell steps apart, it must be there.

    Steps have no fields that only sessions set.
    """
    schema = Plan.model_json_schema()
    for step in schema["$defs"].values():
        for name in _OF_SESSIONS:
            step["properties"].pop(name, None)
        step["required"] = [*step.get("required", ()), "kind"]
    return compile_schema(schema)


_OF_SESSIONS: Final = ("of", "shell")
"""The fields that only plans of sessions have: such a plan is for `Plan`."""

_TOKENS: Final = itemgetter("estimated_tokens")
_COUNTS: Final = frozenset({int, NoneType})

_FIELDS: Final = {"tool": len(ToolStep.model_fields), "reason": len(ReasonStep.model_fields)}
"""How many fields a step of each kind has. The schema lets it have no others."""

_ABSENT: Final[Mapping[str, dict[str, Any]]] = {
    kind: {
        name: field.get_default(call_default_factory=True)
        for name, field in step.model_fields.items()
        if not field.is_required()
    }
    for kind, step in (("tool", ToolStep), ("reason", ReasonStep))
}
"""The fields that a step of each kind may leave out. They are only read."""
