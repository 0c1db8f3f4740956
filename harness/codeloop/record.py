"""What a session consists of, line by line: its start, its iterations, its end. All frozen.

Rule 1: a duration is whole milliseconds, a time is RFC 3339, an absent field is left out.
Rule 2: whatever an agent wrote is recorded as it came; whoever prints it makes it safe.
"""

import hashlib
from base64 import b64decode, b64encode
from typing import Annotated, Final, Literal, Self

from pydantic import Field

from evals.envelope import ARRAY, OPTIONAL, Count, Envelope
from evals.json_value import Text
from evals.timestamps import Time
from harness.codeloop.decision import CodeDecision, Confidence

SessionOutcome = Literal["success", "max_iterations_reached", "failed", "user_interrupted"]

EXIT_CODES: Final[dict[SessionOutcome, int]] = {
    "success": 0,
    "max_iterations_reached": 1,
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
"""Why a change is refused whatever the critic says of it. The last two take back a `done`."""

CodeSessionId = Annotated[str, Field(pattern=r"^[0-9]{8}T[0-9]{6}\.[0-9]{3}Z-[0-9a-f]{4}$")]
Words = Annotated[tuple[Text, ...], ARRAY, Field(min_length=1)]
GateLimit = Annotated[Count, Field(ge=1)]
Seconds = Annotated[float, Field(gt=0)]


class GateRules(Envelope):
    """What a change must keep to before any critic sees it."""

    commands: Annotated[tuple[Words, ...], ARRAY] = ()
    protected: Annotated[tuple[Text, ...], ARRAY] = ()
    max_lines: Annotated[Count | None, OPTIONAL] = None
    max_files: Annotated[Count | None, OPTIONAL] = None
    timeout: Seconds


class Refusal(Envelope):
    """One reason why a change is refused. `reason` is one safe line, `detail` is raw output."""

    kind: GateRefusalKind
    reason: Text
    detail: Annotated[Text | None, OPTIONAL] = None


class ChangedFile(Envelope):
    """A path that differs. A file that moved is one deleted and one added.

    Of a `nested` repository the diff shows the commit alone, and not what is in it.
    """

    path: Text
    status: Literal["added", "deleted", "modified", "type_changed"]
    nested: bool = False


class Diff(Envelope):
    """A diff by its digest, and its content where it is not too large to keep.

    The content is `text` where it is UTF-8, else `base64`.
    """

    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    size: Count
    lines: Count
    files: Annotated[tuple[ChangedFile, ...], ARRAY]
    text: Annotated[Text | None, OPTIONAL] = None
    base64: Annotated[Text | None, OPTIONAL] = None

    @classmethod
    def of(
        cls, sha256: str, size: int, lines: int, files: tuple[ChangedFile, ...], kept: bytes | None
    ) -> Self:
        """The record of a diff of `size` bytes, of which `kept` is the content, or None."""
        text = encoded = None
        try:
            text = kept.decode() if kept is not None else None
        except UnicodeDecodeError:
            encoded = b64encode(kept or b"").decode()
        content = {"text": text} if text is not None else {"base64": encoded} if encoded else {}
        return cls(sha256=sha256, size=size, lines=lines, files=files, **content)

    def content(self) -> bytes | None:
        """The bytes of the diff, if they were kept."""
        if self.text is not None:
            return self.text.encode()
        return None if self.base64 is None else b64decode(self.base64, validate=True)

    def is_whole(self) -> bool:
        """Whether the content, where it was kept, is what the digest says."""
        try:
            content = self.content()
        except ValueError:
            return False
        return content is None or hashlib.sha256(content).hexdigest() == self.sha256


class Ran(Envelope):
    """What came of running an agent once."""

    exit_code: int
    timed_out: bool = False
    duration_ms: Count
    stdout: Text
    stderr: Text
    fault: Annotated[Text | None, OPTIONAL] = None
    """Why this reply of a critic was malformed, if it was."""


class SessionStart(Envelope):
    """The first line: what was asked for, and of whom."""

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


class Iteration(Envelope):
    """One run of the actor and what was made of it. An interrupted one lacks what did not happen.

    `diff` is all that changed since the session began, not since the iteration before.
    """

    type: Literal["iteration"] = "iteration"
    number: GateLimit
    time: Time
    actor: Ran
    diff: Annotated[Diff | None, OPTIONAL] = None
    not_seen: Annotated[tuple[Text, ...], ARRAY] = ()
    """Nested repositories: what is in them was not captured, and nobody reviewed it."""
    by_checks: Annotated[tuple[Text, ...], ARRAY] = ()
    """Files of the diff that the checks added, and not the actor."""
    refusals: Annotated[tuple[Refusal, ...], ARRAY] = ()
    critic: Annotated[tuple[Ran, ...], ARRAY] = ()
    decision: Annotated[CodeDecision | None, OPTIONAL] = None
    feedback: Annotated[Text | None, OPTIONAL] = None
    """What the next actor is told."""


class SessionEnd(Envelope):
    """The last line: how it came out."""

    type: Literal["session_end"] = "session_end"
    time: Time
    outcome: SessionOutcome
    iterations: Count
    duration_ms: Count
    summary: Annotated[Text | None, OPTIONAL] = None
    confidence: Annotated[Confidence | None, OPTIONAL] = None
    reason: Annotated[Text | None, OPTIONAL] = None
    """Why it failed, where it did."""


SessionLine = Annotated[SessionStart | Iteration | SessionEnd, Field(discriminator="type")]

LINES: Final[dict[str, type[SessionStart] | type[Iteration] | type[SessionEnd]]] = {
    "session_start": SessionStart,
    "iteration": Iteration,
    "session_end": SessionEnd,
}
