"""The lines of a session file: its start, its iterations, its end. All are frozen.

Rule 1: durations are whole milliseconds, times are RFC 3339, and an absent field is omitted.
Rule 2: what an agent wrote is recorded as it came. Code that prints it must escape it.
"""

import hashlib
from base64 import b64decode, b64encode
from typing import Annotated, Final, Literal, Self

from pydantic import Field

from evals.envelope import ARRAY, OPTIONAL, Count, Envelope
from evals.json_value import Text
from evals.timestamps import Time
from harness.loops.code.agent_commands import AgentRole
from harness.loops.code.critic_decision import CodeDecision, Confidence
from harness.record import Digest

SessionOutcome = Literal[
    "success", "max_iterations_reached", "time_limit_reached", "failed", "user_interrupted"
]
"""How a session ended."""

EXIT_CODES: Final[dict[SessionOutcome, int]] = {
    "success": 0,
    "max_iterations_reached": 1,
    "time_limit_reached": 1,
    "failed": 2,
    "user_interrupted": 130,
}

GateRefusalKind = Literal[
    "command_failed",
    "gate_error",
    "capture_failed",
    "protected_path_changed",
    "diff_too_large",
    "actor_failed",
    "changed_while_judged",
]
"""Why a change is refused before the critic is asked; the last two overrule its `done`."""

CodeSessionId = Annotated[str, Field(pattern=r"^[0-9]{8}T[0-9]{6}\.[0-9]{3}Z-[0-9a-f]{4}$")]
Words = Annotated[tuple[Text, ...], ARRAY, Field(min_length=1)]
GateLimit = Annotated[Count, Field(ge=1)]
PositiveSeconds = Annotated[float, Field(gt=0)]


class GateRules(Envelope):
    """The rules a change must pass before a critic sees it. `timeout` is in seconds."""

    commands: Annotated[tuple[Words, ...], ARRAY] = ()
    protected: Annotated[tuple[Text, ...], ARRAY] = ()
    max_lines: Annotated[Count | None, OPTIONAL] = None
    max_files: Annotated[Count | None, OPTIONAL] = None
    timeout: PositiveSeconds


class Refusal(Envelope):
    """One reason to refuse a change. `reason` is one safe line; `detail` is raw output."""

    kind: GateRefusalKind
    reason: Text
    detail: Annotated[Text | None, OPTIONAL] = None


class ChangedFile(Envelope):
    """A changed path. A moved file is recorded as one deleted and one added.

    For a `nested` repository the diff shows only its commit, not its files.
    """

    path: Text
    status: Literal["added", "deleted", "modified", "type_changed"]
    nested: bool = False


class Diff(Envelope):
    """A diff: its digest, and its content if it is small enough to keep.

    The content is in `text` if it is UTF-8, else in `base64`.
    """

    sha256: Digest
    size: Count
    lines: Count
    files: Annotated[tuple[ChangedFile, ...], ARRAY]
    text: Annotated[Text | None, OPTIONAL] = None
    base64: Annotated[Text | None, OPTIONAL] = None

    @classmethod
    def of(
        cls,
        sha256: str,
        size: int,
        lines: int,
        files: tuple[ChangedFile, ...],
        content: bytes | None,
    ) -> Self:
        """Return the record of a diff of `size` bytes; `content` is None if it is not kept."""
        text = encoded = None
        try:
            text = content.decode() if content is not None else None
        except UnicodeDecodeError:
            encoded = b64encode(content or b"").decode()
        fields = {"text": text} if text is not None else {"base64": encoded} if encoded else {}
        return cls(sha256=sha256, size=size, lines=lines, files=files, **fields)

    def content(self) -> bytes | None:
        """Return the bytes of the diff, or None if they were not kept."""
        if self.text is not None:
            return self.text.encode()
        return None if self.base64 is None else b64decode(self.base64, validate=True)

    def is_whole(self) -> bool:
        """Return whether the content, if it was kept, matches the digest."""
        try:
            content = self.content()
        except ValueError:
            return False
        return content is None or hashlib.sha256(content).hexdigest() == self.sha256


