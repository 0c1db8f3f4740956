"""`critic log`: search, show, check or export a log, or say who may use it."""

import argparse
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any, Final, TypeAlias

from harness.commands.known_heads import KnownHead, known_head, require_keys_used
from harness.commands.log.log_filters import damage_texts, warn
from harness.log.sql import SqlDecisionLog

_LogAction: TypeAlias = Callable[[argparse.Namespace, SqlDecisionLog], int]

_ACTIONS: Final = {
    "list": ("log_list", "list_log"),
    "stats": ("log_stats", "show_statistics"),
    "show": ("log_show", "show_record"),
    "copy": ("log_copy", "copy_to_place"),
    "events": ("log_sessions", "list_events"),
    "export": ("log_export", "export_log"),
    "verify": ("log_verify", "verify_log"),
}
"""The module and the function of each action. Only the one that is asked for is imported."""

_OPENING: Final = {
    "next": ("log_next", "go_on_in_next"),
    "query": ("log_query", "query_log"),
    "roles": ("log_command", "_roles"),
    "settle": ("log_settle", "settle_execution"),
}
"""Those of the actions that open the log in another way than to read it, or not at all."""


def run(args: argparse.Namespace) -> int:
    """Run the action. Return 1 if records are missing or the log is not sound."""
    if args.action in _OPENING:
        module, name = _OPENING[args.action]
        own: Callable[[argparse.Namespace], int] = _function(module, name)
        return own(args)
    module, name = _ACTIONS[args.action]
    action: _LogAction = _function(module, name)
    require_keys_used(args, "checkpoint")
    known = KnownHead() if args.action == "verify" else known_head(args)
    with SqlDecisionLog.open_for_reading(args.log) as log:
        departures = damage_texts(known.departures(log))
        return warn(departures) or action(args, log)


def _function(module: str, name: str) -> Any:
    return getattr(import_module(f"harness.commands.log.{module}"), name)


def _roles(args: argparse.Namespace) -> int:
    from harness.log.postgres.postgres_roles import role_grants  # noqa: PLC0415 - asked for once in a log

    sys.stdout.write(role_grants(args.log, args.writer, args.auditor))
    return 0
