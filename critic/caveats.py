"""What a passing verdict could not check, so that "ok" never means more than it does."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from critic.case import Case
from critic.checks import listed_outputs
from critic.surface import EVIDENCED, UNSCHEMED, UNTRACED
from evals.plan import ToolStep

_NAMED_AT_MOST: Final = 10


def caveats_of(case: Case) -> tuple[str, ...]:
    """One line for each kind of thing that was not checked, with the steps it concerns."""
    return tuple(_caveats(case))


def _caveats(case: Case) -> Iterator[str]:
    if case.traits & UNSCHEMED:
        calls = [at for at, tool in enumerate(case.tools) if tool.traits & UNSCHEMED]
        yield f"args not checked, no args_schema: {_steps(calls)}"
    if None in case.estimated_tokens:
        unestimated = [at for at, tokens in enumerate(case.estimated_tokens) if tokens is None]
        yield f"tokens not estimated by the plan: {_steps(unestimated)}"
    yield from _untraced(case)
    if not case.traits & EVIDENCED:
        return
    if keyed := [at for at, tool in enumerate(case.tools) if tool.bound_args and _keyed(case, at)]:
        yield f"keys of bound object arguments not checked: {_steps(keyed)}"


def _untraced(case: Case) -> Iterator[str]:
    required = dict.fromkeys(case.spec.required_outputs)
    declared = dict.fromkeys(case.plan.declared_outputs)
    untraced = case.traits & UNTRACED
    if not untraced and len(declared) == len(required):
        return
    listed: set[str] = set().union(*listed_outputs(case))
    if unlisted := [name for name in required if name not in listed]:
        yield f"outputs not traced to a step that lists them: {_listing(unlisted)}"
    extra = () if untraced else declared
    if unproducible := [name for name in extra if name not in listed]:
        yield f"declared outputs that no step can produce: {_listing(unproducible)}"


def _keyed(case: Case, at: int) -> bool:
    step, bound = case.plan.steps[at], case.tools[at].bound_args
    args = step.args if type(step) is ToolStep else {}
    return any(_holds_object(args[name]) for name in bound if name in args)


def _holds_object(value: object) -> bool:
    if isinstance(value, list):
        return any(map(_holds_object, value))
    return isinstance(value, dict) and bool(value)


def _steps(positions: list[int]) -> str:
    shown = _numbered(tuple(positions[:_NAMED_AT_MOST]))
    return _with_rest(shown, len(positions))


@lru_cache(maxsize=1024)
def _numbered(positions: tuple[int, ...]) -> str:
    word = "step" if len(positions) == 1 else "steps"
    return f"{word} {', '.join(map(str, positions))}"


def _listing(names: list[str]) -> str:
    return _with_rest(", ".join(names[:_NAMED_AT_MOST]), len(names))


def _with_rest(shown: str, count: int) -> str:
    left = count - _NAMED_AT_MOST
    return shown if left <= 0 else f"{shown} and {left} more"