class AgentRun(Envelope):
    """One run of an agent. Tokens and cost are absent if the agent did not report them."""

    exit_code: int
    timed_out: bool = False
    interrupted: bool = False
    """The session ended while the agent was running, and the agent was stopped."""
    not_started: bool = False
    """The command could not be started; `stderr` says why."""
    truncated: bool = False
    """The middle of a long output was left out."""
    duration_ms: Count
    stdout: Text
    stderr: Text
    tokens: Annotated[Count | None, OPTIONAL] = None
    cost_micros: Annotated[Count | None, OPTIONAL] = None
    fault: Annotated[Text | None, OPTIONAL] = None
    """Why this reply of a critic was rejected as malformed, if it was."""


class RetriedRun(Envelope):
    """A run that failed before the agent could answer, and was tried again."""

    role: AgentRole
    run: AgentRun


class SessionStart(Envelope):
    """The first line: the task, the agents, the limits, and the state the session began with."""

    type: Literal["session_start"] = "session_start"
    session: CodeSessionId
    time: Time
    task: Text
    folder: Text
    actor: Words
    critic: Words
    max_iterations: GateLimit
    gate: GateRules
    base_tree: Text
    """The id of the tree of all files as the session found them."""
    base_digest: Annotated[Digest | None, OPTIONAL] = None
    """Digest of what a resumed session needs besides the tree; absent if it cannot be resumed."""
    root: Annotated[Text | None, OPTIONAL] = None
    """The top of the work tree."""
    commit: Annotated[Text | None, OPTIONAL] = None
    """The commit that was checked out, if there was one."""
    timeout: Annotated[PositiveSeconds | None, OPTIONAL] = None
    time_limit: Annotated[PositiveSeconds | None, OPTIONAL] = None
    retries: Annotated[Count | None, OPTIONAL] = None
    allow_agent_settings: bool = False
    accepted_unreviewed: bool = False
    """A person accepted changes that no session approved as part of the base."""
    accepted_session: Annotated[CodeSessionId | None, OPTIONAL] = None
    """The unfinished session whose changes were accepted so, if its base was still kept."""


class SessionResumed(Envelope):
    """A session goes on after an interruption, a crash or a limit, with the base it began with."""

    type: Literal["session_resumed"] = "session_resumed"
    time: Time
    max_iterations: GateLimit


class Iteration(Envelope):
    """One run of the actor and its review. An interrupted iteration lacks what did not happen.

    `diff` is the whole change since the session began, not since the previous iteration.
    """

    type: Literal["iteration"] = "iteration"
    number: GateLimit
    time: Time
    actor: AgentRun
    interrupted: bool = False
    diff: Annotated[Diff | None, OPTIONAL] = None
    not_seen: Annotated[tuple[Text, ...], ARRAY] = ()
    """Nested repositories: what is in them was not captured, and nobody reviewed it."""
    by_checks: Annotated[tuple[Text, ...], ARRAY] = ()
    """Files of the diff that the checks added, and not the actor."""
    refusals: Annotated[tuple[Refusal, ...], ARRAY] = ()
    critic: Annotated[tuple[AgentRun, ...], ARRAY] = ()
    retried: Annotated[tuple[RetriedRun, ...], ARRAY] = ()
    decision: Annotated[CodeDecision | None, OPTIONAL] = None
    feedback: Annotated[Text | None, OPTIONAL] = None
    """The text that the next actor gets."""


class SessionEnd(Envelope):
    """The last line: the outcome. Tokens and cost are absent unless every run reported them."""

    type: Literal["session_end"] = "session_end"
    time: Time
    outcome: SessionOutcome
    iterations: Count
    duration_ms: Count
    tokens: Annotated[Count | None, OPTIONAL] = None
    cost_micros: Annotated[Count | None, OPTIONAL] = None
    summary: Annotated[Text | None, OPTIONAL] = None
    confidence: Annotated[Confidence | None, OPTIONAL] = None
    reason: Annotated[Text | None, OPTIONAL] = None
    """Why the session failed, if it did."""


SessionLine = SessionStart | Iteration | SessionResumed | SessionEnd

LINES: Final[dict[str, type[SessionLine]]] = {
    "session_start": SessionStart,
    "iteration": Iteration,
    "session_resumed": SessionResumed,
    "session_end": SessionEnd,
}
