"""`critic sessions list|show|diff|stats`: look at the sessions of `critic loop`."""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from shlex import join
from typing import Any

from evals.escaping import escape_line
from evals.timestamps import format_time
from harness.canonical import ascii_json
from harness.commands.exit_status import EXIT_INVALID
from harness.errors import UsageError
from harness.loops.code.agent_output import failure_text
from harness.loops.code.prompt import diff_size_text, pluralize
from harness.loops.code.session_files import (
    DamagedSession,
    RecordedSession,
    find,
    load,
    load_all,
    sessions_folder,
    statistics,
)
from harness.loops.code.session_lines import AgentRun, Diff, Iteration

_TASK_SHOWN = 60


def run(args: argparse.Namespace) -> int:
    """Run the action. The exit status is 2 if a session cannot be read."""
    folder = sessions_folder() if args.sessions is None else Path(args.sessions)
    actions = {"list": _list, "show": _show, "diff": _diff, "stats": _stats}
    return actions[args.action](args, folder)


def _list(args: argparse.Namespace, folder: Path) -> int:
    status = 0
    for name, session in load_all(folder):
        if isinstance(session, DamagedSession):
            status = EXIT_INVALID
        as_json = args.format == "json"
        _print(ascii_json(_session_row(name, session)) if as_json else _session_line(name, session))
    return status


def _session_row(name: str, session: RecordedSession | DamagedSession) -> dict[str, Any]:
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


def _session_line(name: str, session: RecordedSession | DamagedSession) -> str:
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
        _print(ascii_json(wire, indent=2))
        return 0
    for line in _session_lines(session):
        _print(line)
    return 0


def _session_lines(session: RecordedSession) -> Iterator[str]:
    start, end = session.start, session.end
    yield f"session  {start.session}  {session.state}"
    yield f"began    {format_time(start.time)} in {escape_line(start.folder)}"
    yield f"actor    {escape_line(join(start.actor))}"
    yield f"critic   {escape_line(join(start.critic))}"
    if start.accepted_unreviewed:
        whose = f" of session {start.accepted_session}" if start.accepted_session else ""
        yield f"accepted unreviewed changes{whose}"
    yield from _text_lines("task", start.task)
    for iteration in session.iterations:
        yield from _iteration_lines(iteration)
    if end is None:
        yield "no end: the session is still running, or it crashed"
        return
    yield f"ended    {format_time(end.time)} after {end.duration_ms / 1000:.1f} s: {end.outcome}"
    if end.summary is not None:
        yield from _text_lines(f"summary (confidence {end.confidence:g})", end.summary)
    if end.reason is not None:
        yield from _text_lines("reason", end.reason)


def _iteration_lines(iteration: Iteration) -> Iterator[str]:
    actor, diff = iteration.actor, iteration.diff
    yield f"iteration {iteration.number}{', interrupted' if iteration.interrupted else ''}"
    yield from (
        f"  {failed.role} {failure_text(failed.run)}; it was tried again"
        for failed in iteration.retried
    )
    yield f"  actor {failure_text(actor)} ({_usage(actor)})"
    if diff is not None:
        yield f"  changed since the session began: {diff_size_text(diff)}"
        yield from (f"    {file.status:<12} {escape_line(file.path)}" for file in diff.files)
    yield from (f"  added by a check: {escape_line(path)}" for path in iteration.by_checks)
    yield from (f"  not seen: nested repository {escape_line(path)}" for path in iteration.not_seen)
    yield from (
        f"  refused: {item.kind}: {escape_line(item.reason)}" for item in iteration.refusals
    )
    for review in iteration.critic:
        yield f"  critic {failure_text(review)} ({_usage(review)})"
        if review.fault is not None:
            yield f"  malformed reply of the critic: {escape_line(review.fault)}"
    if iteration.decision is not None:
        yield f"  critic: {iteration.decision.type.upper()}"
    if iteration.feedback is not None:
        yield from (f"  {line}" for line in _text_lines("feedback", iteration.feedback))


def _usage(run: AgentRun) -> str:
    """Return the time of a run, and the tokens and money it reported."""
    parts = [f"{run.duration_ms / 1000:.1f} s"]
    if run.tokens is not None:
        parts.append(pluralize(run.tokens, "token"))
    if run.cost_micros is not None:
        parts.append(f"${run.cost_micros / 1_000_000:.2f}")
    return ", ".join(parts)


def _text_lines(title: str, text: str) -> Iterator[str]:
    yield f"{title}:"
    yield from (f"    {escape_line(line)}" for line in text.splitlines())


def _diff(args: argparse.Namespace, folder: Path) -> int:
    session = load(folder, find(folder, args.session))
    diff = _choose_diff(session, args.iteration)
    if args.format == "json":
        _print(ascii_json(diff.wire()))
        return 0
    content = diff.content()
    if content is None:
        raise UsageError(
            f"this diff has {diff.size} bytes and was not kept; its SHA-256 is {diff.sha256}"
        )
    if sys.stdout.isatty():
        sys.stdout.write(_escape_diff(content.decode("utf-8", "replace")))
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
    return 0


def _choose_diff(session: RecordedSession, number: int | None) -> Diff:
    diffs = {entry.number: entry.diff for entry in session.iterations if entry.diff is not None}
    chosen = max(diffs, default=0) if number is None else number
    if chosen not in diffs:
        if not diffs:
            raise UsageError("this session has no diff: no iteration got that far")
        numbers = ", ".join(map(str, diffs))
        raise UsageError(f"this session has no diff of iteration {chosen}: there are {numbers}")
    return diffs[chosen]


def _escape_diff(text: str) -> str:
    """Return a diff that is safe on a terminal: the only control characters are tab and newline."""
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
    numbers = statistics(ends)
    if args.format == "json":
        _print(ascii_json(numbers.wire()))
        return EXIT_INVALID if damaged else 0
    _print(f"sessions        {numbers.sessions}, of which {numbers.incomplete} incomplete")
    for outcome, count in numbers.outcomes.items():
        _print(f"  {outcome:<24}{count}")
    if numbers.success_rate is not None:
        _print(f"success rate    {numbers.success_rate:.1%}")
        _print(f"avg iterations  {numbers.avg_iterations:.1f}")
        _print(f"avg duration    {numbers.avg_duration:.1f} s")
    return EXIT_INVALID if damaged else 0


def _print(line: str) -> None:
    sys.stdout.write(line + "\n")
