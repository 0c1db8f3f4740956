"""The replies to an agent of a framework about its calls, and how a run ends that may not go on."""

from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from critic import Refused
from harness.errors import HarnessError
from harness.failures import describe_error
from harness.guard import EventError, OpeningRuling, Ruling
from harness.guard.rulings import FAILED, NOT_RUN

SeamAction = Literal["allow", "ask", "refuse", "halt"]

_OWN_FAILURE: Final = "critic_error: "
BEFORE_REFUSED: Final = "Not run: a call before it in its turn was not run."
"""What a model is told of a call that waited for one that was refused."""
_UNASKED: Final = (
    "Not run: it needs a person's yes, and nobody can be asked at this point:"
    " tell the user what you wanted to do."
)


@dataclass(frozen=True, slots=True)
class SeamRuling:
    """The ruling on the calls of a turn, or on one of them. In an `if`, true if it may be made.

    Attributes:
        action: `halt` says that the run must end: nothing more is allowed in its session.
        kind: `ok`, the kind of the verdict, `invalid_call` for calls that cannot be read,
            `unknown_tool`, or `critic_error` where the guard failed.
        reasons: why, for an operator: each one line and safe to print.
        reply: what the model is told.
        ruling: what the guard answered, with the whole verdict; None where it gave no ruling.
        args: what to call the tool with, of a call that may be made now.
    """

    action: SeamAction
    kind: str
    reasons: tuple[str, ...] = ()
    reply: str = NOT_RUN
    ruling: Ruling | None = None
    args: dict[str, Any] | None = None

    def __bool__(self) -> bool:
        return self.action == "allow"

    def wire(self) -> dict[str, Any]:
        """Return it as JSON values, for an application or a trace."""
        told: dict[str, Any] = {"action": self.action, "kind": self.kind}
        if self.ruling is not None:
            return {**told, **self.ruling.wire(), "action": self.action}
        return {**told, "reasons": list(self.reasons)}


class GuardHalted(HarnessError):
    """The guard ended the run. `ruling` says why, with the verdict if there is one."""

    def __init__(self, ruling: SeamRuling) -> None:
        super().__init__(f"the guard ended the run: {ruling.kind}: {'; '.join(ruling.reasons)}")
        self.ruling = ruling


def unless_halted(ruling: SeamRuling) -> SeamRuling:
    """Return a ruling.

    Raises:
        GuardHalted: it ends the run.
    """
    if ruling.action == "halt":
        raise GuardHalted(ruling)
    return ruling


def seam_ruling(answer: Ruling | EventError, *, halts: bool) -> SeamRuling:
    """Return what a guard answered, as an agent is told. `halts` says that its session halted."""
    action: SeamAction = "halt" if halts else "refuse"
    match answer:
        case EventError():
            reason = answer.error.message
            kind = "critic_error" if reason.startswith(_OWN_FAILURE) else "invalid_call"
            where = answer.error.path
            told = f"{where}: {reason}" if where else reason
            return SeamRuling(action, kind, (told,), reply_to_error(answer))
        case Ruling(critic_error=str() as error):
            return SeamRuling(action, "critic_error", (error,), FAILED, answer)
        case Ruling(action="allow"):
            return SeamRuling("allow", "ok", (), "", answer)
        case Ruling(verdict=Refused() as verdict):
            reasons = (*_note(answer), *verdict.reasons)
            asked: SeamAction = "ask" if answer.action == "ask" else action
            return SeamRuling(asked, verdict.kind, reasons, _reply_in(answer), answer)
        case Ruling(unknown=unknown) if unknown:
            reasons = tuple(one.say for one in unknown)
            return SeamRuling(action, "unknown_tool", reasons, _reply_in(answer), answer)
        case _:
            return SeamRuling(action, "critic_error", _note(answer), FAILED, answer)


def opening_ruling(answer: OpeningRuling | EventError, *, halts: bool) -> SeamRuling:
    """Return what a guard answered about a call that it opened, as an agent is told."""
    if isinstance(answer, EventError):
        return seam_ruling(answer, halts=halts)
    names = ("session", "turn", "action", "verdict", "plan_digest", "questions", "expires_at")
    told = {name: getattr(answer, name) for name in (*names, "note", "reply")}
    whole = Ruling(**{name: value for name, value in told.items() if value is not None})
    if answer.action == "refuse" and answer.verdict:  # a person said no to it before
        action: SeamAction = "halt" if halts else "refuse"
        return SeamRuling(action, "approval_mode_mismatch", _note(whole), _reply_in(whole), whole)
    ruling = seam_ruling(whole, halts=halts)
    return replace(ruling, args=answer.args) if answer else ruling


def unknown_rulings(ruling: SeamRuling) -> dict[str, SeamRuling]:
    """Return the refusals of calls whose tool is not there, by their ids in the session."""
    answer = ruling.ruling
    found = () if answer is None else answer.unknown or ()
    return {
        one.id: SeamRuling("refuse", "unknown_tool", (one.say,), one.say, answer) for one in found
    }


def failed_ruling(error: BaseException) -> SeamRuling:
    """Return the refusal where this side of the guard failed."""
    return SeamRuling("refuse", "critic_error", (describe_error(error),), FAILED)


def unread_ruling(reason: str, action: SeamAction = "refuse") -> SeamRuling:
    """Return the refusal of a call that cannot be read, or of a run that cannot be guarded."""
    return SeamRuling(action, "invalid_call", (reason,), unread_reply(reason))


def not_approved(reason: str) -> SeamRuling:
    """Return the refusal of a call that a person did not approve."""
    reply = f"{NOT_RUN[:-1]}: {reason}: do not try again."
    return SeamRuling("refuse", "approval_mode_mismatch", (reason,), reply)


def reply_without_person(ruling: SeamRuling) -> str:
    """Return what a model is told of a call that is not made, where it is too late to ask."""
    return _UNASKED if ruling.action == "ask" else ruling.reply


def reply_to_error(error: EventError) -> str:
    """Return what a model is told of an event that changed nothing: unreadable, or out of place."""
    path, message = error.error.path, error.error.message
    if message.startswith(_OWN_FAILURE):
        return FAILED
    is_misplaced = path in ("", "/event", "/session")
    return f"{NOT_RUN[:-1]}: {message}." if is_misplaced else unread_reply(f"{path}: {message}")


def unread_reply(reason: str) -> str:
    """Return what a model is told of a call that cannot be read."""
    return f"{NOT_RUN[:-1]}: the call cannot be read: {reason}."


def _reply_in(ruling: Ruling) -> str:
    return NOT_RUN if ruling.reply is None else ruling.reply


def _note(ruling: Ruling) -> tuple[str, ...]:
    return () if ruling.note is None else (ruling.note,)
