"""What one record says about its turn: the facts that a fate is made of. Pure.

It reads envelopes and parsed JSON alike, and is total: what is not there, or is not what it should
be, is not a fact.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from evals.json_value import detach_json
from evals.pointers import array_index, segments
from harness.canonical import canonical_json
from harness.record.fates import RecordFacts
from harness.record.members import elements_of, member_of

_RULED = {
    "allow": RecordFacts.ALLOWED,
    "shadow": RecordFacts.SHADOW,
    "ask": RecordFacts.ASKED,
    "refuse": RecordFacts.REFUSED,
}
_SETTLED = {
    "ran": RecordFacts.RAN,
    "not_run": RecordFacts.NOT_RUN,
    "unknown": RecordFacts.UNKNOWN,
}
_ANSWERED = {"yes": RecordFacts.YES, "no": RecordFacts.NO, "lapsed": RecordFacts.LAPSED}
_NO_RULING = RecordFacts(0)


def facts_of_record(record: Any, ctx: Any, plan: Any) -> RecordFacts:
    """Return what a record of any kind says about its turn. Never raises.

    Args:
        record: a record: an envelope, parsed JSON, or a dict of its members.
        ctx: its RunContext, as an envelope or as parsed JSON; None if it is not at hand.
        plan: its Plan, in the same way. Without it, what is said is of the calls that there are.
    """
    kind, ruled = member_of(record, "kind"), _ruling_of(record)
    if kind == "critic_error":
        return RecordFacts.FAILED
    if kind == "begun":
        used = RecordFacts.YES if elements_of(member_of(record, "approvals")) else _NO_RULING
        return RecordFacts.BEGAN | ruled | used
    if kind == "settled":
        return ruled | _facts_named(_SETTLED, member_of(record, "outcome"))
    answer = _facts_named(_ANSWERED, member_of(member_of(record, "answer"), "answer"))
    if answer & (RecordFacts.NO | RecordFacts.LAPSED):
        ruled &= ~RecordFacts.REFUSED
    given = approvals_of(ctx, record) + _approved_openings(member_of(record, "run"))
    if ruled & RecordFacts.ALLOWED and given:
        answer |= RecordFacts.YES
    return ruled | answer | _facts_of_run(record, ctx, plan)


def _ruling_of(record: Any) -> RecordFacts:
    return _facts_named(_RULED, member_of(record, "action"))


def _facts_named(facts: dict[str, RecordFacts], name: Any) -> RecordFacts:
    return facts.get(name, _NO_RULING) if isinstance(name, str) else _NO_RULING


def approvals_of(ctx: Any, record: Any) -> int:
    """Return how many approvals of its plan a record has."""
    plan_digest = member_of(member_of(record, "inputs"), "plan")
    digests = (member_of(one, "plan_digest") for one in elements_of(member_of(ctx, "approvals")))
    return sum(
        isinstance(one, str) and one.removeprefix("sha256:") == plan_digest for one in digests
    )


def _approved_openings(run: Any) -> int:
    """Return how many steps were opened after a person said yes to them."""
    openings = elements_of(member_of(run, "openings"))
    passed = (one for one in openings if member_of(member_of(one, "verdict"), "ok") is True)
    return sum(bool(elements_of(member_of(one, "approvals"))) for one in passed)


def _facts_of_run(record: Any, ctx: Any, plan: Any) -> RecordFacts:
    run = member_of(record, "run")
    if run is None and not (type(record) is dict and "run" in record):
        return _NO_RULING
    calls, steps = member_of(run, "calls"), elements_of(member_of(plan, "steps"))
    if not isinstance(calls, list | tuple):  # they were redacted
        return RecordFacts.RAN
    facts = RecordFacts.RAN if calls else _NO_RULING
    if any(member_of(call, "status") != "completed" for call in calls):
        facts |= RecordFacts.IN_PART
    if plan is None:
        return facts
    planned = [planned_step(call, steps) for call in calls]
    opened = _opened_steps(run, steps, is_shadow=member_of(record, "action") == "shadow")
    if None in planned or not {*planned} <= opened:
        facts |= RecordFacts.STRAYED
    in_session = ctx is None or member_of(ctx, "session") is not None
    if not {*_tool_steps(steps, in_session=in_session)} <= {*planned}:
        facts |= RecordFacts.IN_PART
    return facts


def _tool_steps(steps: Sequence[Any], *, in_session: bool) -> Iterator[int]:
    """Yield the steps that are called: in a session, what a command does is none."""
    return (
        at
        for at, step in enumerate(steps)
        if member_of(step, "kind") == "tool"
        and not (in_session and member_of(step, "of") is not None)
    )


def planned_step(call: Any, steps: Sequence[Any]) -> int | None:
    """Return the step that a call is of, or None if no step is this call."""
    at = member_of(call, "step")
    step = steps[at] if type(at) is int and 0 <= at < len(steps) else None
    names = ("adapter_id", "capability_id")
    if step is None or any(member_of(call, name) != member_of(step, name) for name in names):
        return None
    sent = _without_taken(member_of(call, "args"), elements_of(member_of(step, "takes")))
    return at if _is_same(sent, member_of(step, "args")) else None


def _opened_steps(run: Any, steps: Sequence[Any], *, is_shadow: bool) -> set[int | None]:
    """Return the steps of which a call may be: of a late plan those that were opened.

    A shadow opens what it says is refused.
    """
    is_late = any(member_of(one, "takes") or member_of(one, "evidence_steps") for one in steps)
    if not is_late:
        return {*range(len(steps))}
    openings = elements_of(member_of(run, "openings"))
    passed = (
        one for one in openings if is_shadow or member_of(member_of(one, "verdict"), "ok") is True
    )
    return {at for one in passed if type(at := member_of(one, "step")) is int}


def _without_taken(sent: Any, takes: Sequence[Any]) -> Any:
    """Return what was sent without what the step takes: what the plan says that it sends."""
    if not takes or type(sent) is not dict:
        return sent
    kept: Any = detach_json(sent)
    for take in reversed(takes):
        arg = member_of(take, "arg")
        *way, last = segments(arg) if isinstance(arg, str) and arg[:1] == "/" else [""]
        parent: Any = kept
        for name in way:
            parent = _member_at(parent, name)
        if type(parent) is dict:
            parent.pop(last, None)
        elif type(parent) is list and array_index(last) == len(parent) - 1:
            parent.pop()
    return kept


def _member_at(value: Any, name: str) -> Any:
    if type(value) is dict:
        return value.get(name)
    index = array_index(name) if type(value) is list else None
    return value[index] if index is not None and index < len(value) else None


def _is_same(sent: Any, planned: Any) -> bool:
    if sent is planned:
        return True
    try:
        # Compared as bytes: to Python, `True` equals `1`.
        return canonical_json(sent) == canonical_json(planned)
    except (ValueError, TypeError, RecursionError):
        return False
