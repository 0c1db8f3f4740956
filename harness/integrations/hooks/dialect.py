"""Hook events in one form for all agents, and the answers to each agent. Loads nothing heavy.

Rule 1: an event that is not known, or lacks what it should have, is a fault: never an allow.
Rule 2: a refusal is said in the words of the agent and the event. Where the event is not known, the
        exit status says it, which every one of these agents takes as a block.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Final, Literal, NamedTuple

from harness.canonical import ascii_json
from harness.errors import HarnessError

Kind = Literal["prompt", "call", "result", "shown", "end", "other"]
"""What an event says. `shown`: a person is asked about a call. `end`: nothing runs any more."""

_BLOCKED: Final = 2
"""The exit status that blocks, in every dialect. The reason is on standard error then."""

_LONGEST_ID: Final = 256

_FOLDER: Final = "cwd"
"""The folder of a call, in events and among the arguments that are judged."""


class HookFault(HarnessError):
    """A hook event is not what the agent documents.

    Attributes:
        path: JSON pointer to the place.
    """

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path or 'the event'}: {message}")
        self.path = path


class HookEvent(NamedTuple):
    """A hook event in the terms of a session.

    Attributes:
        name: the event as the agent calls it.
        can_ask: the agent can be told to ask its user, and has one.
        call: the id of the call; None where the agent gives none.
        agent: the sub-agent whose event it is; None for the agent itself.
        folder: where the call works, of a tool whose arguments are relative to it.
        output: what the call returned; None where it returned nothing.
        error: the text of its failure.
        is_cut: what it returned could not be read, or not all of it.
        user: who is at the agent, as it says.
        place: the folder in which the agent is, as it says; None where it says nothing.
    """

    name: str
    kind: Kind
    session: str = ""
    text: str = ""
    can_ask: bool = False
    call: str | None = None
    tool: str = ""
    args: Any = None
    agent: str | None = None
    folder: str | None = None
    status: str = "completed"
    output: Any = None
    error: str | None = None
    duration_ms: int | None = None
    is_cut: bool = False
    user: str | None = None
    place: str | None = None

    @property
    def judged_args(self) -> Any:
        """The arguments with the folder among them: the same text is another call elsewhere."""
        return self.args if self.folder is None else {**self.args, _FOLDER: self.folder}


class HookAnswer(NamedTuple):
    """The output and the errors to print, and the exit status."""

    said: Mapping[str, Any] | None = None
    reason: str = ""
    status: int = 0

    @property
    def out(self) -> str:
        """The text for standard output: a line of ASCII, or nothing."""
        if self.said is None:
            return ""
        return ascii_json(self.said) + "\n"

    @property
    def err(self) -> str:
        """The text for standard error: a line, or nothing."""
        return f"critic: {self.reason}\n" if self.reason else ""


class Dialect(ABC):
    """How one agent asks and is answered.

    Attributes:
        name: as in `critic hook NAME`.
        title: as people call the agent.
        session_key: the member that holds the id of the session.
        user_key: the member that names who is at the agent, if it says so.
        kinds: the events that are known. None of the kinds `shown`, `end` and `other` is judged.
        asks: the events at which the agent can be told to ask its user.
        in_folders: the tools whose arguments are relative to the folder of the event.
        own_events: the events of single tools, which `leave` leaves those tools to.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    session_key: ClassVar[str] = "session_id"
    user_key: ClassVar[str | None] = None
    kinds: ClassVar[Mapping[str, Kind]]
    asks: ClassVar[frozenset[str]] = frozenset()
    in_folders: ClassVar[frozenset[str]] = frozenset()
    own_events: ClassVar[frozenset[str]] = frozenset()

    def event(self, value: Any) -> HookEvent:
        """Return what an event says.

        Raises:
            HookFault: it is not an event of this agent.
        """
        name = self.event_name(value)
        kind = self.kinds[name]
        if kind == "other":
            return HookEvent(name, kind)
        session = text_at(value, self.session_key)
        if not 0 < len(session) <= _LONGEST_ID:
            raise HookFault(f"/{self.session_key}", "must have 1 to 256 characters")
        user = None if self.user_key is None else optional_text(value, self.user_key)
        place = self._place(value)
        if kind == "prompt":
            return HookEvent(name, kind, session, text_at(value, "prompt"), user=user, place=place)
        agent = optional_text(value, "agent_id")
        if kind == "end":
            return HookEvent(name, kind, session, agent=agent)
        can_ask = name in self.asks and not self._is_unattended(value)
        call = optional_text(value, "tool_use_id")
        plain = HookEvent(name, kind, session, can_ask=can_ask, call=call, agent=agent, user=user)
        known = self._with_call(value, plain._replace(place=place))
        if type(known.args) is not dict:
            raise HookFault("/tool_input", "must be an object")
        if known.tool in self.in_folders:
            known = known._replace(folder=_folder(value, known.args))
        return self._with_result(value, known) if kind == "result" else known

    def event_name(self, value: Any) -> str:
        """Return the name of an event that is known.

        Raises:
            HookFault: it is not.
        """
        if type(value) is not dict:
            raise HookFault("", "must be an object")
        name = text_at(value, "hook_event_name")
        if name not in self.kinds:
            raise HookFault("/hook_event_name", f"must be one of {', '.join(self.kinds)}")
        return name

    def _place(self, value: dict[str, Any]) -> str | None:
        """Return the folder in which the agent is; "" if the event says that it has none."""
        return optional_text(value, _FOLDER) or ("" if _FOLDER in value else None)

    def _is_unattended(self, value: dict[str, Any]) -> bool:
        """Return True where the agent runs without asking its user anything."""
        del value
        return False

    def _with_call(self, value: dict[str, Any], event: HookEvent) -> HookEvent:
        """Return the event with its tool and arguments."""
        return event._replace(tool=text_at(value, "tool_name"), args=value.get("tool_input"))

    @abstractmethod
    def _with_result(self, value: dict[str, Any], event: HookEvent) -> HookEvent:
        """Return the event with how the call ended."""

    @abstractmethod
    def allow(self, event: str, *, quiet: bool = False) -> HookAnswer:
        """Let a call, a prompt or a result pass.

        `quiet` leaves the decision to the agent as it would be without a hook, where it can.
        """

    @abstractmethod
    def deny(self, event: str, reason: str, *, halt: bool = False) -> HookAnswer:
        """Refuse it. `halt` ends the run of the agent, where it can."""

    def ask(self, reason: str) -> HookAnswer:
        """Have the agent ask its user, at an event of `asks`. One that has none blocks."""
        return block_call(reason)

    def cannot_ask(self, event: str, reason: str) -> HookAnswer:
        """Refuse what a person would have to be asked about, and say what to do."""
        how = f"{self.title} cannot ask about this through a hook: make the call yourself, name its"
        what = f"{how} values in your request, or change the policy and begin a new session"
        return self.deny(event, f"{reason.rstrip('.')}. {what}")

    def fail_closed(self, event: str | None, reason: str) -> HookAnswer:
        """Refuse whatever was asked, after a failure. `event` is None where it is not known."""
        if event is None or event not in self.kinds:
            return HookAnswer(reason=reason, status=_BLOCKED)
        if not self.is_judged(event):
            return self.allow(event, quiet=True)
        return self.deny(event, reason)

    def is_judged(self, event: str) -> bool:
        """Return True for an event that can be refused."""
        return self.kinds[event] in ("prompt", "call", "result")


def _folder(value: Mapping[str, Any], args: Mapping[str, Any]) -> str | None:
    if _FOLDER in args:
        raise HookFault(f"/tool_input/{_FOLDER}", "must be absent: the event names the folder")
    return optional_text(value, _FOLDER) or None


def block_call(reason: str) -> HookAnswer:
    """Return the answer that says a refusal by its exit status."""
    return HookAnswer(reason=reason, status=_BLOCKED)


def text_at(value: Mapping[str, Any], key: str) -> str:
    """Return a member that has to be text.

    Raises:
        HookFault: it is not.
    """
    text = optional_text(value, key)
    if text is None:
        raise HookFault(f"/{key}", "is missing")
    return text


def optional_text(value: Mapping[str, Any], key: str) -> str | None:
    """Return a member that is text, absent or null.

    Raises:
        HookFault: it is something else.
    """
    text = value.get(key)
    if text is not None and type(text) is not str:
        raise HookFault(f"/{key}", "must be text")
    return text


def milliseconds(value: Any) -> int | None:
    """Return a duration that an agent measured, in milliseconds; None where it is unusable."""
    if type(value) not in (int, float) or not 0 <= value < 2**53:
        return None
    return int(value)
