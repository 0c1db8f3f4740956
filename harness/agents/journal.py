"""A journal of calls to models, so that a loop resumes after a crash and replays without a model.

Rule 1: a reply is found under its session and step only if the inputs are those it was given to.
        Other inputs are a divergence, never a stale answer.
Rule 2: a failure is kept as a failure. Resuming makes the call again and says so in `notes`.
Rule 3: an entry is one line of canonical JSON. It is kept before its reply is handed out, and
        with the same clock the same calls give the same bytes.
Rule 4: only what was said is kept here. What the deterministic Critic makes of a plan is derived
        afresh every time, and never taken from a journal.
"""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Literal, Protocol, Self, assert_never

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from evals.canonical import canonical_bytes, digest
from evals.envelope import OPTIONAL, Count, Envelope
from evals.escaping import escape_line, escape_name
from evals.json_value import JsonValue, PresentJson, Text
from evals.timestamps import Time
from harness.agents.agent import AgentFailed, describe
from harness.runtime.ports import Clock
from harness.wire import parse

JournalMode = Literal["resume", "replay"]
"""What happens to a step without a reply: it is executed, or that is an error."""


class JournalError(Exception):
    """Base of what a journal refuses. A loop does not take it for a failure of its agents."""


class ReplayDivergence(JournalError):
    """What is asked now is not what was recorded: other inputs, or in a replay a step unknown."""


class JournalDamaged(JournalError):
    """A line of the journal is no entry, or contradicts the ones before it."""


class UnrecordableReply(JournalError):
    """The reply was given, but it is no JSON value of the kind that can be kept."""


class RecordedFailure(AgentFailed):
    """In a replay: the call failed when it was recorded. The message is the one of then."""


class Entry(Envelope):
    """One line of a journal: a call, by `inputs` the digest of what it was given.

    `attempt` counts the calls of one step from 1. One that `failed` says why, and may hold what
    came before it did.
    """

    session: Text
    step: Text
    attempt: Annotated[Count, Field(ge=1)]
    at: Time
    inputs: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    status: Literal["replied", "failed"]
    reply: PresentJson = None
    error: Annotated[Text | None, OPTIONAL] = None

    @model_validator(mode="after")
    def _of_one_piece(self) -> Self:
        replied = self.status == "replied"
        if replied != (self.error is None) or (replied and self.reply is None):
            raise PydanticCustomError("entry", "an entry has a reply, or failed with an error")
        return self


class _Inputs(Envelope):
    inputs: JsonValue


class JournalStore(Protocol):
    """Where the lines of a journal are kept."""

    def lines(self) -> list[bytes]:
        """The whole lines so far, each without its line break."""

    def note(self) -> str | None:
        """What had to be left out to read them, in words."""

    def append(self, line: bytes) -> None:
        """Keep one more line. Once this returns, it is kept."""


class MemoryStore:
    """Lines that last as long as the process: for tests, and for one replay."""

    def __init__(self, lines: tuple[bytes, ...] = ()) -> None:
        self._lines = [*lines]

    def lines(self) -> list[bytes]:
        """The lines so far."""
        return [*self._lines]

    def note(self) -> str | None:
        """Nothing is ever left out."""
        return None

    def append(self, line: bytes) -> None:
        """Keep one more line."""
        self._lines.append(line)


