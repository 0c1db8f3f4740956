"""Make the sessions of a log into tasks again: words, calls, and what they returned. Pure.

A record holds all that was seen before its turn, and the record of a run what its calls returned.
So the events of a session can be told from its records, but for the ids of calls, which are made
anew. What was taken out of a log is not known, and then nothing can be said of the session.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from critic import Refused, Verified
from critic.session.session_rules import OPERATOR_ID, USER_ID
from evals.kinds import RecordedAction
from harness.canonical import canonical_json
from harness.policy.envelopes import Policy
from harness.record import RecordedAnswer
from harness.what_if.proposing.logged_policy import scope_told
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
        self._events: Final[list[Json]] = []
        self._opening: Json | None = None
        self._heard: Final[set[str]] = set()
        self.turns: Final[set[int]] = set()
        """The numbers of its turns."""
        self._ended: Final[set[str]] = set()
        self.rulings: Final[dict[int, tuple[RecordedAction, Verified | Refused]]] = {}
        """What was said to the calls of each turn first, by its number."""
        self.lost: Final[list[str]] = []
        """Which records cannot be read, and why: one line each, safe to print."""

    def lose(self, why: str) -> None:
        """Note that a record of it cannot be read."""
        self.is_known = False
        self.lost.append(why)

    def add_ruling(
        self,
        turn: int,
        action: RecordedAction,
        verdict: Verified | Refused,
        answer: RecordedAnswer | None,
    ) -> None:
        """Add what was said to the calls of a turn, or what a person answered."""
        if answer is None:
            self.rulings.setdefault(turn, (action, verdict))
        elif answer.answer != "lapsed":
            given = {"yes": answer.answer == "yes", "approver": answer.approver}
            self._events.append({"event": "answer", **given})

    def add_turn(self, ctx: Json, compiled: Json, plan: Json) -> None:
        """Add the words that were new before a turn, and its calls; the same turn counts once."""
        turn = ctx["session"]["turn"]
        if turn in self.turns:
            return
        self.turns.add(turn)
        self._hear(ctx, compiled["manifests"]["evidence_manifest"])
        calls = [
            self._call_of(step, f"{turn}.{at}")
            for at, step in enumerate(plan["steps"])
            if step["kind"] == "tool" and "of" not in step
        ]
        if calls:
            time = {"as_of": ctx["as_of"]} if "as_of" in ctx else {}
            self._events.append({"event": "calls", "calls": calls, **time})

    def end_turn(self, turn: int, calls: Iterable[Mapping[str, Any]]) -> None:
        """Add what the calls of a turn returned, each once: the last attempt that is on record."""
        last = {call["step"]: call for call in calls}
        for step, call in last.items():
            name = f"{turn}.{step}"
            if name in self._ended:
                continue
            self._ended.add(name)
            known = {key: call[key] for key in ("output", "error") if key in call}
            event = {"event": "result", "id": name, "status": call["status"], **known}
            self._events.append(event)

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
        if self._opening is None or not self.is_known:
            return None
        return [self._opening, *self._events]

    def to_task(self) -> RecordedTask | None:
        """Return the session as a task; None if it is not known whole.

        Raises:
            InvalidInput: what is on record is not a session.
        """
        if self.events is None:
            return None
        lines = enumerate(map(canonical_json, self.events), 1)
        return read_tasks(lines)[0]

    def _call_of(self, step: Json, name: str) -> Json:
        """Return the call of a step, with the facts by which its command was read."""
        tool = self._name_of(step["adapter_id"], step["capability_id"])
        known = {one: step[one] for one in ("estimated_tokens",) if one in step}
        facts = step.get("shell", {}).get("facts")
        shell = {} if facts is None else {"shell": facts}
        return {"id": name, "tool": tool, "args": step["args"], **known, **shell}

    def _name_of(self, adapter: str, capability: str) -> str:
        return self._names.get((adapter, capability), capability)

    def _hear(self, ctx: Json, items: Iterable[Json]) -> None:
        """Add the words of the user that were new, and of the operator at the beginning."""
        said = [
            one for one in items if one["id"].startswith(USER_ID) and one["id"] not in self._heard
        ]
        self._heard.update(one["id"] for one in said)
        texts = [str(one.get("content", "")) for one in said]
        if self._opening is None:
            first, *texts = texts or [""]
            self._opening = {"event": "open", "request": first, **self._list_known(ctx, items)}
        self._events.extend({"event": "said", "text": text} for text in texts)

    def _list_known(self, ctx: Json, items: Iterable[Json]) -> Json:
        system = [one["content"] for one in items if one["id"].startswith(OPERATOR_ID)]
        known: Json = {"system": system[0]} if system else {}
        scope = scope_told(ctx)
        if scope is not None and (self._policy is None or self._policy.scope is None):
            names = [self._name_of(*pair) for pair in scope]
            kept = None if self._policy is None else self._policy.tools
            known["scope"] = [name for name in names if kept is None or name in kept]
        return known
