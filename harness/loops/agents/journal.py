"""A journal of calls to models, so that a loop resumes after a crash and replays without a model.

Rule 1: a reply is found under its session and step only if the inputs equal the recorded ones.
        Other inputs are a divergence, never a stale answer.
Rule 2: a failure is kept as a failure. Resuming makes the call again and says so in `notes`.
Rule 3: an entry is one line of canonical JSON. It is kept before its reply is handed out, and
        with the same clock the same calls give the same bytes.
Rule 4: only replies are kept here. Verdicts of the deterministic Critic on a plan are derived
        again every time, and never taken from a journal.
Rule 5: each line carries a digest over its content and the digest of the line before it, so a
        line that was edited, removed, inserted or moved is an error. The digest is not a
        signature: it does not protect against somebody who rewrites all the lines after a change,
        and lines removed at the end are not noticed.
"""

import hashlib
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from threading import RLock
from typing import Annotated, Any, Final, Literal, Protocol, Self, assert_never

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from evals.envelope import OPTIONAL, Count, Envelope
from evals.escaping import escape_line, escape_name
from evals.json_value import JsonValue, PresentJson, Text
from evals.timestamps import Time
from harness.canonical import canonical_bytes, canonical_json, digest
from harness.errors import HarnessError, escape_text
from harness.loops.agents.agent import AgentFailed, describe
from harness.record import Digest
from harness.runtime.ports import Clock
from harness.wire import parse

JournalMode = Literal["resume", "replay"]
"""What happens to a step without a reply: `resume` makes its call, `replay` refuses."""

_START: Final = "0" * 64
"""The digest that the first line is chained to."""


class JournalError(HarnessError):
    """Base of the errors of journals. A loop does not take it for a failure of its agents."""


class ReplayDivergence(JournalError):
    """A call has other inputs than the recorded one, or a replay asks for an unknown step."""


class JournalDamaged(JournalError):
    """A line of the journal is not an entry, or contradicts the lines before it."""


class UnrecordableReply(JournalError):
    """The call was made, but its reply or its inputs cannot be kept as JSON."""


class RecordedFailure(AgentFailed):
    """In a replay: the call failed when it was recorded. The message is the recorded one."""


class Entry(Envelope):
    """One line of a journal: one call and its outcome.

    Attributes:
        session: the session of the call.
        step: the name of the call within its session.
        attempt: counts the calls of one step, from 1.
        at: when the call ended.
        inputs: the digest of the inputs of the call.
        status: `replied`, or `failed` with an `error`.
        reply: the reply. A failed call may hold what came before the failure.
        error: why the call failed, in one line.
        chain: the digest of this line and the one before it; see `chain_digest`.
    """

    session: Text
    step: Text
    attempt: Annotated[Count, Field(ge=1)]
    at: Time
    inputs: Digest
    status: Literal["replied", "failed"]
    reply: PresentJson = None
    error: Annotated[Text | None, OPTIONAL] = None
    chain: Annotated[Digest | None, OPTIONAL] = None

    @model_validator(mode="after")
    def _require_outcome(self) -> Self:
        replied = self.status == "replied"
        if replied != (self.error is None) or (replied and self.reply is None):
            raise PydanticCustomError("entry", "an entry has a reply, or failed with an error")
        return self


def chain_digest(entry: Entry, previous: str | None) -> str:
    """Return the digest of a line: SHA-256 over the digest before it and its own content.

    `previous` is None for the first line. The content is the canonical JSON without `chain`.
    """
    content = {name: value for name, value in entry.wire().items() if name != "chain"}
    before = (previous or _START).encode()
    return hashlib.sha256(before + b"\n" + canonical_json(content)).hexdigest()


class _Inputs(Envelope):
    inputs: JsonValue


class JournalStore(Protocol):
    """A place to keep the lines of a journal, in order.

    A journal holds `lock` from reading the newest line to appending the next. A store that serves
    several threads or journals gives all of them the same lock.
    """

    @property
    def lock(self) -> AbstractContextManager[object]:
        """Return a reentrant lock, which the thread that holds it can take again."""

    def lines(self, start: int = 0) -> list[bytes]:
        """Return the whole lines from number `start` (from 0) on, without line breaks."""

    def note(self) -> str | None:
        """Return a message on what was left out on reading, such as a torn line; or None."""

    def append(self, line: bytes) -> None:
        """Keep one more line. Once this returns, the line is kept.

        Raises:
            JournalError: the line could not be kept.
        """


class MemoryStore:
    """Lines that last as long as the process: for tests, and for one replay."""

    def __init__(self, lines: tuple[bytes, ...] = ()) -> None:
        """Start with these lines."""
        self.lock: Final = RLock()
        self._lines = [*lines]

    def lines(self, start: int = 0) -> list[bytes]:
        """Return the lines from number `start` on."""
        return self._lines[start:]

    def note(self) -> str | None:
        """Return None: nothing is ever left out."""
        return None

    def append(self, line: bytes) -> None:
        """Keep one more line."""
        self._lines.append(line)


