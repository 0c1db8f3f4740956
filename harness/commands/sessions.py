"""`critic sessions list|show|diff|stats`: look at the sessions of `critic loop`."""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from shlex import join
from typing import Any

from evals.escaping import escape_line
from evals.timestamps import format_time
from harness.codeloop.prompt import extent, how_it_ended
from harness.codeloop.record import Diff, Iteration
from harness.codeloop.sessions import (
    DamagedSession,
    Session,
    find,
    load,
    load_all,
    sessions_folder,
    statistics,
)
from harness.commands.output import ascii_json
from harness.errors import UsageError

EXIT_INVALID = 2
_TASK_SHOWN = 60


def run(args: argparse.Namespace) -> int:
    """Do what was asked. Exit status 2 when a session is damaged."""
    folder = sessions_folder() if args.sessions is None else Path(args.sessions)
    actions = {"list": _list, "show": _show, "diff": _diff, "stats": _stats}
    return actions[args.action](args, folder)


def _list(args: argparse.Namespace, folder: Path) -> int:
    status = 0
    for name, session in load_all(folder):
        if isinstance(session, DamagedSession):
            status = EXIT_INVALID
        _say(ascii_json(_row(name, session)) if args.format == "json" else _line(name, session))
    return status


def _row(name: str, session: Session | DamagedSession) -> dict[str, Any]:
    if isinstance(session, DamagedSession):
        return {"session": name, "state": "damaged", "error": str(session)}
    return {
        "session": name,
        "state": session.state,
        "iterations": len(session.iterations),
        **({"duration_ms": session.end.duration_ms} if session.end else {}),
        "folder": session.start.folder,
        "task": session.start.task,
    }


def _line(name: str, session: Session | DamagedSession) -> str:
    if isinstance(session, DamagedSession):
        return f"{name}  damaged: {session}"
    task = escape_line(" ".join(session.start.task.split())[:_TASK_SHOWN])
    took = f"{session.end.duration_ms / 1000:8.1f} s" if session.end else " " * 10
    return f"{name}  {session.state:<22} {len(session.iterations):>3} {took}  {task}"


def _show(args: argparse.Namespace, folder: Path) -> int:
    session = load(folder, find(folder, args.session))
    if args.format == "json":
        wire = {
            "start": session.start.wire(),
            "iterations": [iteration.wire() for iteration in session.iterations],
            **({"end": session.end.wire()} if session.end else {}),
        }
        _say(ascii_json(wire, indent=2))
        return 0
    for line in _told(session):
        _say(line)
    return 0


def _told(session: Session) -> Iterator[str]:
    start, end = session.start, session.end
    yield f"session  {start.session}  {session.state}"
    yield f"began    {format_time(start.time)} in {escape_line(start.folder)}"
    yield f"actor    {escape_line(join(start.actor))}"
    yield f"critic   {escape_line(join(start.critic))}"
    yield from _text("task", start.task)
    for iteration in session.iterations:
        yield from _told_of(iteration, start.max_iterations)
    if end is None:
        yield "no end: it is still running, or it crashed"
        return
    yield f"ended    {format_time(end.time)} after {end.duration_ms / 1000:.1f} s: {end.outcome}"
    if end.summary is not None:
        yield from _text(f"summary (confidence {end.confidence:g})", end.summary)
    if end.reason is not None:
        yield from _text("reason", end.reason)


def _told_of(iteration: Iteration, limit: int) -> Iterator[str]:
    actor, diff = iteration.actor, iteration.diff
    yield f"iteration {iteration.number} of {limit}"
    yield f"  actor {how_it_ended(actor)} after {actor.duration_ms / 1000:.1f} s"
    if diff is not None:
        yield f"  from the start differ: {extent(diff)}"
        yield from (f"    {file.status:<12} {escape_line(file.path)}" for file in diff.files)
    yield from (f"  added by a check: {escape_line(path)}" for path in iteration.by_checks)
    yield from (f"  not seen: nested repository {escape_line(path)}" for path in iteration.not_seen)
    yield from (
        f"  refused: {item.kind}: {escape_line(item.reason)}" for item in iteration.refusals
    )
    yield from (
        f"  malformed reply of the critic: {escape_line(reply.fault)}"
        for reply in iteration.critic
        if reply.fault is not None
    )
    if iteration.decision is not None:
        yield f"  critic: {iteration.decision.type.upper()}"
    if iteration.feedback is not None:
        yield from (f"  {line}" for line in _text("feedback", iteration.feedback))


def _text(title: str, text: str) -> Iterator[str]:
    yield f"{title}:"
    yield from (f"    {escape_line(line)}" for line in text.splitlines())


def _diff(args: argparse.Namespace, folder: Path) -> int:
    session = load(folder, find(folder, args.session))
    diff = _chosen(session, args.iteration)
    if args.format == "json":
        _say(ascii_json(diff.wire()))
        return 0
    content = diff.content()
    if content is None:
        raise UsageError(
            f"this diff has {diff.size} bytes and was not kept; its SHA-256 is {diff.sha256}"
        )
    if sys.stdout.isatty():
        sys.stdout.write(_escaped(content.decode("utf-8", "replace")))
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
    return 0


def _chosen(session: Session, number: int | None) -> Diff:
    kept = {one.number: one.diff for one in session.iterations if one.diff is not None}
    chosen = max(kept, default=0) if number is None else number
    if chosen not in kept:
        if not kept:
            raise UsageError("this session has no diff: no iteration came so far")
        there = ", ".join(map(str, kept))
        raise UsageError(f"this session has no diff of iteration {chosen}: there are {there}")
    return kept[chosen]


def _escaped(text: str) -> str:
    """A diff that a terminal shows as it stands: no control character but tab and line end."""
    lines = text.split("\n")
    return "\n".join("\t".join(map(escape_line, line.split("\t"))) for line in lines)


def _stats(args: argparse.Namespace, folder: Path) -> int:
    ends, damaged = [], 0
    for _, session in load_all(folder):
        if isinstance(session, DamagedSession):
            damaged += 1
            sys.stderr.write(f"not counted: {session}\n")
        else:
            ends.append(session.end)
    counted = statistics(ends)
    if args.format == "json":
        _say(ascii_json(counted.wire()))
        return EXIT_INVALID if damaged else 0
    _say(f"sessions        {counted.sessions}, of which {counted.incomplete} incomplete")
    for outcome, count in counted.outcomes.items():
        _say(f"  {outcome:<24}{count}")
    if counted.success_rate is not None:
        _say(f"success rate    {counted.success_rate:.1%}")
        _say(f"avg iterations  {counted.avg_iterations:.1f}")
        _say(f"avg duration    {counted.avg_duration:.1f} s")
    return EXIT_INVALID if damaged else 0


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
