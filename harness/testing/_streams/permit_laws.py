"""The law of permits: what may still be called, as the events of sessions say."""

from typing import Final

from hypothesis import strategies as st

from harness.guard import CallPermit
from harness.single_use import PermitError
from harness.testing._draw.primitives import Json
from harness.testing._streams.guard_trial import (
    GuardOnTrial,
    interleave_streams,
    is_error,
    known_calls,
)
from harness.testing._streams.stream_trial import StreamTrial

_SESSIONS: Final = ("s", "S")
_Name = tuple[str, str]


class _Held:
    """A permit that was handed out, the call that it is of, and why it is good no more."""

    def __init__(self, permit: CallPermit, call: Json) -> None:
        self.permit, self.call, self.ended_by = permit, call, ""


class _PermitWatch:
    """Follows a guard: which permits stand after each event, and whether they are what they say."""

    def __init__(self, trial: StreamTrial) -> None:
        """Begin before any event."""
        self._trial = trial
        self._standing: dict[_Name, _Held] = {}
        self._ended: list[_Held] = []
        self._asked: dict[tuple[str, str], list[Json]] = {}

    def __call__(self, guard: GuardOnTrial, event: Json, answer: Json | None) -> None:
        """Take in an event and its answer, and try permits."""
        if not is_error(answer):
            self._note(guard, event, answer)
        elif event["event"] == "calls" and self._call_names(event) & self._standing.keys():
            self._trial.met["an id that is awaited"] += 1
        for held in [*self._standing.values(), *self._ended]:
            # One that stands is seldom used, so that it may end otherwise; few end with a session.
            drawn = self._trial.pick((False, bool(held.ended_by), False, not held.ended_by, False))
            if drawn or held.ended_by in ("the close", "a halt"):
                self._try(held)

    def _note(self, guard: GuardOnTrial, event: Json, answer: Json | None) -> None:
        session, kind = event["session"], event["event"]
        if kind == "result":
            self._end({(session, event["id"])}, "a result")
        if kind == "calls":
            taken = self._call_names(event) & self._standing.keys()
            self._trial.require(not taken, f"the ids of calls without a result come again: {taken}")
        if kind == "close":
            self._end({name for name in self._standing if name[0] == session}, "the close")
        if answer is None or "action" not in answer:
            return
        if kind == "calls" and "plan_digest" in answer:
            self._asked[session, answer["plan_digest"]] = known_calls(event, answer)
        if answer["action"] == "allow" and guard.permit is not None:
            for call in self._asked[session, answer["plan_digest"]]:
                permit = guard.permit(session, call["id"])
                self._standing[session, call["id"]] = _Held(permit, call)
        halts = self._trial.policy.guard.on_refusal == "halt"
        if answer["action"] == "refuse" and "plan_digest" in answer and halts:
            self._end({name for name in self._standing if name[0] == session}, "a halt")

    def _call_names(self, event: Json) -> set[_Name]:
        return {(event["session"], call["id"]) for call in event["calls"]}

    def _end(self, names: set[_Name], why: str) -> None:
        for name in names & self._standing.keys():
            held = self._standing.pop(name)
            held.ended_by = held.ended_by or why
            self._ended.append(held)

    def _try(self, held: _Held) -> None:
        require, met = self._trial.require, self._trial.met
        try:
            args = held.permit.redeem(held.call["tool"], held.call["args"])
        except PermitError:
            require(bool(held.ended_by), f"the permit of {held.call} does not stand")
            met[f"permit ended by {held.ended_by}"] += 1
        else:
            what = f"the permit of {held.call} is good after {held.ended_by}"
            require(not held.ended_by, what)
            require(args == held.call["args"], f"the permit of {held.call} gives {args}")
            held.ended_by = "use"


def a_permit_stands_until_its_call_ends(trial: StreamTrial) -> None:
    """A permit is good once, for its own call, until a result or the end: its id is not reused."""
    streams = [trial.stream(name) for name in _SESSIONS]
    order = trial.draw(st.lists(st.booleans(), max_size=24))
    played = trial.play(interleave_streams(streams[0], streams[1], order), _PermitWatch(trial))
    trial.require(len(played.answers) == sum(map(len, streams)), "an event has no answer", played)
