"""What a passing verdict could not check, so that "ok" never means more than it does."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from critic.checks import unlisted_outputs
from critic.prepared import PreparedPlan
from critic.surface import BOUND, NO_ARGS_SCHEMA, PRODUCES_ANYTHING, ToolEntry
from evals.binding import scalars

_NAMED_AT_MOST: Final = 10


def caveats_of(case: PreparedPlan) -> tuple[str, ...]:
    """One line for each kind of thing that was not checked, with the steps it concerns."""
    return tuple(_caveats(case))


def _caveats(case: PreparedPlan) -> Iterator[str]:
    if case.traits & NO_ARGS_SCHEMA:
        calls = [at for at, tool, _ in case.steps if tool.traits & NO_ARGS_SCHEMA]
        yield f"args not checked, no args_schema: {_steps(calls)}"
    if unestimated := [at for at, _, said in case.steps if said["estimated_tokens"] is None]:
        yield f"tokens not estimated by the plan: {_steps(unestimated)}"
    declared, required = case.plan.declared_outputs, case.spec.required_outputs
    if case.traits & PRODUCES_ANYTHING or len(set(declared)) != len(set(required)):
        yield from _untraced(case)
    if not case.traits & BOUND:
        return
    if bare := [at for at, tool, said in case.steps if _lacks_value(tool, said)]:
        yield f"bound arguments without a value: {_steps(bare)}"
    if keyed := [at for at, tool, said in case.steps if _keyed(tool, said)]:
        yield f"keys of bound object arguments not checked: {_steps(keyed)}"


def _untraced(case: PreparedPlan) -> Iterator[str]:
    required = dict.fromkeys(case.spec.required_outputs)
    declared = dict.fromkeys(case.plan.declared_outputs)
    # Of a plan that passes, the required outputs are among the declared ones.
    unlisted_names = unlisted_outputs(case, set(declared))
    if unlisted := [name for name in required if name in unlisted_names]:
        yield f"outputs not traced to a step that lists them: {_listing(unlisted)}"
    extra = () if case.traits & PRODUCES_ANYTHING else declared
    if unproducible := [name for name in extra if name in unlisted_names]:
        yield f"declared outputs that no step can produce: {_listing(unproducible)}"


def _lacks_value(tool: ToolEntry, said: Mapping[str, Any]) -> bool:
    """Whether a bound argument is left out or empty, so that there was nothing to back."""
    # A reason step has no args, and its tool binds none.
    return any(_is_empty(said["args"].get(name, [])) for name in tool.bound_args)


def _is_empty(value: object) -> bool:
    """Return whether a JsonValue holds no scalar at all."""
    return isinstance(value, dict | list) and not any(True for _ in scalars(value))


def _keyed(tool: ToolEntry, said: Mapping[str, Any]) -> bool:
    bound = tool.bound_args
    return any(_holds_object(said["args"][name]) for name in bound if name in said["args"])


def _holds_object(value: object) -> bool:
    if isinstance(value, list):
        return any(map(_holds_object, value))
    return isinstance(value, dict) and bool(value)


def _steps(positions: list[int]) -> str:
    return _numbered(tuple(positions[:_NAMED_AT_MOST]), len(positions))


@lru_cache(maxsize=1024)
def _numbered(named: tuple[int, ...], count: int) -> str:
    word = "step" if count == 1 else "steps"
    return _with_rest(f"{word} {', '.join(map(str, named))}", count)


def _listing(names: list[str]) -> str:
    return _with_rest(", ".join(names[:_NAMED_AT_MOST]), len(names))


def _with_rest(shown: str, count: int) -> str:
    left = count - _NAMED_AT_MOST
    return shown if left <= 0 else f"{shown} and {left} more"
