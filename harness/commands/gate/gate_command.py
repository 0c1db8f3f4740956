"""`critic gate`: check whether the runs of a candidate are good enough for a release."""

import argparse
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from math import isfinite
from pathlib import Path
from typing import Any, Final

from critic import Run
from evals.escaping import escape_line
from evals.kinds import HARD_EVALUATORS
from harness.audit.gate.bootstrap import quantile
from harness.audit.gate.changed_cases import ChangedCase, changed_cases
from harness.audit.gate.release_decision import (
    SHARES,
    GateBounds,
    GateCheck,
    GateStatus,
    failure_check,
    gate_checks,
    overall_status,
    turn_checks,
)
from harness.audit.gate.run_reading import (
    ReleaseSample,
    release_record,
    release_sample,
    sample_of,
)
from harness.canonical import ascii_json
from harness.commands.documents import InputDocument, read_lines, read_whole
from harness.commands.exit_status import EXIT_OK, EXIT_REFUSED
from harness.commands.known_heads import KnownHead, head_text, known_head, require_keys_used
from harness.commands.log_findings import read_findings
from harness.commands.progress import with_progress
from harness.errors import UsageError, escape_text
from harness.log.search.listing import Listing
from harness.log.search.query import Filters
from harness.log.search.turns import TurnRecords
from harness.log.sql import SqlDecisionLog
from harness.record import Head
from harness.wire import InvalidInput, parse

_SUFFIXES: Final = (".json", ".jsonl")


def run_files(name: str) -> list[Path] | None:
    """Return the files with runs at a path; None if it is a log.

    Raises:
        UsageError: it is a folder without any.
        OSError: the folder cannot be read.
    """
    path = Path(name)
    if "://" in name or not (path.is_dir() or path.suffix in _SUFFIXES):
        return None
    if not path.is_dir():
        return [path]
    found = sorted(one for one in path.iterdir() if one.suffix in _SUFFIXES and one.is_file())
    if not found:
        raise UsageError(f"{escape_text(name)}: the folder holds no runs (*.json, *.jsonl)")
    return found


def _runs_in(files: list[Path]) -> Iterator[Run]:
    """Yield the runs in files.

    Raises:
        UsageError: one cannot be read, or is not a Run.
    """
    for document in _read_documents(files):
        try:
            yield document.parse_with(lambda data: parse(Run, data))
        except InvalidInput as error:
            raise UsageError(f"{document.source}: not a Run: {error}") from None


def _read_documents(files: list[Path]) -> Iterator[InputDocument]:
    for file in files:
        if file.suffix == ".jsonl":
            yield from read_lines(str(file))
        else:
            yield read_whole(str(file))


_EXIT_INCONCLUSIVE: Final = 3
_MEASURES: Final = ("wall_ms", "cost_micros", "tokens")
_MOST_NAMED: Final = 10
_PERCENTS: Final = (50, 95, 99)


def run(args: argparse.Namespace) -> int:
    """Print the checks and the answer. Exit status as documented by `critic gate --help`."""
    require_keys_used(args, "checkpoint", "baseline-checkpoint")
    known = known_head(args, "baseline_"), known_head(args)
    (before, first), (after, second) = (
        _sample(name, one, args.jobs)
        for name, one in zip((args.baseline, args.candidate), known, strict=True)
    )
    checks = _checks(before, after, _bounds(args), args.without)
    status, changed = overall_status(checks), changed_cases(before.judged, after.judged)
    quantiles = {"baseline": _quantiles(before), "candidate": _quantiles(after)}
    if args.format == "json":
        heads = {"baseline": first, "candidate": second}
        named = [one.wire() for one in changed[:_MOST_NAMED]]
        wire = {
            "status": status,
            "checks": [*map(_wire, checks)],
            "without": sorted({*args.without}),
            "changed": {"cases": len(changed), "first": named},
            "quantiles": quantiles,
            "heads": {side: head_text(head) for side, head in heads.items() if head is not None},
        }
        sys.stdout.write(ascii_json(wire) + "\n")
    else:
        _tell_checks(checks, args.without)
        _tell_changes(changed)
        _tell(status, quantiles, {"baseline": first, "candidate": second})
    return {"pass": EXIT_OK, "block": EXIT_REFUSED, "inconclusive": _EXIT_INCONCLUSIVE}[status]


