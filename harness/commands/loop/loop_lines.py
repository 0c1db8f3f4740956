"""The lines of a code loop: one for each step, with a clock under them on a terminal."""

import os
import time
from contextlib import suppress
from typing import Final, Self, TextIO

from evals.escaping import escape_line
from harness.canonical import ascii_json
from harness.commands.progress import StepClock
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
from harness.loops.code.prompt import pluralize
from harness.loops.code.session_lines import Refusal

_LONGEST: Final = 160
_LONGEST_OUTPUT: Final = 500


class Progress:
    """Prints the events of a session for a person.

    If the reader closes the stream, the output stops and the session continues.
    """

    def __init__(self, stream: TextIO, *, verbose: bool = False) -> None:
        """Print to `stream`; also the output of agents, if it is a terminal or `verbose` is set."""
        self._stream, self._live = stream, stream.isatty()
        self._shows_output = self._live or verbose
        self._began, self._title, self._limit = time.monotonic(), "", 0
        self._clock: StepClock | None = None
        self._partial: dict[str, str] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._finish()

    def on_event(self, event: CodeLoopEvent) -> None:
        """Print one event."""
        match event:
            case SessionStarted():
                self._limit = event.last_iteration
                past = event.recorded_iterations
                note = f" continues after {pluralize(past, 'iteration')}" if past else ""
                self._print_line(f"session {event.session}{note}")
            case AgentStarted():
                self._start(event.iteration, event.role)
            case AgentOutput():
                self._output(event.role, event.text)
            case AgentEnded():
                self._agent_ended(event)
            case GateCommandEnded(iteration=number, duration_ms=duration_ms):
                result = _reasons(event.refusals) or f"passed: {' '.join(event.command)}"
                self._print_step(number, "gate", result, duration_ms / 1000)
            case _:
                self._print_judgement(event)

    def _print_judgement(self, event: CodeLoopEvent) -> None:
        match event:
            case DiffCaptured(iteration=number):
                size = f"{pluralize(event.files, 'file')}, {pluralize(event.lines, 'line')}"
                self._print_step(number, "diff", size, time.monotonic() - self._began)
                self._finish()
            case ChangeRefused(iteration=number):
                self._finish()
                self._print_step(number, "judged", f"refused: {_reasons(event.refusals)}")
            case CriticReplied(iteration=number, problem=str(problem)) if self._title:
                self._print_step(
                    number, "critic", f"malformed reply: {problem}", self._elapsed_seconds()
                )
                self._finish()
            case DecisionMade(iteration=number):
                self._print_step(number, "critic", _gist(event.decision), self._elapsed_seconds())
                self._finish()
            case _:
                self._finish()

    def _agent_ended(self, event: AgentEnded) -> None:
        for role in [*self._partial]:
            self._output(role, "\n")
        self._partial.clear()
        if event.role == "critic" and event.exit_code == 0:
            return  # its reply is printed, as soon as it is read
        self._print_step(event.iteration, event.role, event.summary, event.duration_ms / 1000)
        self._finish()
        if event.role == "actor" and not event.interrupted:
            self._start(event.iteration, "checks")

    # --- the stream -------------------------------------------------------------------------------

    def _start(self, number: int, step: str) -> None:
        self._finish()
        self._began, self._title = time.monotonic(), f"[{number}/{self._limit}] {step:<6}"
        if self._live:
            self._clock = StepClock(self._stream, self._title)

    def _finish(self) -> None:
        """Stop the clock of the step that is running, and clear its line."""
        if self._clock is not None:
            self._clock.close()
            self._clock = None
        self._title = ""

    def _print_step(self, number: int, step: str, text: str, seconds: float | None = None) -> None:
        # Cut before it is escaped: there may be megabytes of it.
        cut = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
        took = " " * 8 if seconds is None else f"{seconds:6.1f} s"
        self._print_line(f"[{number}/{self._limit}] {step:<6} {took} {escape_line(cut)}")

    def _output(self, role: str, text: str) -> None:
        if not self._shows_output:
            return
        *lines, rest = (self._partial.pop(role, "") + text).split("\n")
        if len(rest) > _LONGEST_OUTPUT:
            lines, rest = [*lines, rest], ""
        for line in filter(str.strip, lines):
            cut = line if len(line) <= _LONGEST_OUTPUT else f"{line[:_LONGEST_OUTPUT]}..."
            self._print_line(f"{role:>6}| {escape_line(cut.rstrip())}")
        if rest:
            self._partial[role] = rest

    def _print_line(self, line: str) -> None:
        if self._clock is not None:
            self._clock.clear()
        self._put(f"{line}\n")

    def _put(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except OSError:
            # Flushing the rest of the buffer at exit would fail: send it to nowhere.
            with suppress(OSError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())

    def _elapsed_seconds(self) -> float:
        return time.monotonic() - self._began


class JsonEvents:
    """Prints every event as one line of JSON, then passes it to another listener.

    If a line cannot be written, the output stops and the session continues; `check` raises.
    """

    def __init__(self, stream: TextIO, then: Progress) -> None:
        """Print to `stream`, and pass each event on to `then`."""
        self._stream, self._then = stream, then
        self._error: OSError | None = None

    def on_event(self, event: CodeLoopEvent) -> None:
        """Print one event. The line is written at once."""
        self._then.on_event(event)
        if self._error is not None:
            return
        try:
            self._stream.write(f"{ascii_json(event.wire())}\n")
            self._stream.flush()
        except OSError as error:
            self._error = error

    def check(self) -> None:
        """Check that every event was printed.

        Raises:
            OSError: one was not.
        """
        if self._error is not None:
            raise self._error


def _reasons(refusals: tuple[Refusal, ...]) -> str:
    return "; ".join(f"{refusal.kind}: {refusal.reason}" for refusal in refusals)


def _gist(decision: Done | Continue | Error) -> str:
    match decision:
        case Done():
            return f"DONE ({decision.confidence:g}): {decision.summary}"
        case Continue():
            return f"CONTINUE: {decision.feedback}"
        case Error():
            return f"ERROR: {decision.analysis}"
