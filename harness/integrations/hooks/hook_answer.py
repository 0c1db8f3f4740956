"""Answer one hook event: read it, go on with its session, judge, keep the session, answer.

Rule 1: whatever fails is a refusal. It is `Dialect.closed` of the caller.
Rule 2: the session is kept before the agent is answered: what is allowed is on record.
Rule 3: one hook event of a call is a turn of its own: these agents show no turn as a whole.
Rule 4: a result is believed for a call that may run, with these very arguments. Where the agent was
        told to ask, its user agreed if the agent said that it showed the question, and the call
        ran. Its user refused if it showed the question, and nothing runs any more.
Rule 5: what cannot be told to the guard is refused.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from evals.envelope import is_identifier
from harness.guard.course_answers import OutOfPlace
from harness.guard.guard import Guard
from harness.guard.rulings import SAID_NO, Answer, EventError, Ruling
from harness.guard.session_events import AnswerEvent, event_of
from harness.guard.session_folder import StateUnusable
from harness.integrations.hooks.cut_event import MOST_EVENT_BYTES, cut_event
from harness.integrations.hooks.dialect import Dialect, HookAnswer, HookEvent, HookFault
from harness.integrations.hooks.kept_sessions import KeptSessions, SessionPlace
from harness.integrations.hooks.memory import HookMemory, KnownCall, call_key, parse_memory
from harness.integrations.hooks.own_places import places_of_guard
from harness.integrations.hooks.protected_paths import word_protected
from harness.policy import Policy
from harness.tool_results import parsed_result
from harness.wire import InvalidInput, parse_json

_MOST_ASKS = 5
_ANEW = "begin a new session of the agent"


class HookOutcome(NamedTuple):
    """The outcome of an event: `allow`, `ask` or `refuse`, and why.

    `is_kept`: the guard has stored the memory with the event.
    """

    memory: HookMemory
    action: str
    reason: str = ""
    is_kept: bool = False


def hook_outcome(
    guard: Guard, memory: HookMemory, event: HookEvent, opening: Mapping[str, Any] | None
) -> HookOutcome:
    """Tell the guard.

    Args:
        opening: the members of `open` but the request; None where the session is open already.

    Raises:
        InvalidInput: the event does not make an event of a session.
    """
    is_new = opening is not None
    if opening is not None:
        opened = _tell_guard(guard, memory, "open", request=event.text, **opening)
        if isinstance(opened, EventError):
            return HookOutcome(memory, "refuse", f"{_reason(opened)}: {_ANEW}")
    match event.kind:
        case "call":
            return _judge_call(guard, memory, event)
        case "result":
            return _take_result(guard, memory, event)
        case "shown":
            return HookOutcome(memory.show_question(event), "allow")
        case "end":
            return _end_calls(guard, memory, event)
        case _:
            answer = None if is_new else _tell_guard(guard, memory, "said", text=event.text)
            return _pass_event(memory, answer)


def _tell_guard(
    guard: Guard, memory: HookMemory, kind: str, *, note: str | None = None, **members: Any
) -> Answer:
    return guard.handle(event_of({"event": kind, "session": memory.session, **members}), note=note)


def _pass_event(memory: HookMemory, answer: Answer) -> HookOutcome:
    if isinstance(answer, EventError):
        return HookOutcome(memory, "refuse", _reason(answer))
    return HookOutcome(memory, "allow")


def _judge_call(guard: Guard, memory: HookMemory, event: HookEvent) -> HookOutcome:
    memory, name = memory.name_call(event)
    ruling = _rule_call(guard, memory, event, name)
    if not isinstance(ruling, Ruling) or ruling.action == "refuse":
        if isinstance(ruling, Ruling):
            ruling = word_protected(ruling, event.judged_args)
        return HookOutcome(memory.minus(name), "refuse", _reason(ruling))
    if ruling.action == "ask" and not event.can_ask:
        told = _reason(ruling).replace(" Go on?", "")
        return HookOutcome(memory.minus(name), "ask", told)
    known = KnownCall(
        id=name,
        key=call_key(event),
        asked=ruling.plan_digest if ruling.action == "ask" else None,
        folder=event.folder,
        agent=event.agent,
    )
    return HookOutcome(memory.plus(known), ruling.action, _reason(ruling))


def _rule_call(guard: Guard, memory: HookMemory, event: HookEvent, name: str) -> Answer:
    call = {"id": name, "tool": event.tool, "args": event.judged_args}
    return _tell_guard(guard, memory, "calls", calls=[call])


def _take_result(guard: Guard, memory: HookMemory, event: HookEvent) -> HookOutcome:
    known = memory.find_call(event)
    if known is None:
        memory, name = memory.name_call(event)
        _report_unruled(guard, memory, event, name)
        what = "a call ended that was not allowed: what it returned is not evidence"
        return HookOutcome(memory, "refuse", what)
    after = memory.minus(known.id)
    if known.ended and known.asked is None:
        return HookOutcome(after, "allow")  # it came too late: the session does not know of it
    if what := _unruled_problem(guard, memory, event, known):
        _report_unruled(guard, memory, event._replace(folder=known.folder), known.id)
        return HookOutcome(after, "refuse", what)
    is_empty = event.is_cut or event.output is None
    members = {
        "output": None if is_empty else parsed_result(event.output),
        "error": event.error,
        "duration_ms": event.duration_ms,
        "cut": event.is_cut or None,
    }
    given = {name: value for name, value in members.items() if value is not None}
    given |= {"id": known.id, "status": event.status}
    answer = _tell_guard(guard, memory, "result", note=after.to_note(), **given)
    return _pass_event(after, answer)._replace(is_kept=not isinstance(answer, EventError))


def _unruled_problem(guard: Guard, memory: HookMemory, event: HookEvent, known: KnownCall) -> str:
    """Return why no ruling allowed a call that ran; empty if one did, or its user said yes."""
    if known.ended:
        return "a call ran that was given up, without a yes to it"
    if known.key != call_key(event):
        return "the call that ended is not the one that was allowed: its arguments were changed"
    if known.asked is None:
        return ""
    if not known.shown:
        return "a call ran although no question about it was shown: its result does not count"
    agreed = _report_agreement(guard, memory, event, known)
    return "" if agreed else "a call ended that was not approved"


def _report_unruled(guard: Guard, memory: HookMemory, event: HookEvent, name: str) -> None:
    """Tell the guard that a call ran which it did not allow."""
    sent = {"tool": event.tool, "args": event.judged_args}
    _tell_guard(guard, memory, "result", id=name, status="unknown", cut=True, sent=sent)


def _end_calls(guard: Guard, memory: HookMemory, event: HookEvent) -> HookOutcome:
    """Tell the guard how calls ended of which the agent said nothing, and of which it will not."""
    for call in memory.left_calls(event):
        if call.asked is None:
            _tell_guard(guard, memory, "result", id=call.id, status="unknown")
        elif call.shown:
            _report_refusal(guard, memory, event, call)
        memory = memory.give_up(call)
    if event.name == "SessionEnd":
        _end_forgotten(guard, memory)
    return HookOutcome(memory, "allow")


def _end_forgotten(guard: Guard, memory: HookMemory) -> None:
    """Tell the guard of calls that it awaits, and whose hook was killed before it noted them."""
    status = guard.status(memory.session)
    for name in () if status is None else status.awaited - {call.id for call in memory.calls}:
        _tell_guard(guard, memory, "result", id=name, status="unknown")


def _report_agreement(guard: Guard, memory: HookMemory, event: HookEvent, known: KnownCall) -> bool:
    """Tell the guard that the user agreed. A question that has lapsed meanwhile is asked again."""
    if _answer_question(guard, memory, event, known.asked):
        return True
    again = _rule_call(guard, memory, event._replace(folder=known.folder), known.id)
    if not isinstance(again, Ruling):
        return False
    return bool(again or _answer_question(guard, memory, event, again.plan_digest))


def _report_refusal(guard: Guard, memory: HookMemory, event: HookEvent, known: KnownCall) -> None:
    """Tell the guard that the user refused. A question that has lapsed meanwhile is asked again."""
    answer = _answer_question(guard, memory, event, known.asked, yes=False)
    if not isinstance(answer, EventError) or known.tool is None:
        return
    call = event._replace(tool=known.tool, args=known.args, folder=known.folder)
    again = _rule_call(guard, memory, call, known.id)
    if isinstance(again, Ruling) and again.action == "ask":
        _answer_question(guard, memory, event, again.plan_digest, yes=False)
    elif again:  # by now a yes to another call covers it
        told = {"id": known.id, "status": "failed", "error": SAID_NO}
        _tell_guard(guard, memory, "result", **told, denied_by=_approver(memory, event))


def _answer_question(
    guard: Guard, memory: HookMemory, event: HookEvent, plan_digest: str | None, *, yes: bool = True
) -> Answer:
    """Tell the guard what was answered at the agent, by whoever is at it."""
    if plan_digest is None:
        return None
    approver = _approver(memory, event)
    answer = AnswerEvent(
        session=memory.session, plan_digest=plan_digest, yes=yes, approver=approver
    )
    return guard.handle(answer)


def _approver(memory: HookMemory, event: HookEvent) -> str:
    return event.user or f"user-of-{memory.dialect}"


def _reason(answer: Answer) -> str:
    """Return why, on one line: of a refusal for the model, of a question for the person."""
    match answer:
        case EventError():
            return f"{answer.error.path or 'the session'}: {answer.error.message}"
        case Ruling(critic_error=str() as error):
            return f"the guard failed: {error}"
        case Ruling(action="ask", questions=questions) if questions:
            asks = [*dict.fromkeys(one.ask for one in questions)]
            more = [f"and {len(asks) - _MOST_ASKS} more"] if len(asks) > _MOST_ASKS else []
            return " ".join([*asks[:_MOST_ASKS], *more])
        case Ruling(action="refuse", reply=str() as reply):
            return reply.replace("\n", " ")
        case _:
            return ""


class HookSettings(NamedTuple):
    """The settings of a hook.

    Attributes:
        scope: the tools that every request is for.
        keeps_prompts: what is allowed is left to the agent, which may still ask its user.
        log: where the decision log is.
        sessions: those that are gone on with in memory; None where each event reads its own.
        user: who is at the agent, where it does not say so.
        folder: where the hook runs; None for the folder of this process.
        files: what it is set by: its policy, and its options.
    """

    policy: Policy
    state: Path
    scope: Sequence[str] = ()
    log: str | None = None
    keeps_prompts: bool = False
    sessions: KeptSessions | None = None
    user: str | None = None
    folder: str | None = None
    files: Sequence[Path] = ()


def read_event(dialect: Dialect, data: bytes, registered: str | None) -> HookEvent:
    """Return the event in the bytes of standard input.

    Raises:
        InvalidInput: they are not strict JSON.
        HookFault: they are not an event of the agent, or not the one that is registered.
    """
    try:
        event = dialect.event(parse_json(data))
    except InvalidInput as error:
        event = _read_cut(dialect, data, error)
    if registered not in (None, event.name):
        raise HookFault("/hook_event_name", f"must be {registered}")
    return event


def _read_cut(dialect: Dialect, data: bytes, error: InvalidInput) -> HookEvent:
    """Return the end of a call of which not all can be read. The call ended all the same."""
    cut = cut_event(data) if len(data) <= MOST_EVENT_BYTES else None
    if cut is None:
        raise error
    filled: dict[str, Any] = {name: {} for name in cut.unread & {"tool_response"}}
    event = dialect.event({**cut.members, **filled})
    if event.kind != "result":
        raise error
    return event._replace(is_cut=True)


def answer_event(
    dialect: Dialect,
    event: HookEvent,
    leave: Sequence[str],
    settings: Callable[[], HookSettings],
) -> HookAnswer:
    """Return the answer to an event. Only one that is judged needs the settings.

    Args:
        leave: tools that another hook of the agent judges; `*` at the end stands for any rest.

    Raises:
        Exception: something failed, and the agent has to be refused.
    """
    if event.kind == "other":
        return dialect.allow(event.name, quiet=True)
    if event.name not in dialect.own_events and _is_left(event, leave):
        return dialect.allow(event.name)
    return _judge_event(dialect, event, settings())


def _is_left(event: HookEvent, leave: Sequence[str]) -> bool:
    """Return True where another hook of the agent judges the tool of a call."""
    return bool(event.tool) and any(
        event.tool.startswith(name[:-1]) if name.endswith("*") else event.tool == name
        for name in leave
    )


def _judge_event(dialect: Dialect, event: HookEvent, settings: HookSettings) -> HookAnswer:
    found = _judge_and_keep(dialect, event, settings)
    if not dialect.is_judged(event.name):
        return dialect.allow(event.name, quiet=True)
    guard = settings.policy.guard
    match found.action:
        case "allow":
            return dialect.allow(event.name, quiet=guard.shadow or settings.keeps_prompts)
        case "ask":
            if event.can_ask:
                return dialect.ask(found.reason)
            return dialect.cannot_ask(event.name, found.reason)
        case _:
            is_halt = guard.on_refusal == "halt" and event.kind == "call"
            return dialect.deny(event.name, found.reason or "refused", halt=is_halt)


def _judge_and_keep(dialect: Dialect, event: HookEvent, settings: HookSettings) -> HookOutcome:
    """Judge an event, and keep the session."""
    place = SessionPlace(event.session, settings.state, settings.log)
    with (settings.sessions or KeptSessions()).hold(settings.policy, place) as guard:
        event = event._replace(user=_user_at(settings, event))
        opening = None if _is_open(guard, event.session) else _build_opening(settings, event)
        memory = HookMemory(dialect=dialect.name, session=event.session)
        if opening is not None and not dialect.is_judged(event.name):
            return HookOutcome(memory, "allow")
        note = guard.note(event.session) if opening is None else None
        kept = memory = memory if note is None else parse_memory(note.encode())
        if (memory.dialect, memory.session) != (dialect.name, event.session):
            raise StateUnusable("the state is of another session")
        if settings.policy.shell is not None:
            event, memory = _place_command(dialect, guard, memory, event, settings)
        found = hook_outcome(guard, memory, event, opening)
        is_new = found.memory != kept and not found.is_kept
        if is_new and guard.is_open(event.session):  # it could be opened
            guard.keep_note(event.session, found.memory.to_note())
    return found


def _place_command(
    dialect: Dialect, guard: Guard, memory: HookMemory, event: HookEvent, settings: HookSettings
) -> tuple[HookEvent, HookMemory]:
    """Have the guard read commands by what this machine has in the folder of the event."""
    from harness.guard.shell_world import DiskWorld, find_project  # noqa: PLC0415

    guard.use_world(None)
    if event.place == "":
        return event, memory
    # An agent starts its hooks where it is.
    start = Path(settings.folder or Path.cwd())
    here = str(start / (event.place or ""))
    if event.place is None and event.tool in dialect.in_folders:
        event = event._replace(folder=here)
    memory = memory.with_root(find_project(here))
    own = places_of_guard(start, [settings.state, *settings.files], settings.log)
    guard.use_world(DiskWorld(here, memory.root or "", guarded=own))
    return event, memory


def _build_opening(settings: HookSettings, event: HookEvent) -> dict[str, Any]:
    """Return what a session begins with beside a request."""
    known = {"user": event.user, "scope": list(settings.scope)}
    return {name: one for name, one in known.items() if one}


def _user_at(settings: HookSettings, event: HookEvent) -> str | None:
    """Return who is at the agent. An invalid name is left out: no rule reads it."""
    said = event.user if event.user is not None and is_identifier(event.user) else None
    return settings.user or said


def _is_open(guard: Guard, session: str) -> bool:
    """Return whether a session goes on.

    Raises:
        StateUnusable: its journal cannot be believed.
    """
    try:
        return guard.is_open(session)
    except OutOfPlace as error:
        raise StateUnusable(f"{error} of the agent") from None
