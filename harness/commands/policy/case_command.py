"""`critic policy test` and `critic policy case`: judge the cases of a policy, and write one."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evals.escaping import escape_line
from harness.canonical import ascii_json
from harness.case_files.case_reading import ReadCase, find_case_files
from harness.case_files.case_runs import CaseResult, judge_file
from harness.case_files.label_coverage import MOST_JUDGED, Coverage, cover_labels
from harness.commands.exit_status import EXIT_INVALID, EXIT_OK, EXIT_REFUSED
from harness.errors import UsageError
from harness.policy import PolicyDocument
from harness.policy.policy_reading import fault_text


def run_policy_test(args: argparse.Namespace, document: PolicyDocument) -> int:
    """Judge cases by a policy, and then say which of its labels none of them needs."""
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
        _tell_result(result, as_json=as_json)
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


def _tell_result(result: CaseResult, *, as_json: bool) -> None:
    if as_json:
        wire = {"file": str(result.file), "title": result.title, "ok": bool(result)}
        notes: dict[str, Any] = {"problem": result.problem} if result.problem else {}
        if result.faults:
            notes["errors"] = [fault._asdict() for fault in result.faults]
        _print_json({**wire, **notes, **({"has_own": True} if result.has_own else {})})
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


def _cover(name: str, document: PolicyDocument, cases: Sequence[ReadCase], *, as_json: bool) -> int:
    """Say which labels no case needs. Exit status: 0 if there are none, and all were tried."""
    found = cover_labels(document, cases)
    for one in found.unneeded:
        if as_json:
            _print_json(
                {
                    "file": name,
                    "line": one.line,
                    "path": one.path,
                    "label": one.name,
                    "message": one.text,
                }
            )
        else:
            sys.stdout.write(f"{_policy_name(name)}: line {one.line}: {one.text}\n")
    _tell_coverage(name, found, len(cases), as_json=as_json)
    return EXIT_REFUSED if found.unneeded or found.untried else EXIT_OK


def _tell_coverage(name: str, found: Coverage, cases: int, *, as_json: bool) -> None:
    counts = {"needed": found.needed, "not_needed": len(found.unneeded), "untried": found.untried}
    if as_json:
        _print_json({"file": name, "cases": cases, "labels": sum(counts.values()), **counts})
        return
    many = f"{cases} case{'' if cases == 1 else 's'}"
    text = f"{sum(counts.values())} labels, {many}: {found.needed} needed, "
    text += f"{len(found.unneeded)} change no case"
    if found.untried:
        text += f", {found.untried} not tried after {MOST_JUDGED} judgements: name fewer cases"
    sys.stdout.write(f"{_policy_name(name)}: {text}\n")


def _policy_name(name: str) -> str:
    return "standard input" if name == "-" else escape_line(name)


def _print_json(value: dict[str, Any]) -> None:
    sys.stdout.write(ascii_json(value) + "\n")
