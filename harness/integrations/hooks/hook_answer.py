"""Answer one hook event: read it, go on with its session, judge, keep the session, answer.

Rule 1: whatever fails is a refusal. It is `Dialect.closed` of the caller.
Rule 2: the session is kept before the agent is answered: what is allowed is on record.
"""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from harness.guard.guard import Guard
from harness.guard.recording import WentOnElsewhere
from harness.integrations.hooks.dialect import Dialect, HookAnswer, HookEvent, HookFault
from harness.integrations.hooks.memory import HookMemory, HookState
from harness.integrations.hooks.outcomes import HookOutcome, hook_outcome
from harness.integrations.hooks.state_file import StateFile, StateUnusable, state_file
from harness.policy import Policy
from harness.wire import InvalidInput, parse_json


class HookSettings(NamedTuple):
    """What a hook is told on its command line.

    Attributes:
        scope: the tools that every request is for.
        keeps_prompts: what is allowed is left to the agent, which may still ask its user.
        log: where the decision log is.
    """

    policy: Policy
    state: Path
    scope: Sequence[str] = ()
    log: str | None = None
    keeps_prompts: bool = False


def heard(dialect: Dialect, data: bytes, registered: str | None) -> HookEvent:
    """Return the event in the bytes of standard input.

    Raises:
        InvalidInput: they are not strict JSON.
        HookFault: they are not an event of the agent, or not the one that is registered.
    """
    event = dialect.event(parse_json(data))
    if registered not in (None, event.name):
        raise HookFault("/hook_event_name", f"must be {registered}")
    return event


def answered(
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
    if _is_left(event, leave):
        return dialect.allow(event.name)
    return _judged(dialect, event, settings())


def _is_left(event: HookEvent, leave: Sequence[str]) -> bool:
    """Return True where another hook of the agent judges the tool of a call."""
    return bool(event.tool) and any(
        event.tool.startswith(name[:-1]) if name.endswith("*") else event.tool == name
        for name in leave
    )


def _judged(dialect: Dialect, event: HookEvent, settings: HookSettings) -> HookAnswer:
    found = _kept(dialect, event, settings)
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


def _kept(dialect: Dialect, event: HookEvent, settings: HookSettings) -> HookOutcome:
    """Judge an event, and keep the session."""
    with ExitStack() as stack:
        file = stack.enter_context(state_file(settings.state, f"{dialect.name}\n{event.session}"))
        log = stack.enter_context(_opened(settings.log)) if settings.log else None
        guard = Guard(settings.policy, log=log)
        memory = _resumed(guard, file)
        scope = settings.scope if memory is None else None
        if memory is None:
            memory = HookMemory(dialect=dialect.name, session=event.session)
        elif (memory.dialect, memory.session) != (dialect.name, event.session):
            raise StateUnusable("the state is of another session")
        found = hook_outcome(guard, memory, event, scope)
        file.write(HookState(found.memory, guard.export(event.session)).dumped())
    return found


def _resumed(guard: Guard, file: StateFile) -> HookMemory | None:
    """Go on with the session of a file, if there is one."""
    data = file.read()
    if data is None:
        return None
    try:
        state = HookState.parsed(data)
        name = guard.resume(state.guard)
    except (InvalidInput, WentOnElsewhere) as error:
        advice = "begin a new session of the agent"
        raise StateUnusable(f"cannot go on with this session: {error}: {advice}") from None
    if name != state.memory.session:
        raise StateUnusable("the state is of another session")
    return state.memory


def _opened(log: str) -> Any:
    from harness.log.sql import SqlDecisionLog  # noqa: PLC0415 - a quarter of a second

    return SqlDecisionLog.open(log)