class Journal:
    """Replies by session and step.

    Attributes:
        notes: what happened that its user should know: a line cut short, a step executed again.
    """

    def __init__(self, store: JournalStore, clock: Clock, mode: JournalMode = "resume") -> None:
        """Read what is there.

        Raises:
            JournalDamaged: a line of it cannot be believed; the message has its number.
        """
        self._store = store
        self._now = clock.now
        self._mode = mode
        self._entries: dict[tuple[str, str], Entry] = {}
        for number, line in enumerate(store.lines(), start=1):
            try:
                self._take(parse(Entry, line))
            except ValueError as error:
                raise JournalDamaged(f"line {number}: {error}") from None
        cut = store.note()
        self.notes = [] if cut is None else [cut]

    def find(self, session: str, step: str, inputs: Any) -> Entry | None:
        """What is recorded of a step that need not be executed: its reply, in a replay its end.

        Raises:
            ReplayDivergence: it was recorded with other inputs, or a replay does not know it.
            UnrecordableReply: the inputs are no JSON value.
        """
        entry, where = self._entries.get((session, step)), _where(session, step)
        if entry is None:
            if self._mode == "replay":
                raise ReplayDivergence(f"{where} is asked for but was never recorded")
            return None
        if entry.inputs != _digest(inputs, where):
            raise ReplayDivergence(
                f"{where} was recorded with other inputs: use a new session for a changed task"
            )
        match entry.status:
            case "failed" if self._mode == "resume":
                self.notes.append(
                    f"{where} failed before and is executed again: {escape_line(entry.error or '')}"
                )
                return None
            case "replied" | "failed":
                return entry.model_copy(deep=True)  # its holder may change what is in it
            case _:
                assert_never(entry.status)

    def keep(
        self, session: str, step: str, inputs: Any, *, reply: Any = None, error: str | None = None
    ) -> Entry:
        """Record what came of a step: a reply, or why it failed with what came before.

        The entry is given as any later reader will find it: what it holds is in canonical order.

        Raises:
            UnrecordableReply: it is no JSON value, or null; or the step has its reply already.
        """
        where, before = _where(session, step), self._entries.get((session, step))
        outcome = {"reply": reply, "error": error}
        try:
            entry = Entry(
                session=session,
                step=step,
                attempt=before.attempt + 1 if before else 1,
                at=self._now(),
                inputs=_digest(inputs, where),
                status="replied" if error is None else "failed",
                **{name: value for name, value in outcome.items() if value is not None},
            )
            self._check(entry)
            line = canonical_bytes(entry)
            entry = parse(Entry, line)
        except ValueError as fault:
            raise UnrecordableReply(
                f"{where} cannot be recorded: {escape_name(str(fault))}"
            ) from None
        self._store.append(line)
        self._entries[session, step] = entry
        return entry.model_copy(deep=True)

    async def step(
        self, session: str, name: str, inputs: Any, call: Callable[[], Awaitable[Any]]
    ) -> Any:
        """The reply to `inputs`: as recorded, else by `call`, whose reply or failure is recorded.

        Raises:
            JournalError: as `find` and `keep`.
            RecordedFailure: in a replay, the step failed when it was recorded.
            Exception: whatever `call` raised, recorded as a failure.
        """
        entry = self.find(session, name, inputs)
        if entry is not None:
            if entry.status == "failed":
                raise RecordedFailure(entry.error)
            return entry.reply
        try:
            reply = await call()
        except Exception as error:
            self.keep(session, name, inputs, error=describe(error))
            raise
        return self.keep(session, name, inputs, reply=reply).reply

    def _take(self, entry: Entry) -> None:
        self._check(entry)
        self._entries[entry.session, entry.step] = entry

    def _check(self, entry: Entry) -> None:
        """Whether an entry may follow those before it.

        Raises:
            ValueError: it may not.
        """
        before = self._entries.get((entry.session, entry.step))
        where = _where(entry.session, entry.step)
        if before is not None and before.status == "replied":
            raise ValueError(f"{where} has its reply already")
        if before is not None and before.inputs != entry.inputs:
            raise ValueError(f"{where} was tried with other inputs before")
        if entry.attempt != (before.attempt + 1 if before else 1):
            raise ValueError(f"{where} lacks an earlier attempt")


def _where(session: str, step: str) -> str:
    return f"step {escape_name(step)} of session {escape_name(session)}"


def _digest(inputs: Any, where: str) -> str:
    try:
        return digest(_Inputs(inputs=inputs))
    except ValueError as error:
        fault = escape_name(str(error))
        raise UnrecordableReply(f"the inputs of {where} are no JSON value: {fault}") from None
