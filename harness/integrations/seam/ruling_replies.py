"""The replies to an agent of a framework about its calls, and how a run ends that may not go on."""

import json
from dataclasses import dataclass
from typing import Any, Final, Literal

from critic import Refused
from harness.errors import HarnessError
from harness.failures import describe_error
from harness.guard import EventError, Ruling

SeamAction = Literal["allow", "ask", "refuse", "halt"]

_MOST_REASONS: Final = 5
_OWN_FAILURE: Final = "critic_error: "


@dataclass(frozen=True, slots=True)
class SeamRuling:
    """The ruling on the calls of a turn, or on one of them. In an `if`, true if it may be made.

    Attributes:
        action: `halt` says that the run must end: nothing more is allowed in its session.
        kind: `ok`, the kind of the verdict, `invalid_call` for calls that cannot be read,
            `unknown_tool`, or `critic_error` where the guard failed.
        reasons: why, each one line and safe to print.
        ruling: what the guard answered, with the whole verdict; None where it gave no ruling.
        args: what to call the tool with, of a call that may be made now.
    """

    action: SeamAction
    kind: str
    reasons: tuple[str, ...] = ()
    ruling: Ruling | None = None
    args: dict[str, Any] | None = None

    def __bool__(self) -> bool:
        return self.action == "allow"

    def message(self) -> str:
        """Return what the model reads in place of a result: JSON, so that it can revise."""
        more = len(self.reasons) - _MOST_REASONS
        reasons = [*self.reasons[:_MOST_REASONS], *([f"and {more} more"] if more > 0 else [])]
        told = {"executed": False, "refused": self.kind, "reasons": reasons}
        if self.action == "ask":
            told = {"executed": False, "waits_for_approval": self.kind, "reasons": reasons}
        return json.dumps(told, ensure_ascii=False)

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


def seam_ruling(answer: Ruling | EventError, *, halts: bool) -> SeamRuling:
    """Return what a guard answered, as an agent is told. `halts` says that its session halted."""
    action: SeamAction = "halt" if halts else "refuse"
    match answer:
        case EventError():
            reason = answer.error.message
            kind = "critic_error" if reason.startswith(_OWN_FAILURE) else "invalid_call"
            where = answer.error.path
            return SeamRuling(action, kind, (f"{where}: {reason}" if where else reason,))
        case Ruling(critic_error=str() as error):
            return SeamRuling(action, "critic_error", (error,), answer)
        case Ruling(action="allow"):
            return SeamRuling("allow", "ok", (), answer)
        case Ruling(verdict=Refused() as verdict):
            reasons = (*_note(answer), *(one.reason for one in verdict.violations))
            asked: SeamAction = "ask" if answer.action == "ask" else action
            return SeamRuling(asked, verdict.kind, reasons, answer)
        case Ruling(unknown=unknown) if unknown:
            return SeamRuling(action, "unknown_tool", tuple(one.say for one in unknown), answer)
        case _:
            return SeamRuling(action, "critic_error", _note(answer), answer)


def unknown_rulings(ruling: SeamRuling) -> dict[str, SeamRuling]:
    """Return the refusals of calls whose tool is not there, by their ids in the session."""
    answer = ruling.ruling
    found = () if answer is None else answer.unknown or ()
    return {one.id: SeamRuling("refuse", "unknown_tool", (one.say,), answer) for one in found}


def failed_ruling(error: BaseException) -> SeamRuling:
    """Return the refusal where this side of the guard failed."""
    return SeamRuling("refuse", "critic_error", (describe_error(error),))


def not_approved(reason: str) -> SeamRuling:
    """Return the refusal of a call that a person did not approve."""
    return SeamRuling("refuse", "approval_mode_mismatch", (reason,))


def _note(ruling: Ruling) -> tuple[str, ...]:
    return () if ruling.note is None else (ruling.note,)
