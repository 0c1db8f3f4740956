"""`critic policy`: check, compare and test a policy file."""

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Final

from evals.escaping import escape_line, escape_name
from harness.canonical import ascii_json
from harness.commands.documents import input_name, read_whole, size_limit
from harness.commands.exit_status import EXIT_INVALID, EXIT_OK, EXIT_REFUSED
from harness.commands.formats.format_lines import print_json
from harness.errors import UsageError
from harness.policy import (
    InvalidPolicy,
    LintFinding,
    Policy,
    PolicyDocument,
    parse_policy,
)
from harness.policy.analysis.policy_diff import PolicyChange, diff_policies, overall
from harness.policy.analysis.policy_lint import AcceptedRisk, lint_report
from harness.policy.analysis.reach import reach_rows
from harness.policy.policy_reading import fault_text, syntax_of
from harness.wire import MAX_DOCUMENT_BYTES, InvalidInput

_MOST_NAMED: Final = 20
_MOST_NOTES: Final = 20
"""How many notes of one rule are printed, unless notes fail the check."""
_MOST_SOURCES: Final = 5


def run(args: argparse.Namespace) -> int:
    """Run the action. Exit status as documented by `critic policy ACTION --help`."""
    actions = {"check": _check, "reach": _reach, "diff": _diff, "test": _test, "case": _case}
    return actions[args.action](args)


def _test(args: argparse.Namespace) -> int:
    from harness.commands.policy.case_command import (  # noqa: PLC0415 - loads the guard
        run_policy_test,
    )

    return run_policy_test(args, load_policy(args.policy, size_limit(args)))


def _case(args: argparse.Namespace) -> int:
    from harness.commands.policy.case_command import (  # noqa: PLC0415 - loads the guard
        run_policy_case,
    )

    policy = None if args.policy is None else load_policy(args.policy, size_limit(args))
    return run_policy_case(args, policy)


def load_policy(name: str, limit: int = MAX_DOCUMENT_BYTES) -> PolicyDocument:
    """Read a policy for another command; `-` is standard input.

    Raises:
        UsageError: it is not a policy, with every mistake in one line.
    """
    try:
        return _read(name, limit)
    except InvalidPolicy as error:
        raise UsageError(_list_faults(name, error)) from None
    except InvalidInput as error:
        raise UsageError(f"{input_name(name)}: {error.message}") from None


def _list_faults(name: str, error: InvalidPolicy) -> str:
    more = len(error.faults) - 1
    rest = f"; run `critic policy check` for {more} more" if more else ""
    return f"{input_name(name)}: not a policy: {fault_text(error.faults[0])}{rest}"


def _read(name: str, limit: int) -> PolicyDocument:
    document = read_whole(name, limit)
    return document.parse_with(
        lambda data: parse_policy(data, syntax=syntax_of(name), max_bytes=limit)
    )


def _check(args: argparse.Namespace) -> int:
    limit, as_json = size_limit(args), args.format == "json"
    drifted = _compare_with_agent(args.against_agent)
    return max(
        _check_one(name, limit, drifted, as_json=as_json, strict=args.strict) for name in args.files
    )


_Drift = Callable[[Policy], tuple[LintFinding, ...]]


def _compare_with_agent(named: Sequence[str]) -> _Drift:
    """Return the finder of drift from agents, whose modules are imported; None without one."""
    if not named:
        return lambda _policy: ()
    from harness.commands.policy.tool_sources import (  # noqa: PLC0415 - loads asyncio
        ToolSource,
        read_sources,
    )
    from harness.policy.analysis.tool_drift import find_drift  # noqa: PLC0415

    tools = read_sources([ToolSource("agent", name) for name in named])
    for note in tools.notes:
        sys.stderr.write(f"{note}\n")
    shown = ", ".join(map(escape_name, named))
    return lambda policy: find_drift(policy, tools.drafts, shown)


def _check_one(name: str, limit: int, drift: _Drift, *, as_json: bool, strict: bool) -> int:
    try:
        document = _read(name, limit)
    except InvalidInput as error:
        _tell_faults(name, error, as_json=as_json)
        return EXIT_INVALID
    report = lint_report(document.policy)
    findings = (*report.findings, *drift(document.policy))
    found = sorted((document.line_of(one.path), one) for one in findings)
    accepted = sorted((document.line_of(one.finding.path), one) for one in report.accepted)
    guesses, left = _count_guesses(document)
    failing = [finding for _, finding in found if strict or finding.severity != "note"]
    refused = bool(failing) or (strict and guesses + left > 0)
    if as_json:
        listed = [_finding_wire(line, finding) for line, finding in found]
        others = [
            {**_finding_wire(line, one.finding), "reason": one.reason} for line, one in accepted
        ]
        counted = {"guesses": guesses, "open": left} if guesses or left else {}
        wire = {"file": name, "ok": not refused, "findings": listed}
        print_json({**wire, **({"accepted": others} if others else {}), **counted})
    else:
        _tell_findings(name, found, most_notes=len(found) if strict else _MOST_NOTES)
        if strict:
            _tell_accepted(name, accepted)
        _tell_sum(name, document, found, len(accepted), ok=not failing)
        _tell_guesses(name, document)
    return EXIT_REFUSED if refused else EXIT_OK


def _finding_wire(line: int, finding: LintFinding) -> dict[str, Any]:
    names = ("rule", "severity", "path", "message")
    shown = {"witness": finding.witness} if finding.witness else {}
    return {**{name: getattr(finding, name) for name in names}, "line": line, **shown}


def _count_guesses(document: PolicyDocument) -> tuple[int, int]:
    """Return the numbers of guessed and open places of a policy."""
    left = len(document.open_places)
    return len(document.policy.guessed or ()) - left, left


