"""Make the sessions of a log into tasks again: words, calls, and what they returned. Pure.

A record holds all that was seen before its turn, and the record of a run what its calls returned.
So the events of a session can be told from its records, but for the ids of calls, which are made
anew, and the times of results, which take a policy: see `logged_times`. What was taken out of a log
is not known, and then nothing can be said of the session.

Rule 1: a plan that an agent carried out is told as calls that wait for one another, and each of its
        calls as opened: no record says which of the two it was, and both are judged alike.
Rule 2: what was opened of a turn is recorded when it ends. Until then its session is not known, nor
        is it where another turn began before.
Rule 3: a session that was closed and opened again is told as it was: what it carries counts.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from critic import Refused, Verified
from critic.session.call_batch import NO_RESULT
from critic.session.session_rules import CALL_ID, OPERATOR_ID, USER_ID
from evals.kinds import RecordedAction
from evals.pointers import segments
from evals.run import ToolCall
from harness.canonical import canonical_json
from harness.guard.course import DENIED
from harness.policy.envelopes import Policy
from harness.record import RecordedAnswer, RunFacts
from harness.what_if.proposing.logged_openings import (
    LoggedRuling,
    opened_steps,
    strictest_opening,
)
from harness.what_if.proposing.logged_policy import scope_told
from harness.what_if.proposing.logged_times import ResultTimes
from harness.what_if.proposing.recorded_tasks import RecordedTask, read_tasks

Json = dict[str, Any]


class LoggedSession:
    """A session as its records tell it, in their order."""

    def __init__(self, trace: str, name: str, policy: Policy | None = None) -> None:
        """Begin with the first record of a session.

        Args:
            trace: that of its plans.
            name: its id.
            policy: says by which names tools are called, and whether it has a scope of its own;
                without one they are called as their capability.
        """
        self.trace: Final = trace
        self.name: Final = name
        self.is_known = True
        self._policy: Final = policy
        tools = {} if policy is None else policy.tools
        self._names: Final = {tool.pair: name for name, tool in tools.items()}
        self._events: list[Json] = []
        self._times: Final = ResultTimes(policy)
        self._awaits_opening = True
        self._last_turn = 0
        self._heard: Final[set[str]] = set()
        self.expires = False
        """Whether what its calls returned expired."""
        self.turns: Final[set[int]] = set()
        """The numbers of its turns."""
        self._ended: Final[set[str]] = set()
        self.rulings: Final[dict[int, LoggedRuling]] = {}
        """What was said to the calls of each turn, by its number: first, or as they were opened."""
        self._steps: Final[dict[int, list[Json]]] = {}
        self._running: Final[set[int]] = set()
        self.lost: Final[list[str]] = []
        """Which records cannot be read, and why: one line each, safe to print."""
        self.no_case: Final[list[str]] = []
        """Why no case can hold it, though its events are known: one line each."""

    def lose(self, why: str) -> None:
        """Note that a record of it cannot be read."""
        self.is_known = False
        self.lost.append(why)

    def add_ruling(
        self,
        ctx: Json,
        action: RecordedAction,
        verdict: Verified | Refused,
        answer: RecordedAnswer | None,
        note: str | None = None,
    ) -> None:
        """Add what was said to the calls of a turn, or what a person answered."""
        turn = ctx["session"]["turn"]
        told = (event for event in self._events if event["event"] == "answer")
        if note == DENIED and all(event["yes"] for event in told):
            self.no_case.append(f"turn {turn}: it was refused for a no that is on no record")
        if action in ("allow", "shadow") and any(map(_is_late, self._steps[turn])):
            self._running.add(turn)
        if answer is not None and answer.answer == "yes" and action == "refuse":
            self.no_case.append(f"turn {turn}: it was refused after a yes")
        if answer is None:
            self.rulings.setdefault(turn, LoggedRuling(action, verdict))
        elif answer.answer != "lapsed":
            given = {"yes": answer.answer == "yes", "approver": answer.approver}
            self._events.append({"event": "answer", **given, **_terms_of(answer, ctx)})

    def begin_again(self, turns: int) -> None:
        """Note that it was closed after so many turns, and opened again."""
        if turns != self._last_turn:
            self.lose(f"its turns up to {turns} are not all in this log")
        self._require_known_end()
        self.no_case.append("it was closed and opened again, which only a log remembers")
        self._last_turn, self._awaits_opening = turns, True
        self._heard.clear()
        self._times.begin_life()

    def add_turn(self, ctx: Json, compiled: Json, plan: Json) -> None:
        """Add the words that were new before a turn, and its calls; the same turn counts once."""
        turn = ctx["session"]["turn"]
        if turn in self.turns:
            return
        if turn != self._last_turn + 1:
            self.lose(f"turn {turn}: the one before it is not in this log")
        self.turns.add(turn)
        self._last_turn, items = turn, compiled["manifests"]["evidence_manifest"]
        if (why := self._times.begin_turn(ctx, items)) is not None:
            self.lose(f"turn {turn}: {why}")
        self.expires |= any("expires_at" in one for one in items if one["id"].startswith(CALL_ID))
        self._hear(ctx, items)
        steps = self._steps[turn] = [
            step for step in plan["steps"] if step["kind"] == "tool" and "of" not in step
        ]
        ids = {step["id"]: f"{turn}.{at}" for at, step in enumerate(steps) if "id" in step}
        if any(name not in ids for step in steps for name in _awaited_calls(step)):
            self.lose(f"turn {turn}: a call waits for one whose tool no record names")
            return
        calls = [self._call_of(step, f"{turn}.{at}", ids) for at, step in enumerate(steps)]
        if calls:
            self._events.append({"event": "calls", "calls": calls, **_time_of(ctx)})

    def end_turn(self, turn: int, run: RunFacts, action: RecordedAction) -> None:
        """Add what was opened of a turn, and what its calls returned: the last attempt of each."""
        self._running.discard(turn)
        if action == "refuse":
            self._tell_unruled(turn, run)
            return
        if run.openings and max(self.turns) > turn:
            self.lose(f"turn {turn} ended after the next began: no record says when it was opened")
            return
        for one in opened_steps(run):
            for call in one.ended:
                self._add_result(turn, call)
            for event in one.events(f"{turn}.{one.opening.step}"):
                self._events.append(event)
                self._times.add(event)
        opened = strictest_opening(run)
        if opened is not None and turn in self.rulings:
            self.rulings[turn] = max(self.rulings[turn], opened, key=lambda one: one.strictness)
        for call in {call.step: call for call in run.calls}.values():
            self._add_result(turn, call)

    def require_ends(self) -> None:
        """Note the turns whose openings are on no record yet."""
        self._require_known_end()
        for turn in sorted(self._running):
            self.lose(f"turn {turn} has not ended: what was opened of it is recorded when it does")

    def _require_known_end(self) -> None:
        if not self._times.end():
            self.lose("no record says if a result had expired when its last calls were opened")

    def _add_result(self, turn: int, call: ToolCall) -> None:
        name = f"{turn}.{call.step}"
        was_told = call.status != "unknown" or call.error != NO_RESULT
        if name in self._ended or not was_told:
            return
        self._ended.add(name)
        step = self._steps[turn][call.step]
        sent = {} if _is_planned(call, step) else {"sent": self._sent_call(call)}
        event = {"event": "result", "id": name, **_end_of(call), **sent}
        self._events.append(event)
        self._times.add_result(event, call, step)

    def _tell_unruled(self, turn: int, run: RunFacts) -> None:
        """Tell calls that ran without a ruling as what they were told as: results."""
        self.rulings.pop(turn, None)
        ids = {f"{turn}.{at}" for at, _ in enumerate(self._steps[turn])}
        self._events = [
            event
            for event in self._events
            if event["event"] != "calls" or event["calls"][0]["id"] not in ids
        ]
        for call in run.calls:
            step = self._steps[turn][call.step]
            sent = {**self._sent_call(call), **_facts_of(step)}
            event = {"event": "result", "id": f"{turn}.{call.step}", **_end_of(call), "sent": sent}
            self._events.append(event)
            self._times.add_result(event, call, step)

    def _sent_call(self, call: ToolCall) -> Json:
        return {"tool": self._name_of(call.adapter_id, call.capability_id), "args": {**call.args}}

    @property
    def events(self) -> list[Json] | None:
        """The events of the session as JSON; None if it is not known whole, or has no turn.

        They lack the answers, which need the digests of questions.
        """
        answered = self.answered_events
        if answered is None:
            return None
        return [{**event, "session": self.name} for event in answered if event["event"] != "answer"]

    @property
    def answered_events(self) -> list[Json] | None:
        """The events with the answers, which have no digest, and without the id of the session."""
        return [*self._events] if self.turns and self.is_known else None

    def to_task(self) -> RecordedTask | None:
        """Return the session as a task; None if it is not known whole.

        Raises:
            InvalidInput: what is on record is not a session.
        """
        if self.events is None:
            return None
        lines = enumerate(map(canonical_json, self.events), 1)
        return read_tasks(lines)[0]

    def _call_of(self, step: Json, name: str, ids: Mapping[str, str]) -> Json:
        """Return the call of a step, with the facts by which its command was read.

        Args:
            ids: those of the calls of its turn, by the ids of their steps.
        """
        call = {
            "id": name,
            "tool": self._name_of(step["adapter_id"], step["capability_id"]),
            "args": step["args"],
        }
        if "estimated_tokens" in step:
            call["estimated_tokens"] = step["estimated_tokens"]
        call |= _facts_of(step)
        takes = [{**one, "call": ids[one["step"]]} for one in step.get("takes", ())]
        taken = {one.pop("step") for one in takes}
        after = [ids[one] for one in step.get("evidence_steps", ()) if one not in taken]
        return {
            **call,
            **({"takes": takes} if takes else {}),
            **({"after": after} if after else {}),
        }

    def _name_of(self, adapter: str, capability: str) -> str:
        return self._names.get((adapter, capability), capability)

    def _hear(self, ctx: Json, items: Iterable[Json]) -> None:
        """Add the words of the user that were new, and of the operator at the beginning."""
        said = [
            one for one in items if one["id"].startswith(USER_ID) and one["id"] not in self._heard
        ]
        self._heard.update(one["id"] for one in said)
        texts = [str(one.get("content", "")) for one in said]
        if self._awaits_opening:
            first, *texts = texts or [""]
            again = {"again": True} if self._events else {}
            self._events += [{"event": "close"}] if self._events else []
            opening = {"event": "open", "request": first, **self._list_known(ctx, items)}
            self._events.append({**opening, **again})
            self._awaits_opening = False
        self._events.extend({"event": "said", "text": text, **_time_of(ctx)} for text in texts)

    def _list_known(self, ctx: Json, items: Iterable[Json]) -> Json:
        system = [one["content"] for one in items if one["id"].startswith(OPERATOR_ID)]
        known: Json = {"system": system[0]} if system else {}
        whom = {"tenant": "tenant_id", "user": "user_id"}
        known |= {name: ctx[member] for name, member in whom.items() if member in ctx}
        scope = scope_told(ctx)
        if scope is not None and (self._policy is None or self._policy.scope is None):
            names = [self._name_of(*pair) for pair in scope]
            kept = None if self._policy is None else self._policy.tools
            known["scope"] = [name for name in names if kept is None or name in kept]
        return known


def _time_of(ctx: Json) -> Json:
    return {"as_of": ctx["as_of"]} if "as_of" in ctx else {}


def _facts_of(step: Json) -> Json:
    """Return the facts by which the command of a step was read, as a call has them."""
    facts = step.get("shell", {}).get("facts")
    return {} if facts is None else {"shell": facts}


def _is_late(step: Json) -> bool:
    return any(_awaited_calls(step))


def _awaited_calls(step: Json) -> Iterator[str]:
    """Yield the ids of the steps that a step waits for."""
    yield from (one["step"] for one in step.get("takes", ()))
    yield from step.get("evidence_steps", ())


def _end_of(call: ToolCall) -> Json:
    """Return how a call ended, as its event says it."""
    wire = call.wire()
    return {name: wire[name] for name in ("status", "output", "error") if name in wire}


def _is_planned(call: ToolCall, step: Json) -> bool:
    """Return whether a call is the one of its step, but for the arguments that it took."""
    taken = {segments(one["arg"])[0] for one in step.get("takes", ())}
    sent, planned = (
        canonical_json({name: one for name, one in args.items() if name not in taken})
        for args in (call.args, step["args"])
    )
    pair = step["adapter_id"], step["capability_id"]
    return (call.adapter_id, call.capability_id) == pair and sent == planned


def _terms_of(answer: RecordedAnswer, ctx: Json) -> Json:
    """Return what a yes was limited to, and whether it was to the sources of late values."""
    given = [one for one in ctx.get("approvals", ()) if one["approver"] == answer.approver]
    if answer.answer != "yes" or not given:
        return {}
    return {name: given[-1][name] for name in ("expires_at", "late") if name in given[-1]}
