"""Tell a guard what a hook event says, and return what becomes of it.

Rule 1: one hook event of a call is a turn of its own: these agents show no turn as a whole.
Rule 2: a result is believed for a call that may run, with these very arguments. Where the agent was
        told to ask, that the call ran says that its user agreed.
Rule 3: what cannot be told to the guard is refused.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from critic import Refused
from harness.guard.guard import Answer, Guard
from harness.guard.rulings import EventError, Ruling
from harness.guard.session_events import AnswerEvent, event_of
from harness.integrations.hooks.dialect import HookEvent
from harness.integrations.hooks.memory import HookMemory, KnownCall, call_key
from harness.tool_results import parsed_result

_MOST_REASONS = 5


class HookOutcome(NamedTuple):
    """What becomes of an event: `allow`, `ask` or `refuse`, and why."""

    memory: HookMemory
    action: str
    reason: str = ""


def hook_outcome(
    guard: Guard, memory: HookMemory, event: HookEvent, scope: Sequence[str] | None
) -> HookOutcome:
    """Tell the guard.

    Args:
        scope: the tools that the request is for; None where the session is open already.

    Raises:
        InvalidInput: the event does not make an event of a session.
    """
    is_new = scope is not None
    if scope is not None:
        known = {"scope": list(scope)} if scope else {}
        opened = _told(guard, memory, "open", request=event.text, **known)
        if isinstance(opened, EventError):
            return HookOutcome(memory, "refuse", _reason(opened))
    match event.kind:
        case "call":
            return _call(guard, memory, event)
        case "result":
            return _result(guard, memory, event)
        case _:
            answer = None if is_new else _told(guard, memory, "said", text=event.text)
            return _passed(memory, answer)


def _told(guard: Guard, memory: HookMemory, kind: str, **members: Any) -> Answer:
    return guard.handle(event_of({"event": kind, "session": memory.session, **members}))


def _passed(memory: HookMemory, answer: Answer) -> HookOutcome:
    if isinstance(answer, EventError):
        return HookOutcome(memory, "refuse", _reason(answer))
    return HookOutcome(memory, "allow")


def _call(guard: Guard, memory: HookMemory, event: HookEvent) -> HookOutcome:
    memory, name = memory.named(event)
    ruling = _ruled(guard, memory, event, name)
    if not isinstance(ruling, Ruling) or ruling.action == "refuse":
        return HookOutcome(memory.minus(name), "refuse", _reason(ruling))
    if ruling.action == "ask" and not event.can_ask:
        return HookOutcome(memory.minus(name), "ask", _reason(ruling))
    asked = {"asked": ruling.plan_digest} if ruling.action == "ask" else {}
    known = KnownCall(id=name, key=call_key(event), **asked)
    return HookOutcome(memory.plus(known), ruling.action, _reason(ruling))


def _ruled(guard: Guard, memory: HookMemory, event: HookEvent, name: str) -> Answer:
    call = {"id": name, "tool": event.tool, "args": event.args}
    return _told(guard, memory, "calls", calls=[call])


def _result(guard: Guard, memory: HookMemory, event: HookEvent) -> HookOutcome:
    known = memory.known(event)
    if known is None:
        what = "a call ended that was not allowed: what it returned is not evidence"
        return HookOutcome(memory, "refuse", what)
    after = memory.minus(known.id)
    if known.key != call_key(event):
        _told(guard, memory, "result", id=known.id, status="unknown")
        what = "the call that ended is not the one that was allowed: its arguments were changed"
        return HookOutcome(after, "refuse", what)
    if known.asked is not None and not _agreed(guard, memory, event, known):
        return HookOutcome(after, "refuse", "a call ended that was not approved")
    output = None if event.output is None else parsed_result(event.output)
    members = {"output": output, "error": event.error, "duration_ms": event.duration_ms}
    given = {name: value for name, value in members.items() if value is not None}
    return _passed(after, _told(guard, memory, "result", id=known.id, status=event.status, **given))


def _agreed(guard: Guard, memory: HookMemory, event: HookEvent, known: KnownCall) -> bool:
    """Tell the guard that the user agreed. A question that has lapsed meanwhile is asked again."""
    if _answered(guard, memory, known.asked):
        return True
    again = _ruled(guard, memory, event, known.id)
    if not isinstance(again, Ruling):
        return False
    return bool(again) or _answered(guard, memory, again.plan_digest)


def _answered(guard: Guard, memory: HookMemory, plan_digest: str | None) -> bool:
    if plan_digest is None:
        return False
    approver = f"user-of-{memory.dialect}"
    answer = AnswerEvent(
        session=memory.session, plan_digest=plan_digest, yes=True, approver=approver
    )
    return bool(guard.handle(answer))


def _reason(answer: Answer) -> str:
    """Return why, on one line that is safe to print."""
    match answer:
        case EventError():
            return f"{answer.error.path or 'the session'}: {answer.error.message}"
        case Ruling(critic_error=str() as error):
            return f"the guard failed: {error}"
        case Ruling(verdict=Refused() as verdict):
            reasons = [one.reason for one in verdict.violations]
            more = len(reasons) - _MOST_REASONS
            shown = [*reasons[:_MOST_REASONS], *([f"and {more} more"] if more > 0 else [])]
            return "; ".join([*([answer.note] if answer.note else []), *shown])
        case _:
            return ""
