"""`critic try`: judge recorded tasks by a policy, and propose the smallest edits that help."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from evals.escaping import escape_line, escape_name
from harness.clock import SystemClock
from harness.commands.documents import input_name, read_lines, read_whole
from harness.commands.exit_status import EXIT_OK, EXIT_REFUSED
from harness.commands.policy.policy_command import load_policy
from harness.commands.trial.try_text import TriedTasks, patched_edits, trial_lines, wire_lines
from harness.errors import UsageError
from harness.policy import PolicyDocument
from harness.what_if.proposing.edit_proposals import EditProposer
from harness.what_if.proposing.policy_patch import unified_patch, write_edits
from harness.what_if.proposing.recorded_tasks import RecordedTask, read_tasks
from harness.what_if.proposing.untried_tools import find_undecided, find_untried
from harness.whole_files import replace_file
from harness.wire import InvalidInput, parse_json

_MOST_NAMED: Final = 5
_MOST_UNTRIED: Final = 20
_AN_OPEN: Final = '{"event": "open", "session": "t1", "request": "..."}'


def run(args: argparse.Namespace) -> int:
    """Judge the tasks, and print the proposals. Return 1 if a task is stopped."""
    if [args.policy, *args.tasks, *args.attacks].count("-") > 1:
        raise UsageError("standard input is one of the files: name files for the others")
    _require_own_file(args.patch, [args.policy, *args.tasks, *args.attacks])
    document = _read_policy(args.policy)
    tasks = _read_all(args.tasks, "task")
    attacks = _read_all(args.attacks, "attack") if args.attacks else []
    _require_tools(document, args.tasks, tasks, "tasks")
    _require_calls(args.attacks, attacks)
    _require_tools(document, args.attacks, attacks, "attacks")
    tried = _try_tasks(document, tasks, attacks)
    for line in (wire_lines if args.json else trial_lines)(tried):
        sys.stdout.write(f"{line}\n")
    if not args.json:
        _tell_notes(args.policy, document, tasks)
    if args.patch is not None:
        _write_patch(args.policy, args.patch, tried)
    return EXIT_OK if all(one.judged.is_through for one in tried.tasks) else EXIT_REFUSED


def _read_policy(name: str) -> PolicyDocument:
    """Return the policy of a file.

    Raises:
        UsageError: it is not a policy, or holds tasks: the arguments are in the wrong order.
    """
    try:
        return load_policy(name)
    except UsageError:
        if _holds_events(name):
            raise UsageError(
                f"{escape_line(name)}: these are session events: name the policy first, critic try "
                "POLICY TASKS..."
            ) from None
        raise


def _holds_events(name: str) -> bool:
    """Return whether the first line of a file is an event."""
    if name == "-":
        return False
    try:
        lines = read_whole(name).data.lstrip().splitlines()
        event = parse_json(lines[0]) if lines else None
    except InvalidInput:
        return False
    return isinstance(event, dict) and "event" in event


def _require_own_file(patch: str | None, others: Sequence[str]) -> None:
    """Reject a patch over an input file, or of a policy from standard input.

    Raises:
        UsageError: the patch names an input, or the policy is read from standard input.
    """
    if patch is not None and others[0] == "-":
        raise UsageError("--patch needs the policy in a file: save standard input, and name that")
    if patch is not None and Path(patch).resolve() in {Path(name).resolve() for name in others}:
        raise UsageError(f"{escape_line(patch)} is read here: name another file for the patch")


def _tell_notes(name: str, document: PolicyDocument, tasks: Sequence[RecordedTask]) -> None:
    """Print a note for each tool that no task calls, and for each tier that is open."""
    undecided = list(find_undecided(document.policy, tasks, document.open_tiers))
    untried = list(find_untried(document.policy, tasks))
    for one in (*undecided[:_MOST_UNTRIED], *untried[:_MOST_UNTRIED]):
        place = f"{escape_line(name)}: line {document.line_of(one.path)}"
        sys.stdout.write(f"{place}: {one.severity}: {one.message} [{one.rule}]\n")
    if len(untried) > _MOST_UNTRIED:
        more = len(untried) - _MOST_UNTRIED
        sys.stdout.write(f"{escape_line(name)}: note: and {more} more tools [untried_tool]\n")


def _try_tasks(
    document: PolicyDocument, tasks: Sequence[RecordedTask], attacks: Sequence[RecordedTask]
) -> TriedTasks:
    policy = document.policy
    now, open_tiers = SystemClock().now(), document.open_tiers
    try:
        proposer = EditProposer(policy, now, attacks=attacks, open_tiers=open_tiers)
        found = [proposer.propose(task) for task in tasks]
    except (InvalidInput, ValueError) as error:
        raise UsageError(str(error)) from None
    return TriedTasks(found, proposer, len(attacks))


def _read_all(names: Sequence[str], kind: str) -> list[RecordedTask]:
    """Return the sessions of files. Each id is used once.

    Raises:
        UsageError: one cannot be read, or has no session.
    """
    found: dict[str, RecordedTask] = {}
    for name in names:
        source = input_name(name)
        try:
            tasks = read_tasks(_lines_of(name))
        except InvalidInput as error:
            what = f"{error}" if error.path else error.message
            raise UsageError(f"{source}: not session events: {what}") from None
        if not tasks:
            raise UsageError(
                f"{source}: no {kind} in it: write session events, one a line, each session "
                f"beginning with {_AN_OPEN}"
            )
        for task in tasks:
            if task.id in found:
                shown = escape_name(task.id)
                raise UsageError(f"{source}: session {shown} is in another file too: rename one")
            found[task.id] = task
    return list(found.values())


def _lines_of(name: str) -> Iterator[tuple[int, bytes]]:
    for document in read_lines(name):
        if document.error is not None:
            raise UsageError(f"{document.source}: {document.error}")
        yield document.line or 1, document.data


def _require_tools(
    document: PolicyDocument, names: Sequence[str], tasks: Sequence[RecordedTask], kind: str
) -> None:
    """Reject tasks or attacks of another agent: none of its attacks would pass.

    Raises:
        UsageError: the policy has none of the tools that they call.
    """
    called = {tool for task in tasks for tool in task.tools}
    if called and called.isdisjoint(document.policy.tools):
        shown = ", ".join(map(escape_name, sorted(called)[:_MOST_NAMED]))
        raise UsageError(
            f"{escape_line(names[0])}: the policy has none of the tools that are called ({shown}): "
            f"give the {kind} of its own agent"
        )


def _require_calls(names: Sequence[str], attacks: Sequence[RecordedTask]) -> None:
    """Reject attacks without calls.

    Raises:
        UsageError: one makes no call.
    """
    for attack in attacks:
        if not attack.turns:
            raise UsageError(
                f"{escape_line(names[0])}: session {escape_name(attack.id)} makes no call: the "
                "last calls event of a session is the attack"
            )


def _write_patch(policy: str, name: str, tried: TriedTasks) -> None:
    """Write the edits as a unified diff. The policy itself is unchanged.

    Raises:
        UsageError: the patch cannot be written.
        UnwritableEdit: an edit has no place in its text.
    """
    text = read_whole(policy).data.decode()
    after = write_edits(text, *patched_edits(tried))
    try:
        replace_file(Path(name), unified_patch(_name_in_patch(policy), text, after).encode())
    except OSError as error:
        raise UsageError(f"{escape_line(name)}: {error.strerror}") from None


def _name_in_patch(policy: str) -> str:
    """Return the name of the policy for a patch: its relative path, or its name alone."""
    path = Path(policy)
    if not path.is_absolute():
        return path.as_posix()
    here = Path.cwd()
    return path.relative_to(here).as_posix() if path.is_relative_to(here) else path.name
