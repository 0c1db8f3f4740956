"""Say what a passing verdict could not check, so that "ok" never means more than it does."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from critic.checks.coverage_check import unlisted_outputs
from critic.checks.surface_check import confined_content_of
from critic.prepared import PreparedPlan
from critic.provenance import RoleTree, tool_roles, without_role
from critic.surface import BOUND, PRODUCES_ANYTHING, ToolEntry
from evals.binding import scalars
from evals.escaping import escape_name
from evals.kinds import MODE_RANK

_NAMED_AT_MOST: Final = 10


def caveats_of(case: PreparedPlan) -> tuple[str, ...]:
    """Return one line for each kind of thing that was not checked, naming the steps or outputs."""
    return (*_caveats(case), *_of_roles(case))


def _caveats(case: PreparedPlan) -> Iterator[str]:
    if calls := [index for index, tool, _ in case.steps if tool.leaves_args_unchecked]:
        yield f"args not checked, no args_schema: {_steps(calls)}"
    if missing := [step for step, _, fields in case.steps if fields["estimated_tokens"] is None]:
        yield f"tokens not estimated by the plan: {_steps(missing)}"
    declared, required = case.plan.declared_outputs, case.spec.required_outputs
    if case.traits & PRODUCES_ANYTHING or len(set(declared)) != len(set(required)):
        yield from _untraced_output_caveats(case)
    if case.spec.confined_evidence:
        yield from _missing_content_caveats(case)
    if case.approvals is not None and (loose := case.approvals.loosely_covered):
        yield f"approvals not bound to this context, no context_digest: {_steps(loose)}"
    if case.late is not None and (taking := case.late.taking):
        yield f"late values, judged when their steps are opened: {_steps(taking)}"
    if not case.traits & BOUND:
        return
    bound = [step for step in case.steps if step[1].bound_args]
    if without_value := [index for index, tool, fields in bound if _lacks_value(tool, fields)]:
        yield f"bound arguments without a value: {_steps(without_value)}"
    if with_keys := [index for index, tool, fields in bound if _has_keys(tool, fields)]:
        yield f"keys of bound object arguments not checked: {_steps(with_keys)}"


def _of_roles(case: PreparedPlan) -> Iterator[str]:
    if case.spec.provenance is None:
        if any(case.surface.roles):
            yield "argument roles not judged, the spec has no provenance"
    elif unjudged := list(dict.fromkeys(_without_role(case))):
        yield f"arguments not judged, no role: {_join_names(unjudged)}"


def _without_role(case: PreparedPlan) -> Iterator[str]:
    """Yield the arguments of calls that have no role, where the tool has some, by tool and name."""
    trees: dict[tuple[str, str], RoleTree] = {}
    for _, tool, fields in case.steps:
        if tool.rank <= MODE_RANK["read_only"] or fields.get("of") is not None:
            continue
        call = (fields["adapter_id"], fields["capability_id"])
        if call not in trees:
            trees[call] = tool_roles(case.surface.manifests.tools[call])
        # The keys of an object have no order, and a verdict must not hang on one.
        loose = _loose_args(trees[call], fields["args"])
        for name in sorted(without_role(trees[call], loose)) if loose else ():
            yield f"{tool.name} {escape_name(name)}"


def _loose_args(tree: RoleTree, args: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments in which a value can lack a role: the others have one as a whole."""
    inner = tree.inner
    if tree.roles or (tree.any is not None and tree.any.roles):
        return {}
    whole = {name for name in args if name in inner and inner[name].roles}
    return {name: value for name, value in args.items() if name not in whole}


def _untraced_output_caveats(case: PreparedPlan) -> Iterator[str]:
    required = dict.fromkeys(case.spec.required_outputs)
    declared = dict.fromkeys(case.plan.declared_outputs)
    # Of a plan that passes, the required outputs are among the declared ones.
    not_listed = unlisted_outputs(case, set(declared))
    if unlisted := [name for name in required if name in not_listed]:
        yield f"outputs not traced to a step that lists them: {_join_names(unlisted)}"
    extra = () if case.traits & PRODUCES_ANYTHING else declared
    if unproducible := [name for name in extra if name in not_listed]:
        yield f"declared outputs that no step can produce: {_join_names(unproducible)}"


def _missing_content_caveats(case: PreparedPlan) -> Iterator[str]:
    content = confined_content_of(case)
    unknown = [] if content is None else content.without_text()
    if unknown:
        yield f"confined evidence without content to look for: {_join_names(sorted(unknown))}"


def _lacks_value(tool: ToolEntry, fields: Mapping[str, Any]) -> bool:
    """Return whether a bound argument is absent or empty, so that there was nothing to back."""
    # A reason step has no args, and its tool binds none. A Binding says itself what is optional.
    for name, binding in tool.bound_args.items():
        if type(binding) is tuple and _is_empty(fields["args"].get(name, [])):
            return True
    return False


def _is_empty(value: object) -> bool:
    """Return whether a JsonValue holds no scalar at all."""
    return isinstance(value, dict | list) and not any(True for _ in scalars(value))


def _has_keys(tool: ToolEntry, fields: Mapping[str, Any]) -> bool:
    """Return whether a bound argument holds an object, whose keys nothing backs."""
    for name in tool.bound_args:
        if name in fields["args"] and _holds_object(fields["args"][name]):
            return True
    return False


def _holds_object(value: object) -> bool:
    if isinstance(value, list):
        return any(map(_holds_object, value))
    return isinstance(value, dict) and bool(value)


def _steps(positions: list[int]) -> str:
    return _number_steps(tuple(positions[:_NAMED_AT_MOST]), len(positions))


@lru_cache(maxsize=1024)
def _number_steps(named: tuple[int, ...], count: int) -> str:
    word = "step" if count == 1 else "steps"
    return _with_rest(f"{word} {', '.join(map(str, named))}", count)


def _join_names(names: list[str]) -> str:
    return _with_rest(", ".join(names[:_NAMED_AT_MOST]), len(names))


def _with_rest(shown: str, count: int) -> str:
    more = count - _NAMED_AT_MOST
    return shown if more <= 0 else f"{shown} and {more} more"
