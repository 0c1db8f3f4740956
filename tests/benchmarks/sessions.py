"""The rows of guarded sessions: a ruling costs what is new, whatever was seen before."""

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from random import Random
from typing import Any, Final

from harness.clock import FixedClock
from harness.guard import Guard, Ruling
from harness.guard.recording import GuardLog
from tests.benchmarks.rows import UNIT, loads_plans
from tests.benchmarks.timing import Row, of_thread
from tests.support.guarding import NOON, desk, policy_of

RESULT: Final = 10_000
EARLY, LATE = 10, 400
_WORDS: Final = tuple(f"word{number}" for number in range(3000))
_BUDGET: Final = {"max_steps": 1_000_000, "bucket_tokens": 10**9}
_REQUEST: Final = "Transfer to iban-1 what the notes say"


class SyntheticSession:
    """An agent that reads a note of 10 kB and transfers money, turn by turn."""

    def __init__(self, turns: int, guard: Guard | None = None, name: str = "s") -> None:
        """Take a session to a turn, of a guard without a log if none is given."""
        self._guard, self._name = guard or guard_with(None), name
        self._chance = Random(turns)  # noqa: S311 - texts, not secrets
        self._numbers = count()
        self._send({"event": "open", "request": _REQUEST, "scope": ["transfer"]})
        for _ in range(turns // 2):
            self.rule(self.transfer())

    def _send(self, event: dict[str, Any]) -> Any:
        return self._guard.handle_line(self._line(event))

    def _line(self, event: dict[str, Any]) -> bytes:
        return json.dumps({**event, "session": self._name}).encode()

    def transfer(self) -> bytes:
        """Read a note, and return the call of the next turn as a line."""
        number = next(self._numbers)
        self._send(_call(f"r{number}", "read_note", name="notes"))
        self.take_in(self.result(number))
        call = _call(f"t{number}", "transfer", iban="iban-1", reason=f"for {number}")
        return self._line(call)

    def read(self) -> bytes:
        """Ask for a note, and return its text as a line."""
        number = next(self._numbers)
        self._send(_call(f"r{number}", "read_note", name="notes"))
        return self.result(number)

    def transfer_to(self, accounts: list[str]) -> bytes:
        """Return a call that transfers to some accounts, as a line."""
        return self._line(_call(f"t{next(self._numbers)}", "transfer", iban=accounts, reason="x"))

    def turn(self, text: str | None = None) -> tuple[bytes, bytes]:
        """Return a call that reads a note, and its result, as lines."""
        number = next(self._numbers)
        call = _call(f"r{number}", "read_note", name="notes")
        return self._line(call), self.result(number, text)

    def take(self, turn: tuple[bytes, bytes]) -> None:
        """Rule on a call, which is allowed, and take in its result."""
        call, result = turn
        self.rule(call)
        self.take_in(result)

    def result(self, number: int, text: str | None = None) -> bytes:
        """Return the result of a call that reads: a text of 10 kB if none is given."""
        text = text or " ".join(self._chance.choices(_WORDS, k=RESULT // 9))
        event = {"event": "result", "id": f"r{number}", "status": "completed", "output": text}
        return self._line(event)

    def rule(self, line: bytes, action: str = "allow") -> None:
        """Rule on a call, which is allowed, or as is said."""
        ruling = self._guard.handle_line(line)
        assert isinstance(ruling, Ruling)
        assert ruling.action == action, ruling

    def take_in(self, line: bytes) -> None:
        """Take in a result."""
        answer = self._guard.handle_line(line)
        assert answer is None, answer

    def close(self) -> None:
        """End the session."""
        self._send({"event": "close"})


def guard_with(log: GuardLog | None) -> Guard:
    """Return a guard of the desk, for sessions of any length."""
    return Guard(policy_of(desk(budget=_BUDGET)), clock=FixedClock(NOON), log=log)


def _call(call: str, tool: str, **args: Any) -> dict[str, Any]:
    return {"event": "calls", "calls": [{"id": call, "tool": tool, "args": args}]}


def session_rows() -> Iterator[Row]:
    """Measure a ruling and a result early and late in a session, in memory and without a log."""
    # The early ones are of a session that begins anew for each batch; the late one goes on.
    late = SyntheticSession(LATE)
    early: list[SyntheticSession] = []

    def begun(next_line: Callable[[SyntheticSession], bytes]) -> Callable[[int], Sequence[Any]]:
        def inputs(_: int) -> Sequence[Any]:
            early[:] = [SyntheticSession(EARLY)]
            return [next_line(early[0])]

        return inputs

    def rule(line: bytes) -> None:
        early[0].rule(line)

    def take_in(line: bytes) -> None:
        early[0].take_in(line)

    rule_early = of_thread(rule, begun(SyntheticSession.transfer))
    rule_late = of_thread(late.rule, lambda _: [late.transfer()])
    read_early = of_thread(take_in, begun(SyntheticSession.read))
    read_late = of_thread(late.take_in, lambda _: [late.read()])
    name = "ruling of one call, results of 10 kB"
    yield Row(f"{name}, turn {EARLY}", UNIT, None, rule_early, loads_plans())
    yield Row(f"{name}, turn {LATE}", f"the same, turn {EARLY}", 2.0, rule_late, rule_early)
    yield Row(
        f"result of 10 kB, turn {LATE}", f"the same, turn {EARLY}", 2.0, read_late, read_early
    )
