"""What a log has of the calls of a late turn: when each was opened, what it was told, and its end.

An opening says how many calls had ended by then, so the order of both is known. One that a person
cleared is followed by another of the same step, which has the approval.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

from critic import Refused, Verified
from evals.kinds import RecordedAction
from evals.run import Opening, ToolCall, is_cleared_by
from evals.timestamps import format_time
from harness.record import RunFacts

Json = dict[str, Any]


class LoggedRuling(NamedTuple):
    """What was said to a turn; `stop` where no record says if it was asked about or refused."""

    action: RecordedAction | Literal["stop"]
    verdict: Verified | Refused

    @property
    def strictness(self) -> int:
        """Its place among all, from the laxest."""
        return ("shadow", "allow", "ask", "stop", "refuse").index(self.action)


class OpenedStep(NamedTuple):
    """An opening, the answer of a person who cleared it, and the calls that ended before it."""

    opening: Opening
    cleared: Opening | None
    ended: tuple[ToolCall, ...]

    def events(self, name: str) -> Iterator[Json]:
        """Yield the opening of a call, and the yes to it."""
        yield {"event": "ready", "id": name, **_time_of(self.opening)}
        if self.cleared is not None:
            (approval, *_) = self.cleared.approvals or ()
            expiry = {} if approval.expires_at is None else {"expires_at": approval.expires_at}
            until = {key: format_time(at) for key, at in expiry.items()}
            given = {"yes": True, "approver": approval.approver}
            yield {"event": "answer", **given, **until, **_time_of(self.cleared)}


def opened_steps(run: RunFacts) -> Iterator[OpenedStep]:
    """Yield the openings of a run, each with the calls that ended since the one before."""
    openings, told = run.openings or (), 0
    for at, opening in enumerate(openings):
        if _is_of_answer(openings, at):
            continue
        following = openings[at + 1 : at + 2]
        cleared = not opening.verdict.ok and is_cleared_by(opening, following)
        yield OpenedStep(
            opening, following[0] if cleared else None, run.calls[told : opening.after]
        )
        told = max(told, opening.after)


def strictest_opening(run: RunFacts) -> LoggedRuling | None:
    """Return the strictest of what was said to the openings of a run; None if all passed.

    A shadow let them run, whatever it said.
    """
    made = {call.step for call in run.calls}
    found = [
        _ruling_on(one) for one in opened_steps(run) if one.cleared or one.opening.step not in made
    ]
    stopped = [one for one in found if not one.verdict.ok]
    return max(stopped, key=lambda one: one.strictness, default=None)


def _ruling_on(one: OpenedStep) -> LoggedRuling:
    verdict = one.opening.verdict
    if one.cleared is not None:
        return LoggedRuling("ask", verdict)
    is_asked = isinstance(verdict, Refused) and verdict.approvable
    return LoggedRuling("stop" if is_asked else "refuse", verdict)


def _is_of_answer(openings: Sequence[Opening], at: int) -> bool:
    """Return whether an opening is that of a person's yes to the one before."""
    before = openings[at - 1] if at else None
    return before is not None and not before.verdict.ok and is_cleared_by(before, openings[at:])


def _time_of(opening: Opening) -> Json:
    return {} if opening.as_of is None else {"as_of": format_time(opening.as_of)}
