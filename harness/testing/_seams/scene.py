"""One run of an agent that the contract asks an integration for, and what came of it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeVar

from harness.guard import Guard
from harness.integrations.seam.guarded import AskedCall, CallReply
from harness.policy import Policy
from harness.record import GENESIS, Decision, Head
from harness.wire import build

LAST_WORDS: Final = "bye"
HELPER: Final = "ask_helper"
"""The tool whose body runs the sub-agent of a scene."""

_TEXT: Final = {"type": "string"}
_CENTS: Final = {"type": "integer", "maximum": 10_000}

_T = TypeVar("_T")


class ScriptedTurn(NamedTuple):
    """A turn of the scripted model: words, then the calls that it asks for."""

    calls: tuple[AskedCall, ...]
    text: str = ""


@dataclass(frozen=True)
class Trace:
    """The outcome of a run, as the framework shows it.

    Attributes:
        told: what the model was given for each call, by its id: its result or a refusal. Of calls
            with one id, the last.
        said: the last words of the agent; None where the run ended otherwise.
        ended: what the run raised.
        shown: the tools that the model was shown in its first request.
    """

    told: Mapping[str, str] = field(default_factory=dict)
    said: str | None = None
    ended: BaseException | None = None
    shown: frozenset[str] = frozenset()


class JournalLog:
    """A log that notes in the journal of a scene that it recorded, or fails."""

    def __init__(self, journal: list[str], *, fails: bool = False) -> None:
        """Note in a journal what is recorded."""
        self.decisions: list[Decision] = []
        self._journal, self._fails = journal, fails

    def append(self, decision: Decision) -> Any:
        """Keep a decision."""
        if self._fails:
            raise OSError("the disk is full")
        self._journal.append("recorded")
        self.decisions.append(decision)
        return _Numbered(len(self.decisions))

    def head(self) -> Head:
        """Return the number of the last decision. Nothing here is hashed."""
        return Head(seq=len(self.decisions), hash=GENESIS)

    def claims(self, claims: Iterable[str]) -> Mapping[str, int]:
        """Return where each claim on the state of a session was made."""
        made = {
            claim: seq
            for seq, decision in enumerate(self.decisions, 1)
            for claim in decision.claims
        }
        return {claim: made[claim] for claim in claims if claim in made}


class _Numbered(NamedTuple):
    seq: int


@dataclass
class Scene:
    """One run that an integration plays with the real framework and a scripted model.

    The agent has `tools`, is guarded by `guard` in the session `session`, and is asked `request`.
    Its model answers `turns` one after the other, then says `bye`.

    Where the run asks, call `ask`, and answer by the framework's own mechanism, with the digest of
    `digest_of_answer` where it carries one, by an agent with the guard of `guard_of_answer`.

    Two scenes are played at once through one agent: make it by `share`, so that the second gets
    that of the first, and let its model answer the turns of the scene `on_stage`, as `tools` do.
    Call `pause` where the framework waits for its model.

    Attributes:
        journal: what happened: `recorded`, `ran ...`, `asked ...`.
        streams: run it by the framework's way of streaming.
        has_sub_agent: the calls are asked for by a second guarded agent, which runs inside of the
            tool `ask_helper`. The model of the first asks for that tool, once, and says `bye`.
        rewrites: arguments by call id that another hook of the framework puts in place of those
            that the model asked for, as late as the framework lets it.
        travels: the question is answered in another process.
        loses_state: that process does not get the state of the session.
        replies: what a person says to calls; None where nobody answers.
        foreign_digest: the digest of another plan, that the answer names.
        failing: `lookup` raises.
        shared: what scenes that are played at once share; None where this one is played alone.
        pause: lets the other scene go on.
    """

    guard: Guard
    turns: tuple[ScriptedTurn, ...]
    policy: Policy
    journal: list[str]
    session: str = "s1"
    request: str = "Refund order 1"
    streams: bool = False
    has_sub_agent: bool = False
    rewrites: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    travels: bool = False
    loses_state: bool = False
    replies: Callable[[Sequence[str]], Mapping[str, CallReply] | None] | None = None
    foreign_digest: str | None = None
    failing: bool = False
    shared: dict[str, Any] | None = None
    pause: Callable[[], None] = lambda: None

    def share(self, make: Callable[[], _T]) -> _T:
        """Return the agent of a scene: of two that are played at once, the first makes it."""
        if self.shared is None:
            return make()
        if "agent" not in self.shared:
            self.shared["agent"] = make()
        agent: _T = self.shared["agent"]
        return agent

    @property
    def on_stage(self) -> "Scene":
        """Return the scene that is played in this context, which may be the other one."""
        return _ON_STAGE.get() or self

    @contextmanager
    def enter(self) -> Iterator[None]:
        """Say that what happens in this context happens in this scene."""
        token = _ON_STAGE.set(self)
        try:
            yield
        finally:
            _ON_STAGE.reset(token)

    def note(self, what: str) -> "Scene":
        """Note what happened in the scene on stage, let the other go on, and return the first."""
        scene = self.on_stage
        scene.journal.append(what)
        scene.pause()
        return scene

    @property
    def tools(self) -> dict[str, Callable[..., Any]]:
        """The tools of the agent that asks for the calls: synchronous functions with types.

        One that the policy does not know is among them in a shadow, and where it is asked for: an
        integration may refuse to be built with it.
        """

        def lookup(order_id: str) -> str:
            """Look up an order."""
            if self.note(f"ran lookup {order_id}").failing:
                raise RuntimeError("the shop is closed")
            return "paid"

        def issue_refund(order_id: str, cents: int) -> str:
            """Refund an order."""
            self.note(f"ran issue_refund {order_id} {cents}")
            return "done"

        def drop_table(name: str) -> str:
            """Drop a table. The policy does not know this tool."""
            self.note(f"ran drop_table {name}")
            return "gone"

        called = {call.tool for turn in self.turns for call in turn.calls}
        strange = self.policy.guard.shadow or drop_table.__name__ in called
        tools = (lookup, issue_refund, drop_table) if strange else (lookup, issue_refund)
        return {tool.__name__: tool for tool in tools}

    def ask(self, calls: Sequence[str]) -> Mapping[str, CallReply] | None:
        """Ask the person about calls. Return a reply for each, or None if nobody answers."""
        self.note(f"asked {' '.join(sorted(calls))}")
        return None if self.replies is None else self.replies(calls)

    def guard_of_answer(self) -> Guard:
        """Return the guard of the process in which the answer arrives.

        Where it is another than `guard`, the agent is made anew for it, and goes on from what the
        framework keeps, as JSON where it can.
        """
        if not self.travels:
            return self.guard
        other = Guard(self.policy)
        if not self.loses_state:
            other.resume(self.guard.export(self.session))
        return other

    def digest_of_answer(self, asked: str) -> str:
        """Return the digest that the answer names, for the one that was asked about."""
        return self.foreign_digest or asked

    @property
    def ran(self) -> list[str]:
        """The calls that ran, in order, such as `lookup 1`."""
        return [line.removeprefix("ran ") for line in self.journal if line.startswith("ran ")]


_ON_STAGE: Final[ContextVar[Scene | None]] = ContextVar("on_stage", default=None)


def policy_of_scene(mode: str, *, asks: bool = False, **guard: Any) -> Policy:
    """Return a policy of a shop. Refunds are destructive, and need an approval where it `asks`."""
    asking = {"approval_required_from": "destructive"} if asks else {}
    return build(
        Policy,
        {
            "guard": {"safety_mode": mode, "max_questions": 9, **guard},
            "spec": {"id": "refunds", "required_outputs": [], **asking},
            "tool": [
                _tool("lookup", "read_only", order_id=_TEXT),
                _tool("issue_refund", "destructive", order_id=_TEXT, cents=_CENTS),
                _tool(HELPER, "read_only", task=_TEXT),
            ],
        },
    )


def _tool(name: str, mode: str, **properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": [*properties]}
    tool = {"adapter_id": "shop", "capability_id": name, "approval_mode": mode}
    return {**tool, "args_schema": {**schema, "additionalProperties": False}}
