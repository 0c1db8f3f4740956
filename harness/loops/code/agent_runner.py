"""Runs an agent: its output goes to the listener, and every attempt is recorded.

Rule 1: what an interrupted agent printed until then is kept.
Rule 2: only an agent that could not be started, or that ran out of time, is tried again. Any other
        result is an answer.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any, Final, Literal

from harness.errors import HarnessError
from harness.loops.code.agent_commands import AgentRole, agent_start
from harness.loops.code.agent_output import failure_text, read_reply
from harness.loops.code.code_events import AgentEnded, AgentOutput, AgentStarted, ProgressEmitter
from harness.loops.code.session_lines import AgentRun, RetriedRun
from harness.loops.code.session_recorder import CodeLoopJob, Turn
from harness.process import KEPT_BYTES, CommandNotStarted, CommandResult, run_command

# The exit codes that a shell reports for a command that it cannot start, or that was interrupted.
_NOT_STARTED: Final = 127
_INTERRUPTED: Final = 130


class AgentNotStarted(HarnessError):
    """An agent could not be started, and is not to be tried again."""


class AgentRunner:
    """Runs the actor and the critic of one job."""

    def __init__(self, job: CodeLoopJob, events: ProgressEmitter) -> None:
        """Run the agents of `job` and send their events to `events`."""
        self._job, self._events = job, events

    async def run(self, role: AgentRole, prompt: str, turn: Turn) -> AgentRun:
        """Run the agent to its end and add the run to the turn.

        Raises:
            AgentNotStarted: the command could not be started, not even when it was tried again.
        """
        for attempt in range(1, self._job.retries + 2):
            run = await self._run_once(role, prompt, turn, attempt)
            if not (run.not_started or run.timed_out) or attempt > self._job.retries:
                break
            turn.retried.append(RetriedRun(role=role, run=run))
        turn.add_run(role, run)
        if run.not_started:
            raise AgentNotStarted(f"{role}: {run.stderr}")
        return run

    async def _run_once(self, role: AgentRole, prompt: str, turn: Turn, attempt: int) -> AgentRun:
        self._events.emit(AgentStarted, iteration=turn.number, role=role, attempt=attempt)
        began = time.monotonic()
        outputs = {name: _KeptText() for name in ("stdout", "stderr")}
        try:
            run = _finish_run(await self._command(role, prompt, turn, outputs))
        except CommandNotStarted as error:
            run = AgentRun(
                exit_code=_NOT_STARTED,
                not_started=True,
                duration_ms=0,
                stdout="",
                stderr=str(error),
            )
        except asyncio.CancelledError:
            run = AgentRun(
                exit_code=_INTERRUPTED,
                interrupted=True,
                duration_ms=round((time.monotonic() - began) * 1000),
                stdout=outputs["stdout"].text(),
                stderr=outputs["stderr"].text(),
            )
            turn.add_run(role, run)
            self._tell_end(role, turn, run)
            raise
        self._tell_end(role, turn, run)
        return run

    async def _command(
        self, role: AgentRole, prompt: str, turn: Turn, outputs: "dict[str, _KeptText]"
    ) -> CommandResult:
        words: Sequence[str] = self._job.actor if role == "actor" else self._job.critic

        def receive(stream: Literal["stdout", "stderr"]) -> Callable[[str], None]:
            def take(text: str) -> None:
                outputs[stream].add(text)
                self._events.emit(
                    AgentOutput, iteration=turn.number, role=role, stream=stream, text=text
                )

            return take

        with agent_start(words, prompt, self._job.folder) as start:
            return await run_command(
                words,
                prompt=start.prompt,
                cwd=start.folder,
                timeout=self._job.timeout,
                environment=start.environment,
                on_output=receive("stdout"),
                on_error_output=receive("stderr"),
            )

    def _tell_end(self, role: AgentRole, turn: Turn, run: AgentRun) -> None:
        self._events.emit(
            AgentEnded,
            iteration=turn.number,
            role=role,
            exit_code=run.exit_code,
            timed_out=run.timed_out,
            interrupted=run.interrupted,
            not_started=run.not_started,
            duration_ms=run.duration_ms,
            tokens=run.tokens,
            cost_micros=run.cost_micros,
            summary=failure_text(run),
        )


def _finish_run(result: CommandResult) -> AgentRun:
    reply = read_reply(result.stdout)
    usage: dict[str, Any] = {"tokens": reply.tokens, "cost_micros": reply.cost_micros}
    return AgentRun(
        exit_code=result.exit_code,
        timed_out=result.timed_out,
        truncated=result.truncated,
        duration_ms=round(result.seconds * 1000),
        stdout=result.stdout,
        stderr=result.stderr,
        **{name: value for name, value in usage.items() if value is not None},
    )


class _KeptText:
    """The first and the last part of what an agent prints while it runs."""

    def __init__(self) -> None:
        self._head, self._tail, self._left_out = "", "", 0

    def add(self, text: str) -> None:
        half = KEPT_BYTES // 2
        room = half - len(self._head)
        self._head += text[:room]
        self._tail += text[room:]
        over = len(self._tail) - half
        if over > half:  # cut rarely, so that a long output costs linear time
            self._left_out += over
            self._tail = self._tail[over:]

    def text(self) -> str:
        gap = f"\n[... {self._left_out} characters left out ...]\n" if self._left_out else ""
        return f"{self._head}{gap}{self._tail}"