class Journal:
    """Replies by session and step. Threads may share one, and journals may share a store.

    Attributes:
        notes: what its user should know: a line cut short, a step executed again.
    """

    def __init__(self, store: JournalStore, clock: Clock, mode: JournalMode = "resume") -> None:
        """Read the lines of the store.

        Raises:
            JournalDamaged: a line cannot be believed; the message has its number.
        """
        self._store = store
        self._now = clock.now
        self._mode = mode
        self._entries: dict[tuple[str, str], Entry] = {}
        self._read = 0
        self._head: str | None = None
        with store.lock:
            self._catch_up()
            cut = store.note()
        self.notes: list[str] = [] if cut is None else [cut]

    def find(self, session: str, step: str, inputs: Any) -> Entry | None:
        """Return the recorded reply of a step (in a replay, its outcome), or None.

        Raises:
            ReplayDivergence: it was recorded with other inputs, or a replay does not know it.
            UnrecordableReply: the inputs are not a JSON value.
            JournalDamaged: a line that was added since cannot be believed.
        """
        where = _name_place(session, step)
        with self._store.lock:
            self._catch_up()
            entry = self._entries.get((session, step))
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
        """Record the outcome of a step: a reply, or why it failed with what came before.

        Return the entry as any later reader will find it: its values are in canonical order.

        Raises:
            UnrecordableReply: the reply is not a JSON value, or null; or the step has its reply
                already.
            JournalError: the store did not take it.
        """
        with self._store.lock:
            self._catch_up()
            entry = self._next_entry(session, step, inputs, {"reply": reply, "error": error})
            self._store.append(canonical_bytes(entry))
            self._take(entry)
            self._read += 1
        return entry.model_copy(deep=True)

    async def step(
        self, session: str, name: str, inputs: Any, call: Callable[[], Awaitable[Any]]
    ) -> Any:
        """Return the reply to `inputs`: the recorded one, else that of `call`, which is recorded.

        Raises:
            JournalError: as `find` and `keep`.
            RecordedFailure: in a replay, the step failed when it was recorded.
            Exception: an error that `call` raised; it is recorded as a failure.
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

    def _next_entry(self, session: str, step: str, inputs: Any, outcome: dict[str, Any]) -> Entry:
        """Return the next line, chained to the last one."""
        where, before = _name_place(session, step), self._entries.get((session, step))
        try:
            entry = Entry(
                session=session,
                step=step,
                attempt=before.attempt + 1 if before else 1,
                at=self._now(),
                inputs=_digest(inputs, where),
                status="replied" if outcome["error"] is None else "failed",
                **{name: value for name, value in outcome.items() if value is not None},
            )
            self._check(entry)
            entry = entry.model_copy(update={"chain": chain_digest(entry, self._head)})
            return parse(Entry, canonical_bytes(entry))
        except ValueError as error:
            reason = escape_text(str(error))
            raise UnrecordableReply(f"{where} cannot be recorded: {reason}") from None

    def _catch_up(self) -> None:
        """Read the lines that were added since, by this journal or another one of the store."""
        for line in self._store.lines(self._read):
            try:
                entry = parse(Entry, line)
                self._check(entry)
                self._check_chain(entry)
            except ValueError as error:
                raise JournalDamaged(f"line {self._read + 1}: {error}") from None
            self._take(entry)
            self._read += 1

    def _take(self, entry: Entry) -> None:
        self._entries[entry.session, entry.step] = entry
        self._head = entry.chain

    def _check(self, entry: Entry) -> None:
        """Check that an entry may follow those before it.

        Raises:
            ValueError: it may not.
        """
        before = self._entries.get((entry.session, entry.step))
        where = _name_place(entry.session, entry.step)
        if before is not None and before.status == "replied":
            raise ValueError(f"{where} has its reply already")
        if before is not None and before.inputs != entry.inputs:
            raise ValueError(f"{where} was tried with other inputs before")
        if entry.attempt != (before.attempt + 1 if before else 1):
            raise ValueError(f"{where} lacks an earlier attempt")

    def _check_chain(self, entry: Entry) -> None:
        if entry.chain != chain_digest(entry, self._head):
            raise ValueError(
                "its digest does not match: this line or the ones before it were changed; "
                "restore the file, or begin a new journal"
            )


def _name_place(session: str, step: str) -> str:
    return f"step {escape_name(step)} of session {escape_name(session)}"


def _digest(inputs: Any, where: str) -> str:
    try:
        return digest(_Inputs(inputs=inputs))
    except ValueError as error:
        reason = escape_text(str(error))
        raise UnrecordableReply(f"the inputs of {where} are not a JSON value: {reason}") from None
