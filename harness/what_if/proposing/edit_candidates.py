"""List the edits of the closed set that may help a task past a stop, the narrowest first. Pure.

Never listed: what trusts a result of the web, a field that holds sentences, a tier below what the
name of a tool says, and anything that turns a check off.
"""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final, NamedTuple

from critic import MODE_RANK
from critic.provenance.written_lists import elements
from evals.escaping import pointer
from evals.kinds import MODES, ApprovalMode
from harness.guard.session_events import CallsEvent, ReadyEvent, RequestedCall, ResultEvent
from harness.policy.analysis.guessing.result_guess import field_place, owner_by_name
from harness.policy.analysis.guessing.tier_guess import snake_case, words_of
from harness.policy.analysis.named_labels import is_text_field, least_tier
from harness.policy.envelopes import Policy, PolicyTool
from harness.what_if.proposing.misfit_results import SeenResult, find_misfit
from harness.what_if.proposing.policy_edits import (
    EDIT_ORDER,
    PolicyEdit,
    argument_of,
    targets_required,
)
from harness.what_if.proposing.recorded_tasks import RecordedTask, TurnEvent, requested_calls
from harness.what_if.proposing.task_judge import TaskStop
from harness.wire import InvalidInput, parse_json

_NETWORK: Final = MODE_RANK["network"]
_DESTRUCTIVE: Final = MODE_RANK["destructive"]
_LONGEST_FIELD: Final = 80
_MOST_LEAVES: Final = 20_000
_MOST_OF_KIND: Final = 40
_LONGER: Final = (2, 5, 10)
"""How many times as long results may be fresh."""
_INVENTING: Final = frozenset({"open", "role", "tier"})
"""The kinds that would let a value pass that a model made up."""
_DEMANDING: Final = frozenset({"object", "recipient", "time", "secret"})


class _StoppedCall(NamedTuple):
    """A call of the turn that stops."""

    tool: str
    args: Mapping[str, Any]


class SeenCall(NamedTuple):
    """A call of a task that came to an end before the stop, and what it returned."""

    tool: PolicyTool
    args: Mapping[str, Any]
    output: Any


def edit_candidates(
    policy: Policy, task: RecordedTask, stop: TaskStop, open_tiers: frozenset[str] = frozenset()
) -> list[PolicyEdit]:
    """Return the edits that touch a tool of the task, in the order of the closed set.

    Args:
        open_tiers: the tools whose tier nobody has decided yet.
    """
    seen, calls = _before(policy, task, stop)
    sinks = [(policy.tools[one.tool], one) for one in calls if one.tool in policy.tools]
    found = [
        *_tier_edits(sinks, open_tiers),
        *_field_edits(seen, sinks),
        *_scope_edits(policy, sinks),
        *_making_edits(seen, sinks),
        *_read_edits(seen),
        *(() if _misfit_among(policy, seen, stop) else _role_edits(sinks, stop)),
        *_follow_edits(seen, sinks),
        *_fresh_edits(policy, seen),
        *_empty_edits(sinks, stop),
    ]
    unique = dict.fromkeys(one for one in found if not (stop.is_unseen and one.kind in _INVENTING))
    return sorted(unique, key=lambda one: EDIT_ORDER[one.kind])


def misfit_before(policy: Policy, task: RecordedTask, stop: TaskStop) -> str | None:
    """Return which result before a stop is not what its class says, and why; or None."""
    return _misfit_among(policy, _before(policy, task, stop)[0], stop)


def _misfit_among(policy: Policy, seen: list[SeenCall], stop: TaskStop) -> str | None:
    return find_misfit(policy, (SeenResult(one.tool, one.output) for one in seen), stop)


def _before(
    policy: Policy, task: RecordedTask, stop: TaskStop
) -> tuple[list[SeenCall], tuple[_StoppedCall, ...]]:
    """Return the calls that had ended before a stop, and those of its turn.

    Where it is the opening of a call, that is the call with the values that it took.
    """
    waiting: dict[str, RequestedCall] = {}
    seen: list[SeenCall] = []
    turn = 0
    for event in task.events:
        if isinstance(event, TurnEvent):
            turn += 1
            asked = requested_calls(event)
            if turn == stop.turn and stop.opened is None:
                return seen, tuple(_StoppedCall(call.tool, call.args) for call in asked)
            if isinstance(event, CallsEvent):
                waiting |= {call.id: call for call in asked if call.tool in policy.tools}
        elif isinstance(event, ReadyEvent) and event.id == stop.opened and turn >= stop.turn:
            break
        elif isinstance(event, ResultEvent) and event.id in waiting:
            call = waiting.pop(event.id)
            if event.status == "completed":
                seen.append(SeenCall(policy.tools[call.tool], call.args, _read(event.output)))
    return seen, () if stop.opened is None else (_StoppedCall(stop.tool, stop.args),)


