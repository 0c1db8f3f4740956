"""The parser of `critic log`. Nothing heavy is imported, for `critic --help`."""

import argparse
import re
from typing import Any, Final

from evals.kinds import (
    CHECK_NAMES,
    FATES,
    HARD_EVALUATORS,
    MODES,
    REFUSAL_KINDS,
    REPORT_STATUSES,
    SETTLED_OUTCOMES,
)
from harness.commands.arguments import (
    Commands,
    add,
    add_ci_format,
    add_command,
    add_known_head,
    add_no_open,
)
from harness.commands.log.log_proof_arguments import add_log_proofs

STATUS_NAMES: Final = (
    *REPORT_STATUSES,
    "shadow",
    "begun",
    "open",
    "settled",
    "critic_error",
    "closed",
    "reopened",
    "handed_over",
    "taken_over",
    "redacted",
)
KIND_NAMES: Final = (*REFUSAL_KINDS, *HARD_EVALUATORS)

_EXITS: Final = (
    "Exit status: 0 all ok; 1 records are missing or not as they were recorded, the tables or the "
    "index were changed, the log is not the one whose head or checkpoint was given, or list and "
    "stats have a turn that ran although it was refused; 2 the log or the command cannot be read."
)
_VERIFY_EXITS: Final = (
    "Exit status: 0 all ok; 1 records are missing or redacted, hashes or chain do not hold, "
    "the tables or the index were changed, or a turn ran although it was refused; "
    "2 the log or the command cannot be read."
)
_COPY_EXITS: Final = (
    "Exit status: 0 copied; 2 the log is not as it was recorded, or the copy cannot be written."
)
_QUERY_EXITS: Final = (
    "Exit status: 0 answered; 1 the log is damaged; 2 the log, the folder or the SQL cannot be "
    "read, or the SQL does anything but select."
)
_SETTLE_EXITS: Final = (
    "Exit status: 0 recorded; 2 the record began no execution that is open, or the log cannot be "
    "written."
)
_NEXT_EXITS: Final = (
    "Exit status: 0 the new log is there; 2 the old one is not as it was recorded or was handed "
    "over before, or the new one cannot be written."
)
_ROLES_EXITS: Final = "Exit status: 0 printed; 2 the log cannot be opened."
_LOG_EXITS: Final = "Exit status: 0 all ok; 1 and 2 as `critic log ACTION --help` says."
_LONGEST: Final = 1000
_NUMBER: Final = re.compile(r"-?[0-9]{1,300}(\.[0-9]{1,300})?")


def add_log(commands: Commands) -> None:
    """Add `critic log` with its actions."""
    log = add_command(commands, "log", _LOG_EXITS)
    actions = log.add_subparsers(dest="action", metavar="ACTION", required=True)
    listing = add(actions, "list", "one line per turn, and one per gap", _EXITS)
    stats = add(actions, "stats", "fates, refusals, scores, slow and costly turns", _EXITS)
    show = add(actions, "show", "one record in full, with its inputs", _EXITS)
    checked = "check hashes, chain and tables without judging again"
    check = add(actions, "verify", checked, _VERIFY_EXITS)
    export = add(actions, "export", "write a log for other tools: Parquet, or OPA", _EXITS)
    copied = "copy a log to a new file, or to an empty schema of PostgreSQL, or from there"
    copy = add(actions, "copy", copied, _COPY_EXITS)
    granting = "print the grants for who appends to a log in PostgreSQL"
    roles = add(actions, "roles", granting, _ROLES_EXITS)
    roles.add_argument("--writer", default="critic_writer", help="who appends (%(default)s)")
    roles.add_argument("--auditor", default="critic_auditor", help="who reads (%(default)s)")
    for action in (listing, stats, show, check, export, copy, roles):
        action.add_argument("log", metavar="LOG")
    copy.add_argument("to", metavar="TO", help="the file or URL of the copy")
    for action in (listing, stats, show, check, export, copy):
        add_known_head(action)
    for action in (listing, stats, export):
        _add_filters(action)
    for action in (listing, stats):
        action.add_argument("--format", choices=("text", "json", "csv"), default="text")
    listing.add_argument("--records", action="store_true", help="a line per record")
    add_ci_format(check)
    add_no_open(check)
    show.add_argument("seq", type=int, metavar="SEQ")
    show.add_argument(
        "--format",
        choices=("text", "json", "csv"),
        help="text; the record as JSON; or its steps as CSV (default: text on a terminal, else "
        "json)",
    )
    _add_export(export)
    for add_more in (_add_query, _add_events, _add_settle, _add_next, add_log_proofs):
        add_more(actions)


def _add_query(actions: Commands) -> None:
    asked = "ask five tables of a log in SQL: turns, calls, effects, evidence and answers"
    query = add(actions, "query", asked, _QUERY_EXITS)
    query.add_argument("log", metavar="LOG|FOLDER", help="a log, or its tables as exported")
    query.add_argument("sql", metavar="SQL", help="one statement that selects")
    query.add_argument("--format", choices=("text", "json", "csv"), default="text")
    add_known_head(query)


