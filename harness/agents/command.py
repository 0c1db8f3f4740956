"""A command line as an agent of the loops: the prompt goes in, what it prints is the output."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

from evals.escaping import escape_name
from harness.agents.agent import AgentFailed, AgentResult, Event
from harness.agents.usage import UNLIMITED, Budget, Usage
from harness.process import CommandNotStarted, CommandResult, run_command


class CommandAgent:
    """Runs `argv` in `cwd` for every call, with the prompt on stdin or in place of `{prompt}`.

    The output is stdout. An exit code that is not 0, or the end of `timeout` seconds, is an
    interruption. A command does not say what it used, so no token or money budget lets it be
    called a second time; and it has no mode without tools.
    """

    def __init__(
        self,
        argv: Sequence[str],
        cwd: Path,
        timeout: float | None = None,
        *,
        name: str | None = None,
    ) -> None:
        """`name` is the program's file name unless given.

        Raises:
            ValueError: `argv` names no program.
        """
        if not argv or not argv[0]:
            raise ValueError("argv is empty: name a program and its arguments")
        self.name = name or Path(argv[0]).name
        self._argv = tuple(argv)
        self._cwd = cwd
        self._timeout = timeout

    async def stream(
        self,
        prompt: str,
        *,
        session_id: str,
        budget: Budget = UNLIMITED,
        text_only: bool = False,
    ) -> AsyncGenerator[Event, None]:
        """What the command prints, as it does, and the result. Left early, the command is ended.

        Raises:
            AgentFailed: the command could not be started.
        """
        del budget, text_only
        yield Event(kind="started", session_id=session_id)
        said: asyncio.Queue[str | None] = asyncio.Queue()
        command = run_command(
            self._argv,
            prompt=prompt,
            cwd=self._cwd,
            timeout=self._timeout,
            on_output=said.put_nowait,
        )
        task = asyncio.create_task(command)
        task.add_done_callback(lambda _: said.put_nowait(None))
        try:
            while (text := await said.get()) is not None:
                yield Event(kind="model_chunk", session_id=session_id, data={"text": text})
            result = await task
        except CommandNotStarted as error:
            raise AgentFailed(str(error)) from None
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        yield Event(kind="completed", session_id=session_id, result=self._read(result))

    def _read(self, done: CommandResult) -> AgentResult:
        if done.exit_code == 0 and not done.timed_out:
            return AgentResult(output=done.stdout, usage=Usage())
        last = done.stderr.strip().rpartition("\n")[2]
        how = (
            f"timed out after {self._timeout} s"
            if done.timed_out
            else (f"ended with exit code {done.exit_code}")
        )
        reason = f"{escape_name(self.name)} {how}" + (f": {escape_name(last)}" if last else "")
        return AgentResult(
            output=done.stdout, usage=Usage(), interrupted=True, interruption_reason=reason
        )
