"""`critic loop`: an actor changes a working directory until gate and critic find the task done."""

import argparse
import asyncio
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from shlex import join
from typing import Any, Final

from critic.command.agent_settings import AGENT_SETTINGS
from evals.escaping import escape_line
from harness.commands.loop.loop_lines import JsonEvents, Progress
from harness.errors import UsageError
from harness.loops.code.agent_commands import agent_settings, require_program
from harness.loops.code.check_gate import check_patterns
from harness.loops.code.code_events import ProgressListener
from harness.loops.code.code_loop import CodeLoop
from harness.loops.code.config import PROJECT_FILE, Layer, Settings, layer, layers, resolve
from harness.loops.code.prompt import pluralize
from harness.loops.code.repository import ignore_rule
from harness.loops.code.session_files import find, sessions_folder
from harness.loops.code.session_lines import EXIT_CODES, SessionEnd
from harness.loops.code.session_opening import open_session, resume_session
from harness.loops.code.session_recorder import CodeLoopJob
from harness.loops.code.workspace import top_of

_AGENT_SETTINGS: Final = "always, unless --allow-agent-settings"
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_NOT_WITH_RESUME: Final = (
    *("task", "actor", "critic", "model", "actor_model", "critic_model", "timeout", "retries"),
    *("max_minutes", "dir", "config", "gate", "protect", "max_lines", "max_files"),
    *("allow_agent_settings", "accept_unreviewed", "dry_run"),
)


def run(args: argparse.Namespace) -> int:
    """Run one session, or print what would run. Exit status as in `critic loop --help`."""
    with Progress(sys.stderr, verbose=args.verbose) as progress:
        json_events = JsonEvents(sys.stdout, progress) if args.format == "json" else None
        listener = json_events or progress
        if args.resume is not None:
            return _run_session(_resume_session(args, listener), json_events)
        folder = Path("." if args.dir is None else args.dir).resolve()
        root = top_of(folder)
        config = Path(args.config) if args.config is not None else None
        settings = resolve(layers(_command_line(args), root, config))
        check_patterns(settings.gate.protected, root)
        settings = _with_settings_protected(settings, folder, root, config)
        job = _job(args, folder, settings)
        if args.dry_run:
            _print_plan(job, root, settings)
            return 0
        _require_programs(job)
        opened = open_session(
            job,
            sessions=_sessions(args),
            listener=listener,
            accept_unreviewed=args.accept_unreviewed,
        )
        return _run_session(opened, json_events)


def _run_session(opened: AbstractContextManager[CodeLoop], json_events: JsonEvents | None) -> int:
    with _unwound_by_signals(), opened as loop:
        _require_programs(loop.job)
        end = asyncio.run(_interruptible(loop))
        session, last = loop.session, loop.iterations[-1:]
    if json_events is not None:
        json_events.check()
    else:
        _print_end(session, end, [path for iteration in last for path in iteration.not_seen])
    return EXIT_CODES[end.outcome]


def _resume_session(
    args: argparse.Namespace, listener: ProgressListener
) -> AbstractContextManager[CodeLoop]:
    """Open the session of --resume, which has its settings on record."""
    given = [name for name in _NOT_WITH_RESUME if getattr(args, name) not in (None, False)]
    if given:
        flags = ", ".join(
            "TASK" if name == "task" else f"--{name.replace('_', '-')}" for name in given
        )
        raise UsageError(f"--resume continues with the recorded settings: leave out {flags}")
    folder = _sessions(args)
    session = find(folder, args.resume)
    return resume_session(
        session, sessions=folder, listener=listener, max_iterations=args.max_iterations
    )


def _sessions(args: argparse.Namespace) -> Path:
    return sessions_folder() if args.sessions is None else Path(args.sessions).resolve()


def _require_programs(job: CodeLoopJob) -> None:
    commands: Sequence[Sequence[str]] = (job.actor, job.critic, *job.gate.commands)
    for words in commands:
        require_program(words, job.folder)