def _add_events(actions: Commands) -> None:
    told = "print guarded sessions as session events again, for `critic try` and `critic guard`"
    events = add(actions, "events", told, _EXITS)
    events.add_argument("log", metavar="LOG")
    events.add_argument("session", nargs="?", metavar="SESSION", help="its id (default: all)")
    events.add_argument(
        "--policy", metavar="FILE", help="the policy that says by which names tools are called"
    )
    add_known_head(events)


def _add_settle(actions: Commands) -> None:
    settling = "record how an open execution ended, as a person found"
    settle = add(actions, "settle", settling, _SETTLE_EXITS)
    settle.add_argument("log", metavar="LOG")
    settle.add_argument("seq", type=int, metavar="SEQ", help="the record in which it began")
    settle.add_argument(
        "--outcome", choices=SETTLED_OUTCOMES, required=True, help="what came of it"
    )
    settle.add_argument("--by", required=True, metavar="WHO", help="who says so")
    settle.add_argument("--because", required=True, metavar="TEXT", help="how they know")


def _add_next(actions: Commands) -> None:
    going = "end a log and continue in a new one, with used approvals and open sessions"
    following = add(actions, "next", going, _NEXT_EXITS)
    following.add_argument("log", metavar="OLD")
    following.add_argument("to", metavar="NEW", help="a file, or the URL of an empty schema")


def _add_export(export: argparse.ArgumentParser) -> None:
    export.add_argument(
        "--to",
        nargs="+",
        action=_Target,
        required=True,
        dest="form",
        metavar=("parquet|opa", "FOLDER"),
        help="parquet FOLDER: five tables for `critic log query`, to which each export adds what "
        "is new (needs plan-critic[parquet]); parquet with -o: the columns of each record; opa: "
        "decision-log events of the Open Policy Agent, one JSON object a line",
    )
    export.add_argument(
        "--plans",
        action="store_true",
        help="with Parquet: also the plans with their arguments and evidence, for `critic what-if`",
    )
    export.add_argument("-o", "--output", metavar="FILE", help="must not exist; - for OPA: print")


class _Target(argparse.Action):
    """What to export to: a form, and the folder of tables after it."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,  # noqa: ARG002 - of the base
    ) -> None:
        form, *folders = values
        if form not in ("parquet", "opa") or len(folders) > (form == "parquet"):
            parser.error("argument --to: write parquet FOLDER, parquet or opa")
        namespace.form, namespace.folder = form, next(iter(folders), None)


def _add_filters(parser: argparse.ArgumentParser) -> None:
    about = (
        "Only turns with a record that passes all of them; of exports, and with --records, only "
    )
    some = parser.add_argument_group("filters", f"{about}such records.")
    some.add_argument(
        "--fate", choices=FATES, action="append", help="what became of the turn; may be repeated"
    )
    some.add_argument("--status", choices=STATUS_NAMES, help="open: began, and never ended")
    some.add_argument("--kind", choices=KIND_NAMES, help="of a violation, or the evaluator")
    some.add_argument("--check", choices=CHECK_NAMES, help="a check that refused")
    some.add_argument("--tool", metavar="NAME", help="in the plan: ADAPTER/CAPABILITY, or the last")
    some.add_argument("--mode", choices=MODES, help="the safety mode")
    some.add_argument("--trace", metavar="ID", help="a session has one trace")
    some.add_argument("--session", metavar="ID")
    some.add_argument("--tenant", metavar="ID", help="as the caller said")
    some.add_argument("--user", metavar="ID", help="as the caller said")
    some.add_argument("--since", metavar="TIME", help="RFC 3339 time or date, UTC")
    some.add_argument("--until", metavar="TIME", help="before this time or date")
    some.add_argument(
        "--min-cost", type=_natural_number, metavar="MICROS", help="millionths, at least"
    )
    some.add_argument(
        "--max-cost", type=_natural_number, metavar="MICROS", help="millionths, at most"
    )
    _add_content_filters(parser)
    some.add_argument(
        "--text", type=_bounded_text, help="in why it was decided or settled, or what failed"
    )


def _add_content_filters(parser: argparse.ArgumentParser) -> None:
    about = (
        "Only turns with this content: records are read for it. --value, --over, --tier: one call."
    )
    some = parser.add_argument_group("filters by content", about)
    some.add_argument("--value", metavar="VALUE", help="an argument is this text or number")
    some.add_argument("--over", type=_number, metavar="N", help="a number among them is above this")
    some.add_argument("--tier", choices=MODES, help="a call, with what its command does, is of it")
    some.add_argument("--approver", metavar="NAME", help="who answered a question or approved it")
    some.add_argument("--evidence", metavar="ITEM", help="pinned, or an argument stands in it")


def _number(text: str) -> float:
    if not _NUMBER.fullmatch(text):
        raise argparse.ArgumentTypeError("must be a number, such as 1000 or 0.5")
    return float(text)


def _natural_number(text: str) -> int:
    value = int(text) if text.isascii() and text.isdecimal() and len(text) <= 16 else -1
    if not 0 <= value < 2**53:
        raise argparse.ArgumentTypeError("must be a whole number from 0 to 9007199254740991")
    return value


def _bounded_text(text: str) -> str:
    if not 0 < len(text) <= _LONGEST:
        raise argparse.ArgumentTypeError(f"must have 1 to {_LONGEST} characters")
    return text
