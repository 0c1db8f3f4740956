"""Draw what happens in a guarded session of any policy: the events, in places right and wrong.

Calls have the arguments that the tools of the policy judge, results hold what its tools demand, and
all of them speak of the same few values, so that what was seen matters. An answer names the digest
of the last ruling of its session as `LAST_DIGEST`, and that of the ruling before as
`EARLIER_DIGEST`: see `harness.testing._streams.guard_trial`.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from evals.needs import needs_of
from evals.pointers import segments
from evals.timestamps import format_time
from harness.clock import FixedClock
from harness.guard import Guard, Ruling
from harness.guard.session_events import event_of
from harness.policy import Policy
from harness.policy.envelopes import PolicyTool
from harness.testing._draw.json_values import NoValue, object_for
from harness.testing._draw.primitives import ABSENT, HypothesisPick, Json, chance

LAST_DIGEST: Final = "$LAST"
EARLIER_DIGEST: Final = "$EARLIER"
NOON: Final = datetime(2026, 5, 9, 12, tzinfo=UTC)
"""When streams begin."""

_WORDS: Final = ("iban-4711", "iban-4712", "memo-1", 30)
_IDS: Final = ("c", "d", "C", "c/1", "e")
_ENDS: Final = ("completed", "completed", "completed", "failed", "timed_out", "unknown")
_TICK: Final = timedelta(microseconds=1)
_MINUTE: Final = timedelta(seconds=60)
_APPROVED_FOR: Final = (*(ABSENT, _MINUTE, _TICK) * 2, timedelta(0), -_TICK)
_KINDS: Final = ("calls", "result", "answer", "said", "close", "open", "close")


class StreamDrafter:
    """Draws the events of one session. A guard follows them, so that most are in their place."""

    def __init__(
        self, pick: HypothesisPick, policy: Policy, session: str, *, moves: bool = True
    ) -> None:
        """Draw for a policy.

        Args:
            moves: whether the time moves, to before, at and after whatever expires.
        """
        self._pick, self._policy, self._session = pick, policy, session
        self._scout: Final = Guard(policy, clock=FixedClock(NOON))
        self._ruled: list[str] = []
        self._tools: Final = {tool.called: tool for tool in policy.tool}
        self._named: Final = [*[*self._tools] * 3, "no_such_tool"]
        self._moves = moves
        self._now = NOON
        expiries = (item.expires_at for item in policy.evidence)
        self._expiries: list[datetime] = [one for one in expiries if one is not None]
        self._asked: dict[str, str] = {}
        self._asks = False
        self._proposed: list[str] = []
        self._waiting: list[str] = []

    def events(self, most: int) -> list[Json]:
        """Draw a stream, which mostly begins with `open`."""
        count = self._pick((1, most, most, most * 2 // 3))
        stream = [self._opening_event() if self._pick((True,) * 7 + (False,)) else self._event()]
        for _ in range(count):
            self._follow(stream[-1])
            stream.append(self._event())
        return stream

    def _follow(self, event: Json) -> None:
        """Have the guard take in an event, to know what may come next."""
        named = self._ruled[-1:] if event.get("plan_digest") == LAST_DIGEST else []
        sent = {**event, "plan_digest": named[0]} if named else event
        if "$" in sent.get("plan_digest", ""):
            return
        answer = self._scout.handle(event_of(sent))
        is_taken_in = answer is None or (isinstance(answer, Ruling) and bool(answer))
        if event["event"] == "result" and is_taken_in:
            self._waiting = [name for name in self._waiting if name != event["id"]]
        if isinstance(answer, Ruling):
            if answer.plan_digest is not None:
                self._ruled.append(answer.plan_digest)
            if answer:
                unknown = {one.id for one in answer.unknown or ()}
                made = [name for name in self._proposed if name not in unknown]
                self._waiting += [name for name in made if name not in self._waiting]

    def _event(self) -> Json:
        kind = self._pick((*self._fitting_kinds(), *_KINDS))
        made = {
            "calls": self._calls,
            "result": self._result,
            "answer": self._answer,
            "said": lambda: self._wire("said", text=self._text()),
            "close": lambda: self._wire("close", outputs=self._outputs()),
            "open": self._opening_event,
        }
        return made[kind]()

    def _fitting_kinds(self) -> Sequence[str]:
        """Return what may well come next, as often as it should."""
        status = self._scout.status(self._session)
        if status is None:
            return ["open"] * 24
        if status.has_halted:
            return ["close", "calls"] * 4
        if status.question is not None:
            self._asks = True
            return [*["answer"] * 16, *["calls"] * 6]
        lapsed = ["answer"] * 6 if self._asks else []
        self._asks = False
        return [*lapsed, *(["result", "calls"] * 12 if self._waiting else ["calls"] * 24)]

    def _wire(self, kind: str, **members: Any) -> Json:
        """Return an event of this session, of which the time may move."""
        given = {name: value for name, value in members.items() if value is not ABSENT}
        event = {"event": kind, "session": self._session, **given}
        moves = {"open": (True,), "answer": (True, False, False, False)}.get(kind, (True, False))
        if self._moves and self._pick(moves):
            self._now = self._pick(self._moments())
            back = _TICK if kind in ("said", "result") and chance(self._pick) else timedelta(0)
            event["as_of"] = format_time(self._now - back)
        return event

    def _moments(self) -> list[datetime]:
        """Return the moments that may come: now, and before, at and after each expiry."""
        near = [one + by for one in self._expiries[-2:] for by in (timedelta(0), -_TICK, _TICK)]
        later = [one for one in dict.fromkeys(near) if one >= self._now]
        return [self._now, *later, self._now + timedelta(seconds=7)]

    def _opening_event(self) -> Json:
        pick = self._pick
        scope = pick(([*self._tools], ABSENT, [*self._tools][:1], [*self._tools][1:]))
        system = pick((ABSENT, ABSENT, f"Never touch {self._word()}"))
        return self._wire("open", request=self._text(), scope=scope, system=system)

    def _word(self) -> Any:
        return self._pick(_WORDS)

    def _text(self) -> str:
        return self._pick(("Do {} and {}", "See {}, {}", "Look")).format(self._word(), self._word())

    def _outputs(self) -> Json:
        wanted = self._policy.spec.required_outputs
        return dict.fromkeys(wanted, "done") if chance(self._pick) else {}

    def _calls(self) -> Json:
        count = self._pick((1, 2, 1, 3))
        first = self._pick(range(len(_IDS)))
        ids = [_IDS[(first + at) % len(_IDS)] for at in range(count)]
        calls = [self._call(name) for name in ids]
        self._proposed = ids
        return self._wire("calls", calls=calls)

    def _call(self, name: str) -> Json:
        pick = self._pick
        called = self._asked[name] = pick(self._named)
        tool = self._tools.get(called)
        tokens = pick((ABSENT, ABSENT, 1, 400))
        call = {"id": name, "tool": called, "args": {} if tool is None else self._args(tool)}
        return call if tokens is ABSENT else {**call, "estimated_tokens": tokens}

    def _args(self, tool: PolicyTool) -> Json:
        """Draw arguments: by the schema if there is one, and the judged ones of the few values."""
        schema: Any = tool.args_schema
        args: Json = {}
        if schema is not None:
            try:
                args = object_for(self._pick, schema)
            except NoValue:
                args = {}
        judged = [*_names_of(tool.arg_roles), *needs_of(tool).bound]
        parts = schema.get("properties", {}) if isinstance(schema, dict) else {}
        for name in dict.fromkeys(judged):
            if _takes_any_text(parts.get(name)):
                args[name] = self._word()
        return args

    def _result(self) -> Json:
        pick = self._pick
        name = pick([*self._waiting * 4, *_IDS])
        tool = self._tools.get(self._asked.get(name, ""))
        output = pick((self._content(tool), self._text(), {"from": self._word()}, ABSENT))
        measures = {"tokens": pick((ABSENT, 3, 900))}
        error = pick((ABSENT, ABSENT, f"see {self._word()}"))
        status = pick(_ENDS)
        event = self._wire("result", id=name, status=status, output=output, error=error, **measures)
        if tool is not None and tool.expires_after_s is not None:
            self._expiries.append(self._now + timedelta(seconds=tool.expires_after_s))
        return event

    def _content(self, tool: PolicyTool | None) -> Json:
        """Draw an output that holds what the tools demand of its class."""
        content: Json = {}
        for path in self._demanded_places(None if tool is None else tool.result_class):
            place = content
            for part in path[:-1]:
                place = place.setdefault(part, {})
            place[path[-1]] = self._word()
        return content

    def _demanded_places(self, kind: str | None) -> list[tuple[str, ...]]:
        """Return where evidence of a class has to hold something."""
        found = [
            segments(path)
            for tool in self._policy.tool
            for name, bound in needs_of(tool).bound.items()
            if kind in bound.classes
            for path in bound.at or (f"/{name}",)
        ]
        found += [
            segments(path)
            for tool in self._policy.tool
            for need in needs_of(tool).demands
            if need.classification == kind
            for _, path in need.about
        ]
        return [path for path in dict.fromkeys(found) if path and "*" not in path]

    def _answer(self) -> Json:
        pick = self._pick
        left = pick(_APPROVED_FOR)
        until = ABSENT if left is ABSENT or not self._moves else self._now + left
        if until is not ABSENT:
            self._expiries.append(until)
            until = format_time(until)
        return self._wire(
            "answer",
            plan_digest=pick(self._digests()),
            yes=pick((True, True, True, False)),
            approver=pick(("ada", "grace")),
            expires_at=until,
        )

    def _digests(self) -> Sequence[str]:
        """Return what an answer may name: the open question, one that was, or nothing known."""
        status = self._scout.status(self._session)
        if status is not None and status.question is not None:
            return [*[LAST_DIGEST] * 8, EARLIER_DIGEST, "0" * 64]
        return [EARLIER_DIGEST, LAST_DIGEST, "0" * 64]


def _names_of(roles: Mapping[str, Any] | None) -> Sequence[str]:
    """Return the arguments that have a role as a whole."""
    return [] if roles is None else [name for name in roles if not name.startswith("/")]


def _takes_any_text(schema: Any) -> bool:
    return schema is None or (isinstance(schema, dict) and schema.keys() <= {"type"})
