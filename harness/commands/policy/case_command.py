"""`critic policy test` and `critic policy case`: judge the cases of a policy, and write one."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from evals.escaping import escape_line, escape_name
from harness.case_files.case_reading import ReadCase, find_case_files
from harness.case_files.case_runs import CaseResult, judge_file
from harness.case_files.case_writing import NoCase, case_as_json, case_as_toml, expected_of
from harness.case_files.label_coverage import MOST_JUDGED, Coverage, cover_labels
from harness.case_files.session_case import complete_events, play_case
from harness.commands.documents import input_name
from harness.commands.exit_status import EXIT_INVALID, EXIT_OK, EXIT_REFUSED
from harness.commands.formats.format_lines import print_json
from harness.commands.policy.case_proposals import CaseProposal, propose_for_case
from harness.errors import UsageError
from harness.expected_rulings import ExpectedRuling
from harness.log.search.listing import Listing
from harness.log.sql import SqlDecisionLog
from harness.policy import Policy, PolicyDocument
from harness.policy.policy_reading import fault_text
from harness.what_if.proposing.logged_times import NO_TIMES
from harness.what_if.proposing.session_finding import sessions_in_log
from harness.wire import build

_MOST_NAMED: Final = 20


def run_policy_test(args: argparse.Namespace, document: PolicyDocument) -> int:
    """Judge cases by a policy, then list its labels that no case needs."""
    as_json = args.format == "json"
    named = [file for name in args.cases for file in _case_files(Path(name))]
    # A policy may be in the folder of its cases.
    files = [file for file in named if args.policy == "-" or file != Path(args.policy)]
    status, judged = EXIT_OK, list[ReadCase]()
    for file in files:
        read, result = judge_file(file, document.policy)
        status = max(status, _exit_status(result))
        if read is not None and not (result.has_own or result.faults):
            judged.append(read)
        proposal = None if read is None else propose_for_case(read, result, document)
        _tell_result(result, proposal, as_json=as_json)
    if not judged and status != EXIT_INVALID:
        raise UsageError("no case leaves out compiled and spec, so the policy judged none of them")
    if not args.coverage:
        return status
    if status != EXIT_OK:
        sys.stderr.write("critic: no coverage: correct the cases that do not hold first\n")
        return status
    return _cover(args.policy, document, judged, as_json=as_json)


def _case_files(path: Path) -> list[Path]:
    if not path.exists():
        raise UsageError(f"{escape_line(str(path))}: no such file or folder")
    files = find_case_files(path)
    if not files:
        raise UsageError(f"{escape_line(str(path))}: no case file (*.json, *.toml) in this folder")
    return files


def _exit_status(result: CaseResult) -> int:
    if result.faults:
        return EXIT_INVALID
    return EXIT_REFUSED if result.problem else EXIT_OK


def _tell_result(result: CaseResult, proposal: CaseProposal | None, *, as_json: bool) -> None:
    if as_json:
        wire = {"file": str(result.file), "title": result.title, "ok": bool(result)}
        notes: dict[str, Any] = {"problem": result.problem} if result.problem else {}
        if result.faults:
            notes["errors"] = [fault._asdict() for fault in result.faults]
        if proposal is not None:
            notes["proposal"] = proposal.wire()
        print_json({**wire, **notes, **({"has_own": True} if result.has_own else {})})
        return
    name = escape_line(str(result.file))
    for fault in result.faults:
        sys.stdout.write(f"{name}: {fault_text(fault)}\n")
    if result.faults:
        return
    head = "FAILED" if result.problem else "ok"
    own = " (judged by its own tools and spec, not by the policy)" if result.has_own else ""
    title = f": {escape_line(result.title)}" if result.title else ""
    sys.stdout.write(f"{name}: {head}{title}{own}\n")
    for line in result.problem.splitlines():
        sys.stdout.write(f"  {escape_line(line)}\n")
    if proposal is not None:
        sys.stdout.write(f"  {proposal.text}\n")


def _cover(name: str, document: PolicyDocument, cases: Sequence[ReadCase], *, as_json: bool) -> int:
    """Print the labels that no case needs. Exit status 0 if there are none and all were tried."""
    found = cover_labels(document, cases)
    for one in found.unneeded:
        if as_json:
            print_json(
                {
                    "file": name,
                    "line": one.line,
                    "path": one.path,
                    "label": one.name,
                    "message": one.text,
                }
            )
        else:
            sys.stdout.write(f"{input_name(name)}: line {one.line}: {one.text}\n")
    _tell_coverage(name, found, len(cases), as_json=as_json)
    return EXIT_REFUSED if found.unneeded or found.untried else EXIT_OK


def _tell_coverage(name: str, found: Coverage, cases: int, *, as_json: bool) -> None:
    counts = {"needed": found.needed, "not_needed": len(found.unneeded), "untried": found.untried}
    if as_json:
        print_json({"file": name, "cases": cases, "labels": sum(counts.values()), **counts})
        return
    many = f"{cases} case{'' if cases == 1 else 's'}"
    text = f"{sum(counts.values())} labels, {many}: {found.needed} needed, "
    text += f"{len(found.unneeded)} change no case"
    if found.untried:
        text += f", {found.untried} not tried after {MOST_JUDGED} judgements: name fewer cases"
    sys.stdout.write(f"{input_name(name)}: {text}\n")


def run_policy_case(args: argparse.Namespace, document: PolicyDocument | None) -> int:
    """Print the case of a session of a log. Exit status 1 if the policy fails it.

    Raises:
        UsageError: the log has no such session, or it cannot be written as a case.
    """
    policy = None if document is None else document.policy
    with SqlDecisionLog.open_for_reading(args.log) as log:
        found = sessions_in_log(log, Listing(log), policy)
    named = [one for one in found if one.name == args.session]
    if not named:
        known = ", ".join(escape_name(one.name) for one in found[:_MOST_NAMED]) or "none"
        what = f"no guarded session {escape_name(args.session)} in the log: known are {known}"
        raise UsageError(what)
    session, events = named[0], named[0].answered_events
    if events is None or session.no_case:
        why = "; ".join([*session.lost, *session.no_case])
        raise UsageError(f"{_session_name(args)} cannot be written: {why}")
    if policy is None and session.expires:
        sys.stderr.write(f"critic: note: {NO_TIMES}\n")
    must = [expected_of(*ruling) for _, ruling in sorted(session.rulings.items())]
    title = f"session {session.name} as it was recorded"
    write = case_as_json if args.format == "json" else case_as_toml
    try:
        sys.stdout.write(write(title, must, events))
    except NoCase as error:
        raise UsageError(f"{_session_name(args)} cannot be written: {error}") from None
    return EXIT_OK if policy is None else _check_written(policy, must, events)


def _check_written(policy: Policy, must: Sequence[Any], events: Sequence[dict[str, Any]]) -> int:
    """Print how the policy fails a written case, if it does."""
    meant = [build(ExpectedRuling, one) for one in must]
    played = play_case(policy, complete_events(events), meant)
    wrong = played.problem or (played.mistake.message if played.mistake else "")
    if not wrong:
        return EXIT_OK
    at = played.mistake.at if played.mistake else played.at
    for line in f"it does not hold by this policy: event {at}, {wrong}".splitlines():
        sys.stderr.write(f"critic: {escape_line(line)}\n")
    return EXIT_REFUSED


def _session_name(args: argparse.Namespace) -> str:
    return f"session {escape_name(args.session)}"