def guesses_text(document: PolicyDocument) -> str:
    """Return the two counts in words."""
    guesses, left = _count_guesses(document)
    return f"{guesses} guess{'' if guesses == 1 else 'es'}, {left} open"


def _tell_guesses(name: str, document: PolicyDocument) -> None:
    if guessed := document.policy.guessed:
        first = min(map(document.line_of, guessed))
        sys.stdout.write(
            f"{input_name(name)}: line {first}: note: {guesses_text(document)}: "
            "check each line, and delete its comment [guess_open]\n"
        )


def _tell_faults(name: str, error: InvalidInput, *, as_json: bool) -> None:
    faults = error.faults if isinstance(error, InvalidPolicy) else ()
    if as_json:
        errors = [fault._asdict() for fault in faults]
        unread = [{"path": "", "message": error.message}]  # the file could not be read at all
        print_json({"file": name, "ok": False, "errors": errors or unread})
        return
    sys.stdout.flush()
    for line in map(fault_text, faults) if faults else [error.message]:
        sys.stderr.write(f"{input_name(name)}: {line}\n")


_Located = list[tuple[int, LintFinding]]


def _tell_findings(name: str, found: _Located, most_notes: int) -> None:
    notes = Counter[str]()
    for line, finding in found:
        notes[finding.rule] += finding.severity == "note"
        if finding.severity == "note" and notes[finding.rule] > most_notes:
            continue
        text = f"{finding.severity}: {finding.message} [{finding.rule}]"
        sys.stdout.write(f"{input_name(name)}: line {line}: {text}\n")
    for rule, many in notes.items():
        if many > most_notes:
            sys.stdout.write(f"{input_name(name)}: note: and {many - most_notes} more [{rule}]\n")


def _tell_accepted(name: str, accepted: list[tuple[int, AcceptedRisk]]) -> None:
    for line, (finding, reason) in accepted:
        text = f"accepted: {finding.message}; because {escape_line(reason)} [{finding.rule}]"
        sys.stdout.write(f"{input_name(name)}: line {line}: {text}\n")


def _tell_sum(
    name: str, document: PolicyDocument, found: _Located, accepted: int, *, ok: bool
) -> None:
    """Write one line for a policy that passes: how many tools, notes and accepted findings."""
    notes = _count(len(found), "note") if found else "no findings"
    more = f", {accepted} accepted" if accepted else ""
    if ok:
        tools = _count(len(document.policy.tool), "tool")
        sys.stdout.write(f"{input_name(name)}: ok: {tools}, {notes}{more}\n")
    elif accepted:
        sys.stdout.write(f"{input_name(name)}: {accepted} accepted\n")


def _count(many: int, what: str) -> str:
    return f"{many} {what}{'' if many == 1 else 's'}"


def _reach(args: argparse.Namespace) -> int:
    policy = load_policy(args.policy, size_limit(args)).policy
    if args.tool is not None and args.tool not in policy.tools:
        known = ", ".join(map(escape_line, list(policy.tools)[:_MOST_NAMED])) or "none"
        raise UsageError(f"no tool {escape_line(args.tool)} in the policy: known are {known}")
    told: tuple[str, str] | None = None
    for row in reach_rows(policy, args.tool):
        if args.format == "json":
            print_json(row._asdict())
            continue
        if told != (row.tool, row.argument):
            told = row.tool, row.argument
            sys.stdout.write(f"{row.tool} {escape_name(row.argument)} ({row.role})\n")
        through = f", through {', '.join(row.through)}" if row.through else ""
        more = len(row.sources) - _MOST_SOURCES
        sources = ", ".join(row.sources[:_MOST_SOURCES]) + (f" and {more} more" if more > 0 else "")
        sys.stdout.write(f"  {row.answer:<9}  {row.who}: {sources}{through}\n")
    return EXIT_OK


def _diff(args: argparse.Namespace) -> int:
    old, new = (load_policy(name, size_limit(args)).policy for name in (args.old, args.new))
    changes = diff_policies(old, new)
    total = overall(changes)
    if args.format == "json":
        wire = [_change_wire(change) for change in changes]
        print_json({"old": args.old, "new": args.new, "change": total, "changes": wire})
    else:
        for change in changes:
            _tell_change(change)
        sys.stdout.write(f"{input_name(args.new)} against {input_name(args.old)}: {total}\n")
    return EXIT_OK if total == "equal" else EXIT_REFUSED


def _change_wire(change: PolicyChange) -> dict[str, Any]:
    wire = {"subject": change.subject, "change": change.change, "changed": list(change.changed)}
    witnesses = {"looser": change.looser, "tighter": change.tighter}
    shown = {
        name: {"witness": witness.document, "verdict": witness.verdict.wire()}
        for name, witness in witnesses.items()
        if witness is not None
    }
    undecided = {"not_decided": list(change.undecided)} if change.undecided else {}
    return {**wire, **shown, **undecided}


def _tell_change(change: PolicyChange) -> None:
    sys.stdout.write(f"{change.subject}: {change.change}\n")
    if change.changed:
        sys.stdout.write(f"  changed: {', '.join(change.changed)}\n")
    for direction, witness, refusing in (
        ("looser", change.looser, "old"),
        ("tighter", change.tighter, "new"),
    ):
        if witness is not None:
            document = ascii_json(witness.document)
            sys.stdout.write(f"  {direction}: the {refusing} policy refuses: {witness.reason}\n")
            sys.stdout.write(f"    {document}\n")
    if change.undecided and change.change != "not decided":
        sys.stdout.write(f"  not decided: whether it is {' or '.join(change.undecided)} too\n")
