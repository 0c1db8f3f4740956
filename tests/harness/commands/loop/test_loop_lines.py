"""Progress: live on a terminal, plain lines in a pipe; agents are heard on a terminal only."""

import asyncio
import errno
import io
import json
import re
from datetime import UTC, datetime
from typing import Any

import pytest

from harness.commands.loop.loop_lines import JsonEvents, Progress
from harness.loops.code.code_events import (
    AgentEnded,
    AgentOutput,
    AgentStarted,
    ChangeRefused,
    CodeLoopEvent,
    CriticReplied,
    DecisionMade,
    DiffCaptured,
    GateCommandEnded,
    SessionStarted,
)
from harness.loops.code.critic_decision import Continue, Done, Error
from harness.loops.code.session_lines import Refusal
from tests.harness.loops.code.scratch import SESSION
from tests.support.examples import HOSTILE, is_safe

NOW = datetime(2026, 5, 9, 9, 35, tzinfo=UTC)


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


class Gone(Terminal):
    """A terminal that goes away after some writes."""

    def __init__(self, left: int, number: int) -> None:
        super().__init__()
        self._left, self._number = left, number

    def write(self, text: str) -> int:
        self._left -= 1
        if self._left < 0:
            raise OSError(self._number, "gone")
        return super().write(text)


def made(event: Any, **fields: Any) -> CodeLoopEvent:
    numbered = {} if event is SessionStarted else {"iteration": 2}
    return event(seq=1, time=NOW, **numbered, **fields)  # type: ignore[no-any-return]


def ended(role: str, summary: str = "exited with 0", exit_code: int = 0) -> CodeLoopEvent:
    flags = dict.fromkeys(("timed_out", "interrupted", "not_started"), False)
    fields = {"exit_code": exit_code, "duration_ms": 1200, "summary": summary, **flags}
    return made(AgentEnded, role=role, **fields)


STARTED = made(SessionStarted, session=SESSION, task="x", recorded_iterations=0, last_iteration=3)


def shown(stream: io.StringIO, *events: CodeLoopEvent, verbose: bool = False) -> str:
    async def session() -> None:
        with Progress(stream, verbose=verbose) as progress:
            for event in (STARTED, *events):
                progress.on_event(event)
                await asyncio.sleep(0.002)

    asyncio.run(session())
    return stream.getvalue()


def agent(role: str, *pieces: str) -> list[CodeLoopEvent]:
    outputs = [made(AgentOutput, role=role, stream="stdout", text=text) for text in pieces]
    return [made(AgentStarted, role=role, attempt=1), *outputs, ended(role)]


REFUSAL = Refusal(kind="diff_too_large", reason="changed files: 1, allowed: 0")
WHOLE = [
    *agent("actor", "hel", "lo\nbye\n"),
    made(GateCommandEnded, command=("make", "all"), passed=True, duration_ms=100),
    made(DiffCaptured, files=1, lines=2, size=3, sha256="0" * 64),
    *agent("critic", "DECISION"),
    made(CriticReplied, reply="x"),
    made(DecisionMade, decision=Continue(feedback="go on")),
    made(ChangeRefused, refusals=(REFUSAL,)),
]


def test_a_pipe_gets_one_plain_line_for_each_step_and_nothing_of_the_agents() -> None:
    lines = shown(io.StringIO(), *WHOLE).splitlines()
    assert [re.sub(r" +[0-9.]+ s", "", line) for line in lines] == [
        f"session {SESSION}",
        "[2/3] actor exited with 0",
        "[2/3] gate passed: make all",
        "[2/3] diff 1 file, 2 lines",
        "[2/3] critic CONTINUE: go on",
        "[2/3] judged          refused: diff_too_large: changed files: 1, allowed: 0",
    ]


def test_verbose_prints_what_agents_print_line_by_line_with_their_names() -> None:
    lines = shown(io.StringIO(), *WHOLE, verbose=True).splitlines()
    assert lines[1:3] == [" actor| hello", " actor| bye"]
    assert "critic| DECISION" in lines


def test_a_terminal_sees_the_time_pass_and_what_agents_print() -> None:
    text = shown(Terminal(), *WHOLE)
    assert re.search(r"\r\[2/3\] actor +[0-9]+\.[0-9] s", text)
    left = [line.rpartition("\r")[2] for line in text.split("\n")]
    assert " actor| hello" in left
    assert left[-1] == ""


@pytest.mark.parametrize("number", [errno.EIO, errno.EPIPE])
@pytest.mark.parametrize("left", range(12))
def test_a_session_goes_on_without_its_terminal(left: int, number: int) -> None:
    shown(Gone(left, number), *WHOLE)


@pytest.mark.parametrize("decision", [Done(summary="s", confidence=0.5), Continue(feedback="f")])
def test_every_decision_has_a_line(decision: Done | Continue) -> None:
    assert shown(io.StringIO(), made(DecisionMade, decision=decision)).count("\n") == 2


def test_other_ends_have_a_line_too() -> None:
    error = Error(analysis="a", recovery="r")
    assert "ERROR: a\n" in shown(io.StringIO(), made(DecisionMade, decision=error))
    malformed = made(CriticReplied, reply="x", problem="no decision")
    text = shown(io.StringIO(), *agent("critic"), malformed)
    assert text.endswith("malformed reply: no decision\n")
    start = made(AgentStarted, role="critic", attempt=1)
    failed = ended("critic", "exited with 1: log in", 1)
    text = shown(io.StringIO(), start, failed, malformed)
    assert text.endswith("exited with 1: log in\n")


@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
@pytest.mark.parametrize("text", [HOSTILE, "x" * 1_000_000, "y\n" * 100])
def test_what_agents_print_is_cut_and_escaped(stream: Any, text: str) -> None:
    events = [*agent("actor", text), made(DecisionMade, decision=Continue(feedback=f"f{text}"))]
    output = shown(stream(), *events, verbose=True)
    lines = [line.rpartition("\r")[2] for line in output.splitlines()]
    assert all(map(is_safe, lines))
    assert all(len(line) < 6 * 520 for line in lines)


def test_a_step_that_was_interrupted_leaves_no_half_line() -> None:
    start = made(AgentStarted, role="actor", attempt=1)
    assert shown(Terminal(), start).endswith("\r")
    assert shown(io.StringIO(), start) == f"session {SESSION}\n"


def test_json_events_are_one_line_each_and_go_to_the_display_too() -> None:
    out, err = io.StringIO(), io.StringIO()
    hostile = made(AgentOutput, role="actor", stream="stderr", text=HOSTILE)
    listener = JsonEvents(out, Progress(err))
    for event in (STARTED, hostile):
        listener.on_event(event)
    first, second = out.getvalue().splitlines()
    assert json.loads(first)["kind"] == "session_started"
    assert json.loads(second)["text"] == HOSTILE
    assert out.getvalue().isascii()
    assert err.getvalue() == f"session {SESSION}\n"
