"""A command line as an agent of the loops: it is given the prompt, and prints the output."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

from evals.escaping import escape_name
from harness.errors import escape_text
from harness.loops.agents.agent import AgentFailed, AgentResult, Event
from harness.loops.agents.usage import UNLIMITED, Budget, Usage
from harness.process import CommandNotStarted, CommandResult, run_command


class CommandAgent:
    """Runs `argv` in `cwd` for every call, with the prompt on stdin or in place of `{prompt}`.

    The output is stdout. A call with an exit code other than 0, or that takes longer than `timeout`
    seconds, is interrupted. A command does not report its usage, so a budget of tokens or money
    does not allow a second call. It has no mode without tools, and takes no extra tools.
    """

    def __init__(
        self,
        argv: Sequence[str],
        cwd: Path,
        timeout: float | None = None,
        *,
        name: str | None = None,
    ) -> None:
        """Wrap a command. `name` is the program's file name unless given.

        Raises:
            ValueError: `argv` does not name a program.
        """
        if not argv or not argv[0]:
            raise ValueError("argv is empty: name a program and its arguments")
        self.name: str = name or Path(argv[0]).name
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
        """Yield what the command prints as it does, then the result. Closing it ends the command.

        Raises:
            AgentFailed: the command could not be started.
        """
        del budget, text_only
        yield Event(kind="started", session_id=session_id)
        output_queue: asyncio.Queue[str | None] = asyncio.Queue()
        command = run_command(
            self._argv,
            prompt=prompt,
            cwd=self._cwd,
            timeout=self._timeout,
            on_output=output_queue.put_nowait,
        )
        task = asyncio.create_task(command)
        task.add_done_callback(lambda _: output_queue.put_nowait(None))
        try:
            while (text := await output_queue.get()) is not None:
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
        reason = f"{escape_name(self.name)} {how}" + (f": {escape_text(last)}" if last else "")
        return AgentResult(
            output=done.stdout, usage=Usage(), interrupted=True, interruption_reason=reason
        )