def _bounds(args: argparse.Namespace) -> GateBounds:
    shares = args.refused_rise, args.asked_rise, args.shadow_rise, args.open_rise
    return GateBounds(
        floors=tuple(dict.fromkeys((*HARD_EVALUATORS, *args.floor))),
        utility_drop=args.utility_drop,
        verified_drop=args.verified_drop,
        share_rises=dict(zip(SHARES, shares, strict=True)),
        rises={"latency": args.latency_rise, "cost": args.cost_rise, "tokens": args.tokens_rise},
        min_runs=args.min_runs,
    )


def _checks(
    before: ReleaseSample, after: ReleaseSample, bounds: GateBounds, without: list[str]
) -> list[GateCheck]:
    """Return all checks except the omitted ones."""
    checks = gate_checks(before.runs, after.runs, bounds, before.unread + after.unread)
    checks.append(failure_check(before.failures, after.failures))
    checks += turn_checks(before.judged, after.judged, bounds)
    return [check for check in checks if check.name.replace(" ", "-") not in without]


def _sample(name: str, known: KnownHead, jobs: int) -> tuple[ReleaseSample, Head | None]:
    """Return the runs of a log, with its head, or in files.

    Damage outside records counts as unread, and so does a log that differs from the known one.

    Raises:
        UsageError: an option is about a log, and there are only files.
    """
    files = run_files(name)
    if files is not None:
        if known != KnownHead():
            raise UsageError(
                f"{escape_text(name)}: a head or a checkpoint is of a log, not of runs"
            )
        return sample_of(_runs_in(files)), None
    with SqlDecisionLog.open_for_reading(name) as log:
        head, departures = log.head(), known.departures(log)
        found, checked = read_findings(log, name, release_record, jobs)
        check = cache(checked)

        def read_turns() -> Iterable[TurnRecords]:
            return () if check().damage else Listing(log).turns(Filters()).turns()

        sample = release_sample(with_progress(found, head.seq), read_turns)
        damage = (*departures, *check().damage)
    sys.stderr.writelines(f"critic: {escape_text(name)}: {line}\n" for line in departures)
    return sample._replace(unread=sample.unread + len(damage)), head


def _quantiles(sample: ReleaseSample) -> dict[str, dict[str, float]]:
    values = {
        name: [run.measures[name] for run in sample.runs if name in run.measures]
        for name in _MEASURES
    }
    return {
        name: {f"p{percent}": quantile(measured, percent) for percent in _PERCENTS}
        for name, measured in values.items()
        if measured
    }


def _wire(check: GateCheck) -> dict[str, Any]:
    wire = {"check": check.name, "status": check.status, "said": check.said}
    if check.interval is None:
        return wire
    ends = {name: end if isfinite(end) else None for name, end in check.interval._asdict().items()}
    return {**wire, "interval": {name: end for name, end in ends.items() if end is not None}}


def _tell_checks(checks: list[GateCheck], without: list[str]) -> None:
    for check in checks:
        sys.stdout.write(f"{check.status:<12}  {check.name:<20}  {escape_line(check.said)}\n")
    for name in sorted({*without}):
        sys.stdout.write(f"{'left out':<12}  {name.replace('-', ' ')}\n")


def _tell_changes(changed: list[ChangedCase]) -> None:
    """Print the first changed cases, and their number."""
    for one in changed[:_MOST_NAMED]:
        sys.stdout.write(f"changed: {escape_line(one.text)}\n")
    if len(changed) > _MOST_NAMED:
        sys.stdout.write(f"changed: {len(changed)} cases, of which these are the first\n")


def _tell(status: GateStatus, quantiles: dict[str, Any], heads: dict[str, Head | None]) -> None:
    for side, measures in quantiles.items():
        for name, found in measures.items():
            shown = ", ".join(f"{label} {value:g}" for label, value in found.items())
            sys.stdout.write(f"{side} {name}: {shown}\n")
    for side, head in heads.items():
        if head is not None:
            sys.stdout.write(f"{side} head {head_text(head)}\n")
    sys.stdout.write(f"{status}\n")