async def _interruptible(loop: CodeLoop) -> SessionEnd:
    """Run the loop; a signal that ends programs cancels it, so that it records its end."""
    running, task = asyncio.get_running_loop(), asyncio.current_task()
    for number in _SIGNALS:
        # A hangup that is ignored stays so: that is how nohup keeps a program at work.
        ignored = number == signal.SIGHUP and signal.getsignal(number) is signal.SIG_IGN
        if task is not None and not ignored:
            # Only the main thread may do this; elsewhere the caller ends the loop.
            with suppress(RuntimeError, ValueError):
                running.add_signal_handler(number, task.cancel)
    return await loop.run()


@contextmanager
def _unwound_by_signals() -> Iterator[None]:
    """Clean up before a signal ends this program, outside the loop too."""
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


def _task(text: str | None) -> str:
    if text is None:
        raise UsageError("no task: name one, or continue a session with --resume ID")
    if text == "-" and sys.stdin is None:
        raise UsageError("standard input is closed: give the task as an argument")
    task = sys.stdin.read() if text == "-" else text
    if not task.strip():
        raise UsageError("the task is empty: describe what to do")
    return task.encode("utf-8", "replace").decode()


def _command_line(args: argparse.Namespace) -> Layer:
    """Return the flags as the highest layer of settings."""
    flags: dict[str, Any] = {
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
    return layer("command line", "command line", _present_values(flags))


def _present_values(values: dict[str, Any]) -> dict[str, Any]:
    present = {name: _present_values(v) if isinstance(v, dict) else v for name, v in values.items()}
    return {name: value for name, value in present.items() if value is not None}


def _with_settings_protected(
    settings: Settings, folder: Path, root: Path, config: Path | None
) -> Settings:
    """Protect the settings of the next session, and of agents that start later."""
    own = (ignore_rule(place, root) for place in (root / PROJECT_FILE, config) if place is not None)
    settings = settings.protect_paths([rule for rule in own if rule])
    if settings.allow_agent_settings:
        return settings
    return settings.protect_paths(agent_settings(folder.resolve(), root), _AGENT_SETTINGS)


def _job(args: argparse.Namespace, folder: Path, settings: Settings) -> CodeLoopJob:
    retries = 0 if args.retries is None else args.retries
    if retries < 0:
        raise UsageError(f"--retries {retries}: must be 0 or more")
    if args.max_minutes is not None and not 0 < args.max_minutes < float("inf"):
        raise UsageError(f"--max-minutes {args.max_minutes:g}: must be more than 0")
    return CodeLoopJob(
        task=_task(args.task),
        folder=folder,
        actor=settings.actor.words,
        critic=settings.critic.words,
        max_iterations=settings.max_iterations,
        timeout=settings.timeout,
        gate=settings.gate,
        allow_agent_settings=settings.allow_agent_settings,
        retries=retries,
        time_limit=None if args.max_minutes is None else args.max_minutes * 60,
    )


def _print_plan(job: CodeLoopJob, root: Path, settings: Settings) -> None:
    """Print what would be run, and the origin of each setting."""
    lines = [
        "dry run: nothing is run",
        f"task    {job.task.strip()}",
        f"folder  {job.folder}",
        f"watched {root}",
        f"actor   {join(job.actor)}",
        f"critic  {join(job.critic)}",
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
        names = ", ".join(
            (*AGENT_SETTINGS, "and settings, hooks and unfinished operations of .git")
        )
        yield "gate.protected", names, _AGENT_SETTINGS


def _print_end(session: str, end: SessionEnd, not_seen: Sequence[str]) -> None:
    iterations = pluralize(end.iterations, "iteration")
    sys.stdout.write(f"{end.outcome} after {iterations}, {end.duration_ms / 1000:.1f} s\n")
    if end.summary is not None:
        sys.stdout.write(f"confidence {end.confidence:g}: {escape_line(end.summary)}\n")
    if end.reason is not None:
        sys.stdout.write(f"{escape_line(end.reason)}\n")
    for path in not_seen:
        sys.stdout.write(f"not seen: nested repository {escape_line(path)}\n")
    sys.stdout.write(f"see: critic sessions show {session}\n")
    if end.outcome != "success":
        sys.stdout.write(f"to continue: critic loop --resume {session}\n")