def _read(output: Any) -> Any:
    """Return what a tool returned: as a record, where a text spells one."""
    if isinstance(output, str) and output[:1] in ("{", "["):
        try:
            return parse_json(output.encode())
        except InvalidInput:
            return output
    return output


_Sink = tuple[PolicyTool, _StoppedCall]


def _is_effect(tool: PolicyTool) -> bool:
    return tool.approval_mode != "read_only"


def _is_web(tool: PolicyTool) -> bool:
    return bool(tool.result and tool.result.web)


def _author(tool: PolicyTool) -> str:
    return tool.result.author if tool.result else "public"


def _floor(tool: PolicyTool) -> ApprovalMode:
    """Return the least tier that the names of a tool say."""
    found = (
        least_tier(tuple(words_of(name)), tuple(tool.arg_roles or ()))
        for name in (tool.called, tool.capability_id)
    )
    return max((one for one in found if one), key=MODES.index, default="read_only")


def _tier_edits(sinks: list[_Sink], open_tiers: frozenset[str]) -> Iterator[PolicyEdit]:
    for tool, _ in sinks:
        rank, least = MODE_RANK[tool.approval_mode], MODE_RANK[_floor(tool)]
        lower = MODES[least:rank][::-1]
        if tool.called in open_tiers:
            yield from (PolicyEdit("open", tool.called, "", mode) for mode in lower)
        elif _is_effect(tool):
            yield from (PolicyEdit("tier", tool.called, "", mode) for mode in lower[:1])


def _scope_edits(policy: Policy, sinks: list[_Sink]) -> Iterator[PolicyEdit]:
    scope = policy.scope or ()
    for tool, _ in sinks:
        if MODE_RANK[tool.approval_mode] >= _NETWORK and tool.called not in scope:
            yield PolicyEdit("scope", tool.called)


# --- fields and things made ---------------------------------------------------------------------


def _find_sought(sinks: list[_Sink]) -> dict[str, list[tuple[PolicyTool, str]]]:
    """Return the values in calls with effects, as text, with the arguments that hold them."""
    found: dict[str, list[tuple[PolicyTool, str]]] = {}
    for tool, call in sinks:
        if not _is_effect(tool):
            continue
        for path, value in _leaves(call.args):
            for one in elements(value) if isinstance(value, str) else (value,):
                found.setdefault(_text(one), []).append((tool, path[0]))
    return found


def _text(value: Any) -> str:
    return value if isinstance(value, str) else repr(value)


def _field_edits(seen: list[SeenCall], sinks: list[_Sink]) -> Iterator[PolicyEdit]:
    sought = _find_sought(sinks)
    for call in seen:
        if _is_web(call.tool):
            continue
        for path, value in _leaves(call.output, keys=True):
            if _text(value) in sought and path:
                yield from _fields_at(call.tool, path, value)


def _fields_at(tool: PolicyTool, path: tuple[str, ...], value: Any) -> Iterator[PolicyEdit]:
    """Yield the edits that call a place a field: not where it holds sentences."""
    if isinstance(value, str) and (len(value) > _LONGEST_FIELD or "\n" in value):
        return
    named = [part for part in path if part != "*"]
    if not named:
        yield PolicyEdit("names", tool.called, pointer(*path), "system")
        return
    way = path[:-1] if path[-1] == "*" else path
    name = snake_case(named[-1])
    if is_text_field(name):
        return
    place = field_place(way)
    if not isinstance(value, str) or owner_by_name(name) == "system":
        yield PolicyEdit("fields", tool.called, place, "system")
        return
    yield PolicyEdit("fields", tool.called, place, "party")
    yield PolicyEdit("names", tool.called, place, "system")


