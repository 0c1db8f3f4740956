"""The rows of late plans: an opening costs its step and what is new, however much came before."""

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any, Final

from critic import Proposal, ToolCall
from critic.late.openings import StepOpener
from harness.guard import OpeningRuling
from harness.policy import Policy
from harness.policy.partial_documents import completed_proposal
from harness.wire import build
from tests.benchmarks.rows import UNIT, loads_plans
from tests.benchmarks.sessions import EARLY, LATE, SyntheticSession
from tests.benchmarks.timing import Row, of_thread
from tests.support.guarding import NOON, desk, guard_of, policy_of

_SIZE: Final = 10_000
_WORDS: Final = tuple(f"word{number}" for number in range(3000))
_BUDGET: Final = {"max_steps": 1_000_000, "bucket_tokens": 10**9}
_REQUEST: Final = "Transfer to iban-1 what the notes say"


def _wire() -> dict[str, Any]:
    """Return the policy of the desk, whose notes are records, and which late plans are allowed."""
    wire = desk(budget=_BUDGET)
    note, *others = wire["tool"]
    note = {**note, "result": {**note["result"], "format": "json"}}
    return {**wire, "tool": [note, *others], "spec": {**wire["spec"], "late": "sources"}}


def _note(number: int) -> dict[str, Any]:
    chance = Random(number)  # noqa: S311 - texts, not secrets
    return {"text": " ".join(chance.choices(_WORDS, k=_SIZE // 9)), "ref": f"bill {number}"}


class LongPlan:
    """A plan that reads a note of 10 kB and transfers by it, again and again."""

    def __init__(self, pairs: int, more: int) -> None:
        """Take a plan to a pair of steps, with so many pairs to come."""
        self._number, self.left = 0, pairs + more
        self._opener = StepOpener(long_proposal(pairs + more))
        for _ in range(pairs):
            self.take_pair(self.next_pair())

    def next_pair(self) -> tuple[int, list[ToolCall]]:
        """Return the first step of the next pair, and its calls."""
        number, self._number, self.left = self._number, self._number + 1, self.left - 1
        step, note = 2 * number, _note(number)
        read = _call(step, "read_note", {"name": "notes"}, note)
        sent = {"iban": "iban-1", "reason": note["ref"]}
        return step, [read, _call(step + 1, "transfer", sent, None)]

    def take_pair(self, pair: tuple[int, list[ToolCall]]) -> None:
        """Open both steps, each of which passes, and end their calls."""
        step, calls = pair
        for at, call in enumerate(calls):
            verdict = self._opener.open_now(step + at, NOON).verdict
            assert verdict.ok, verdict
            self._opener.end_call(call)


def long_proposal(pairs: int) -> Proposal:
    """Return a plan of so many pairs of steps."""
    policy: Policy = policy_of(_wire())
    steps = [step for number in range(pairs) for step in _pair_of_steps(number)]
    said = {"author": "user", "standing": "named", "seq": 0}
    request = {"id": "user/1", "classification": "request", "content": _REQUEST, "source": said}
    plan = {"steps": steps, "declared_outputs": []}
    wire = completed_proposal(policy, {"ctx": {"trace_id": "t"}, "plan": plan})
    wire["compiled"]["manifests"]["evidence_manifest"] = [request]
    wire["ctx"]["scope"] = [{"adapter_id": "desk", "capability_id": "transfer"}]
    return build(Proposal, wire)


def _pair_of_steps(number: int) -> list[dict[str, Any]]:
    tool = {"kind": "tool", "adapter_id": "desk"}
    read = {**tool, "id": f"r{number}", "capability_id": "read_note", "args": {"name": "notes"}}
    take = {"arg": "/reason", "step": f"r{number}", "at": "/ref"}
    paid = {"capability_id": "transfer", "args": {"iban": "iban-1"}, "takes": [take]}
    return [read, {**tool, "id": f"t{number}", **paid}]


def _call(step: int, name: str, args: dict[str, Any], output: Any) -> ToolCall:
    wire = {"step": step, "adapter_id": "desk", "capability_id": name, "args": args}
    wire |= {"status": "completed"} | ({} if output is None else {"output": output})
    return build(ToolCall, wire)


class LateSession(SyntheticSession):
    """An agent of many plain turns that reads a note and transfers by it in each later one."""

    def __init__(self, turns: int) -> None:
        """Take a session to a turn."""
        super().__init__(0, guard_of(_wire()))
        self._last: bytes | None = None
        for _ in range(turns):
            self.take(self.turn())

    def next_turn(self) -> list[bytes]:
        """End the last turn, rule on a new one, and return the events with which it is opened."""
        if self._last is not None:
            self.take_in(self._last)
        number = next(self._numbers)
        read, paid = f"r{number}", f"t{number}"
        take = {"arg": "/reason", "call": read, "at": "/ref"}
        calls = [
            {"id": read, "tool": "read_note", "args": {"name": "notes"}},
            {"id": paid, "tool": "transfer", "args": {"iban": "iban-1"}, "takes": [take]},
        ]
        self.rule(self._line({"event": "calls", "calls": calls}))
        done = {"event": "result", "status": "completed"}
        returned = {**done, "id": read, "output": _note(number)}
        events = ({"event": "ready", "id": read}, returned, {"event": "ready", "id": paid})
        self._last = self._line({**done, "id": paid})
        return [self._line(event) for event in events]

    def open_turn(self, events: list[bytes]) -> None:
        """Open both calls, each of which is allowed, and take in what the first one returns."""
        for line in events:
            answer = self._guard.handle_line(line)
            is_open = isinstance(answer, OpeningRuling) and answer.action == "allow"
            assert answer is None or is_open, answer


_MORE: Final = 100


def opening_rows() -> Iterator[Row]:
    """Measure the opening of two steps, with their results, early and late."""
    plans: dict[int, LongPlan] = {}

    def pairs_at(begin: int) -> tuple[Callable[[Any], None], Callable[[int], Sequence[Any]]]:
        def inputs(_: int) -> Sequence[Any]:
            if begin not in plans or not plans[begin].left or begin == EARLY:
                plans[begin] = LongPlan(begin, _MORE if begin == LATE else 1)
            return [plans[begin].next_pair()]

        def take(pair: Any) -> None:
            plans[begin].take_pair(pair)

        return take, inputs

    early, late = of_thread(*pairs_at(EARLY)), of_thread(*pairs_at(LATE))
    name = "two openings, results of 10 kB"
    yield Row(f"{name}, steps {2 * EARLY}", UNIT, None, early, loads_plans())
    yield Row(f"{name}, steps {2 * LATE}", f"the same, steps {2 * EARLY}", 1.3, late, early)

    last, first = LateSession(LATE), list[LateSession]()

    def begun(_: int) -> Sequence[Any]:
        first[:] = [LateSession(EARLY)]
        return [first[0].next_turn()]

    def open_first(turn: Any) -> None:
        first[0].open_turn(turn)

    early = of_thread(open_first, begun)
    late = of_thread(last.open_turn, lambda _: [last.next_turn()])
    name = "two openings of a session, results of 10 kB"
    yield Row(f"{name}, turn {LATE}", f"the same, turn {EARLY}", 1.3, late, early)
