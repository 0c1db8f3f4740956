"""The rows of hooks that a service answers: an event costs what is new, whatever was before it.

It is what the service itself takes, without its socket and the client that asks it.
"""

import json
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from random import Random
from typing import Any, Final

from plan_critic_entry.hook_client import code_identity

from harness.integrations.hooks.desk import HookDesk
from tests.benchmarks.timing import Cost, Row, of_process
from tests.support.paths import ROOT

EARLY, LATE = 5, 400
_RESULT: Final = 10_000
_MOST: Final = 3.0
POLICY: Final = ROOT / "harness" / "integrations" / "hooks" / "policies" / "claude-code.toml"
_WORDS: Final = tuple(f"word{number}" for number in range(3000))


class HookedSession:
    """A command-line agent that reads files, whose hooks are answered at a desk."""

    def __init__(self, folder: Path, calls: int) -> None:
        """Take a session to a number of calls, with its state in a folder."""
        policy = POLICY.read_bytes()
        options = ("agent=claude-code", f"folder={folder}", f"--policy={POLICY}")
        head = [*options, f"code={code_identity()}", f"--state={folder}"]
        head.append(f"policy_bytes={len(policy)}")
        self._desk, self._head = HookDesk(), "\0".join(head).encode() + b"\0\0" + policy
        self._numbers, self._chance = count(), Random(calls)  # noqa: S311 - texts, not secrets
        self.take(self._event("UserPromptSubmit", prompt="Read the files in /shop"))
        for _ in range(calls):
            self.take(self.call())

    def _event(self, kind: str, **members: Any) -> bytes:
        event = {"hook_event_name": kind, "session_id": "s", "cwd": "/shop", **members}
        return self._head + json.dumps(event).encode()

    def call(self) -> bytes:
        """Ask whether a file may be read, and return what it holds, as the event that says so."""
        number = next(self._numbers)
        given = {"tool_name": "Read", "tool_input": {"file_path": f"/shop/{number}.py"}}
        told: dict[str, Any] = {"tool_use_id": f"t{number}", **given}
        self.take(self._event("PreToolUse", **told))
        text = " ".join(self._chance.choices(_WORDS, k=_RESULT // 9))
        return self._event("PostToolUse", **told, tool_response=text)

    def take(self, request: bytes) -> None:
        """Take in an event, which is allowed."""
        answer = self._desk.answer(request)
        assert answer.startswith(b"0 "), answer
        assert b"deny" not in answer, answer


def hooked_rows(folder: Path) -> Iterator[Row]:
    """Measure the result of a call early and late in a session of a command-line agent."""
    for calls in (EARLY, LATE):
        name = f"hook event of a result of 10 kB after {calls} calls, in the service"
        yield Row(name, "a millisecond", _MOST, _cost(folder, calls), lambda _: 1e6)


def _cost(folder: Path, calls: int) -> Cost:
    """Return the cost of a result. An early session begins anew for each; a late one goes on."""
    numbers, late = count(), list[HookedSession]()

    def inputs(_batch: int) -> Sequence[tuple[HookedSession, bytes]]:
        if not late or calls < LATE:
            state = folder / f"hooked_{calls}_{next(numbers)}"
            late[:] = [HookedSession(state, calls)]
        return [(late[0], late[0].call())]

    return of_process(lambda given: given[0].take(given[1]), inputs)