def _making_edits(seen: list[SeenCall], sinks: list[_Sink]) -> Iterator[PolicyEdit]:
    sought = _find_sought(sinks)
    for call in seen:
        if not _is_effect(call.tool) or _is_web(call.tool):
            continue
        own = [(name, value) for (name, *_), value in _leaves(call.args)]
        returned = [(pointer(*path), value) for path, value in _leaves(call.output) if path]
        for place, value in (*own, *returned):
            for sink, argument in sought.get(_text(value), ()):
                kind = (sink.arg_kinds or {}).get(argument)
                said = kind or f"{_noun_of(argument)} {sink.called} {argument}"
                yield PolicyEdit("makes", call.tool.called, place, said)


def _noun_of(argument: str) -> str:
    """Return what an argument names: `order_id` names an order."""
    words = words_of(argument)
    return words[0] if words else "thing"


def _leaves(value: Any, *, keys: bool = False) -> list[tuple[tuple[str, ...], Any]]:
    """Return the texts and numbers in a value with their ways; an element of a list has `*`.

    Args:
        keys: the names of members as well, at the way of their object.
    """
    return list(islice(_each_leaf(value, keys), _MOST_LEAVES))


def _each_leaf(value: Any, keys: bool) -> Iterator[tuple[tuple[str, ...], Any]]:
    waiting: list[tuple[tuple[str, ...], Any]] = [((), value)]
    while waiting:
        path, current = waiting.pop()
        if isinstance(current, dict | Mapping):
            waiting += [((*path, str(name)), inner) for name, inner in current.items()]
            yield from (((*path, "*"), name) for name in current if keys)
        elif isinstance(current, list | tuple):
            waiting += [((*path, "*"), inner) for inner in current]
        elif current is not None and not isinstance(current, bool) and current != "":
            yield path, current


# --- what was read, roles, order and time -------------------------------------------------------


def _read_edits(seen: list[SeenCall]) -> Iterator[PolicyEdit]:
    for call in seen:
        tool = call.tool
        if _is_effect(tool) or _is_web(tool):
            continue
        known = tool.arg_roles or {}
        for name, value in call.args.items():
            if name not in known and isinstance(value, str | int) and not isinstance(value, bool):
                yield PolicyEdit("locator", tool.called, name)
        if _author(tool) == "public":
            yield PolicyEdit("member", tool.called)
        if _author(tool) in ("public", "member"):
            yield PolicyEdit("system", tool.called)


def _role_edits(sinks: list[_Sink], stop: TaskStop) -> Iterator[PolicyEdit]:
    """Yield other roles of the argument that stops; a tool without roles is judged whole."""
    name = argument_of(stop.path)
    for tool, _ in sinks:
        role = (tool.arg_roles or {}).get(name)
        if tool.called != stop.tool or role is None:
            continue
        if role == "recipient":
            yield PolicyEdit("object", tool.called, name)
        if role in _DEMANDING:
            yield PolicyEdit("role", tool.called, name, "attribute")
            yield PolicyEdit("role", tool.called, name, "content")


def _follow_edits(seen: list[SeenCall], sinks: list[_Sink]) -> Iterator[PolicyEdit]:
    for tool, _ in sinks:
        if MODE_RANK[tool.approval_mode] < _NETWORK:
            continue
        known = {(one.adapter_id, one.capability_id) for one in tool.follows or ()}
        for call in seen:
            if call.tool.pair not in known and call.tool.called != tool.called:
                yield PolicyEdit("follows", tool.called, "", call.tool.called)


def _empty_edits(sinks: list[_Sink], stop: TaskStop) -> Iterator[PolicyEdit]:
    """Yield that a call may be aimed at nobody. A destructive one would run unasked: never that."""
    for tool, _ in sinks:
        if stop.path or not _NETWORK <= MODE_RANK[tool.approval_mode] < _DESTRUCTIVE:
            continue
        names = targets_required(tool.wire())
        if tool.called == stop.tool and names:
            yield PolicyEdit("empty", tool.called, "", ", ".join(names))


def _fresh_edits(policy: Policy, seen: list[SeenCall]) -> Iterator[PolicyEdit]:
    limits = policy.expiries()
    for call in seen:
        limit = limits.get(call.tool.pair)
        if limit is not None:
            longer = (str(limit * times) for times in _LONGER)
            yield from (PolicyEdit("fresh", call.tool.called, "", one) for one in longer)
