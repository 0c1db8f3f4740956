"""`critic loop`: an actor changes a working directory until gate and critic find the task done."""

import argparse
import asyncio
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from shlex import join
from typing import Any

from evals.escaping import escape_line
from harness.clock import SystemClock
from harness.codeloop.agents import AGENT_SETTINGS, agent_settings, require_program
from harness.codeloop.config import PROJECT_FILE, Layer, Settings, layer, layers, resolve
from harness.codeloop.gate import check_patterns
from harness.codeloop.lock import work_tree_lock
from harness.codeloop.loop import CodeLoop
from harness.codeloop.prompt import counted
from harness.codeloop.record import EXIT_CODES, SessionEnd
from harness.codeloop.scribe import Job
from harness.codeloop.sessions import SessionWriter, new_id, session_file, sessions_folder
from harness.codeloop.workspace import Workspace, ignore_rule, top_of
from harness.commands.progress import Progress
from harness.errors import UsageError

_AGENT_SETTINGS = "always, unless --allow-agent-settings"
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def run(args: argparse.Namespace) -> int:
    """Run one session, or say what would be run. Exit status as `critic loop --help` has it."""
    folder = Path(args.dir).resolve()
    root = top_of(folder)
    named = Path(args.config) if args.config is not None else None
    settings = resolve(layers(_command_line(args), root, named))
    check_patterns(settings.gate.protected, root)
    settings = _with_settings_protected(settings, folder, root, named)
    task = _task(args.task)
    if args.dry_run:
        _tell_plan(task, folder, root, settings)
        return 0
    for words in (settings.actor.words, settings.critic.words, *settings.gate.commands):
        require_program(words, folder)
    place = sessions_folder() if args.sessions is None else Path(args.sessions).resolve()
    job = _job(task, folder, settings)
    own = session_file(place, job.session)
    guarded = not settings.allow_agent_settings
    with (
        _unwound_by_signals(),
        work_tree_lock(root, sessions_folder().parent / "locks"),
        Workspace(
            folder, unseen=(own,), watched=job.gate.protected, guard_git_settings=guarded
        ) as workspace,
        SessionWriter(place, job.session) as record,
        Progress(sys.stderr, job.max_iterations) as progress,
    ):
        progress.say(f"session {job.session}")
        loop = CodeLoop(job, workspace, record, SystemClock(), progress)
        end = asyncio.run(_interruptible(loop))
    _tell_end(job.session, end)
    return EXIT_CODES[end.outcome]


async def _interruptible(loop: CodeLoop) -> SessionEnd:
    """Run the loop; a signal that ends programs ends it in order."""
    running, task = asyncio.get_running_loop(), asyncio.current_task()
    for number in _SIGNALS:
        # A hangup that is ignored stays so: that is how nohup keeps a program at work.
        kept_out = number == signal.SIGHUP and signal.getsignal(number) is signal.SIG_IGN
        if task is not None and not kept_out:
            # Only the main thread may; elsewhere whoever started this ends it.
            with suppress(RuntimeError, ValueError):
                running.add_signal_handler(number, task.cancel)
    return await loop.run()


@contextmanager
def _unwound_by_signals() -> Iterator[None]:
    """Outside of the loop too, a signal that ends programs lets this one clean up."""
    before = {}
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:
            with suppress(ValueError):  # not in the main thread
                before[number] = signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _task(text: str) -> str:
    task = sys.stdin.read() if text == "-" else text
    if not task.strip():
        raise UsageError("the task is empty: say what is to be done")
    return task.encode("utf-8", "replace").decode()


def _command_line(args: argparse.Namespace) -> Layer:
    """What the flags say, as the highest layer of settings."""
    said: dict[str, Any] = {
        "model": args.model,
        "max_iterations": args.max_iterations,
        "timeout": args.timeout,
        "actor": {"agent": args.actor, "model": args.actor_model},
        "critic": {"agent": args.critic, "model": args.critic_model},
        "gate": {
            "commands": args.gate,
            "protected": args.protect,
            "max_lines": args.max_lines,
            "max_files": args.max_files,
            "allow_agent_settings": args.allow_agent_settings or None,
        },
    }
    return layer("command line", "command line", _given(said))


def _given(values: dict[str, Any]) -> dict[str, Any]:
    kept = {name: _given(v) if isinstance(v, dict) else v for name, v in values.items()}
    return {name: value for name, value in kept.items() if value is not None}


def _with_settings_protected(
    settings: Settings, folder: Path, root: Path, named: Path | None
) -> Settings:
    """Protect the settings that the next session, or an agent that starts later, would read."""
    own = (ignore_rule(place, root) for place in (root / PROJECT_FILE, named) if place is not None)
    settings = settings.protecting([rule for rule in own if rule])
    if settings.allow_agent_settings:
        return settings
    return settings.protecting(agent_settings(folder.resolve(), root), _AGENT_SETTINGS)


def _job(task: str, folder: Path, settings: Settings) -> Job:
    return Job(
        session=new_id(SystemClock().now()),
        task=task,
        folder=folder,
        actor=settings.actor.words,
        critic=settings.critic.words,
        max_iterations=settings.max_iterations,
        timeout=settings.timeout,
        gate=settings.gate,
    )


def _tell_plan(task: str, folder: Path, root: Path, settings: Settings) -> None:
    """Print what would be run, and the origin of each setting."""
    lines = [
        "dry run: nothing is run",
        f"task    {task.strip()}",
        f"folder  {folder}",
        f"watched {root}",
        f"actor   {join(settings.actor.words)}",
        f"critic  {join(settings.critic.words)}",
        "settings, and where each is from:",
        *(f"  {name:<15} {value}  [{origin}]" for name, value, origin in _entries(settings)),
    ]
    sys.stdout.write("".join(f"{escape_line(line)}\n" for line in lines))


def _entries(settings: Settings) -> Iterator[tuple[str, object, str]]:
    """Yield each setting with its value and its origin; a list has one entry for each item."""
    gate, origins = settings.gate, settings.origins
    values = {
        "actor.agent": settings.actor.agent,
        "actor.model": settings.actor.model,
        "critic.agent": settings.critic.agent,
        "critic.model": settings.critic.model,
        "max_iterations": settings.max_iterations,
        "timeout": f"{settings.timeout:g} s",
        "gate.max_lines": gate.max_lines,
        "gate.max_files": gate.max_files,
        "gate.timeout": f"{gate.timeout:g} s",
        "gate.allow_agent_settings": "yes" if settings.allow_agent_settings else "no",
    }
    for name, value in values.items():
        yield name, "-" if value is None else value, origins[name]
    for words, origin in zip(gate.commands, settings.command_origins, strict=True):
        yield "gate.commands", join(words), origin
    for pattern, origin in zip(gate.protected, settings.protected_origins, strict=True):
        if origin != _AGENT_SETTINGS:
            yield "gate.protected", pattern, origin
    if not settings.allow_agent_settings:
        names = ", ".join((*AGENT_SETTINGS, "and settings and hooks of .git"))
        yield "gate.protected", names, _AGENT_SETTINGS


def _tell_end(session: str, end: SessionEnd) -> None:
    tries = counted(end.iterations, "iteration")
    sys.stdout.write(f"{end.outcome} after {tries}, {end.duration_ms / 1000:.1f} s\n")
    if end.summary is not None:
        sys.stdout.write(f"confidence {end.confidence:g}: {escape_line(end.summary)}\n")
    if end.reason is not None:
        sys.stdout.write(f"{escape_line(end.reason)}\n")
    sys.stdout.write(f"see: critic sessions show {session}\n")
