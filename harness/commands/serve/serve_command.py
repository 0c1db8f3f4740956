"""`critic serve`: the critic over HTTP, on loopback, on a Unix socket, or elsewhere with tokens."""

import argparse
import os
import signal
import socket
import sys
from contextlib import ExitStack
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from harness.commands.exit_status import EXIT_INTERRUPTED, EXIT_OK
from harness.commands.policy.policy_command import load_policy
from harness.errors import UsageError
from harness.integrations.hooks.desk import HookDesk
from harness.log.log_errors import LogBusy, LogUnavailable, LogWriteFailed
from harness.log.log_places import is_url, store_at
from harness.log.sql import DEFAULT_TIMEOUT, SqlDecisionLog
from harness.wire import MAX_DOCUMENT_BYTES

if TYPE_CHECKING:
    from harness.serve.running import IdleLimit
    from harness.serve.service_log import LogOpener


def run(args: argparse.Namespace) -> int:
    """Serve until told to stop. Exit status as documented by `critic serve --help`."""
    _require_libraries()
    from harness.serve.app import serve  # noqa: PLC0415
    from harness.serve.bearer_tokens import askers_of, read_tokens  # noqa: PLC0415
    from harness.serve.request_limits import ServiceLimits  # noqa: PLC0415 - an extra of their own
    from harness.serve.service import ServiceSettings  # noqa: PLC0415

    if args.end_idle is not None and args.socket is None:
        raise UsageError("--end-idle is for a service on a --socket: name one")
    limits = ServiceLimits(
        max_bytes=args.max_bytes or MAX_DOCUMENT_BYTES,
        seconds=args.timeout,
        sessions=args.max_sessions,
        idle_seconds=args.max_idle,
    )
    tokens = None if args.tokens is None else read_tokens(args.tokens)
    approvers = None if args.approvers is None else read_tokens(args.approvers)
    askers_of(tokens, approvers)  # a mistake is told before a socket or a log is made
    policy = None if args.policy is None else load_policy(args.policy).policy
    with ExitStack() as stack:
        bound = _bind_socket(args, stack, has_tokens=tokens is not None)
        desk = None if args.socket is None else HookDesk()
        settings = ServiceSettings(
            policy=policy,
            log=_open_log(args.log, stack) if args.log else None,
            max_skew=timedelta(seconds=args.max_skew),
            tokens=tokens,
            approvers=approvers,
            limits=limits,
            loopback_only=args.socket is None,
            public_url=args.public_url,
            hooks=None if desk is None else desk.answer,
        )
        limit = None if desk is None else _idle_limit(args, desk)
        stopped_by = serve(settings, bound, limit)
    return EXIT_INTERRUPTED if stopped_by == signal.SIGINT else EXIT_OK


def _idle_limit(args: argparse.Namespace, desk: HookDesk) -> "IdleLimit | None":
    """Return what ends a service by itself; None where nothing does."""
    from harness.serve.running import IdleLimit  # noqa: PLC0415 - an extra of its own

    if args.end_idle is None:
        return None
    return IdleLimit(args.end_idle, args.socket, lambda: desk.is_outdated)


def _open_log(place: str, stack: ExitStack) -> "SqlDecisionLog | LogOpener":
    """Return the log; or what opens it, where only its server or its disk is in the way now.

    Raises:
        LogError: what is there is not a log, or the place is wrong.
    """
    store_at(place, DEFAULT_TIMEOUT)  # a URL that cannot be read will not become right
    try:
        return stack.enter_context(SqlDecisionLog.open(place))
    except LogUnavailable as error:
        if not (is_url(place) or isinstance(error, LogBusy | LogWriteFailed)):
            raise
        sys.stderr.write(f"critic: log: {error}\n")
        return partial(SqlDecisionLog.open, place)


def _require_libraries() -> None:
    try:
        import prometheus_client  # noqa: F401, PLC0415
        import starlette  # noqa: F401, PLC0415
        import uvicorn  # noqa: F401, PLC0415
    except ImportError:
        raise UsageError(
            "the service needs more libraries: pip install 'plan-critic[serve]'"
        ) from None


def _bind_socket(args: argparse.Namespace, stack: ExitStack, *, has_tokens: bool) -> socket.socket:
    """Return the socket to serve on. What it leaves on disk is removed at the end."""
    from harness.serve.running import bind_tcp, bind_unix, release_unix  # noqa: PLC0415

    if args.socket is None:
        return stack.enter_context(bind_tcp(args.host, args.port, has_tokens=has_tokens))
    bound = stack.enter_context(bind_unix(args.socket))
    stack.callback(release_unix, args.socket, os.lstat(args.socket))
    return bound
