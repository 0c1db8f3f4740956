"""`critic mcp-proxy`: an MCP server behind the guard, over standard streams or HTTP."""

import argparse
import secrets
import signal
import sys
from contextlib import ExitStack

from harness.commands.exit_status import EXIT_INTERRUPTED, EXIT_INVALID, EXIT_OK
from harness.commands.folder_world import find_world
from harness.commands.mcp.pin_files import pin_file
from harness.commands.policy.policy_command import load_policy
from harness.errors import HarnessError, UsageError, escape_text
from harness.guard import EventError, Guard
from harness.guard.session_events import event_of
from harness.integrations.mcp.mcp_asking import RepeatedRequests
from harness.integrations.mcp.mcp_filter import McpFilter
from harness.integrations.mcp.mcp_guarded import GuardedServer
from harness.integrations.mcp.mcp_stdio import serve_stdio
from harness.log.sql import SqlDecisionLog

_GRACE_S = 1


def run(args: argparse.Namespace) -> int:
    """Serve. Exit status as documented by `critic mcp-proxy --help`."""
    if args.policy == "-":
        raise UsageError("standard input is the client: name a file for the policy")
    if judged := {"tools/call", "tools/list"} & {*args.allow_method}:
        raise UsageError(f"{min(judged)} is always judged: leave --allow-method out")
    url = args.server[0].startswith(("http://", "https://"))
    if url:
        _require_libraries()
    if url and len(args.server) > 1:
        raise UsageError("a URL has no arguments: give it alone, or a command after --")
    with ExitStack() as stack:
        log = stack.enter_context(SqlDecisionLog.open(args.log)) if args.log else None
        server = _guard_server(args, log)
        stack.callback(server.close)
        return _serve_url(args, server) if url else _serve_streams(args, server)


def _guard_server(args: argparse.Namespace, log: SqlDecisionLog | None) -> GuardedServer:
    """Return the guarded server, in an open session."""
    policy = load_policy(args.policy).policy
    if args.adapter and not any(tool.adapter_id == args.adapter for tool in policy.tool):
        raise UsageError(f"the policy has no tool of adapter {escape_text(args.adapter)}")
    pins = pin_file(args.policy, args.pins)
    pins.read()
    world = find_world(args.cwd, [args.policy, pins.path], args.log)
    guard, session = Guard(policy, log=log, world=world), f"mcp-{secrets.token_hex(8)}"
    given = {"scope": args.scope, "user": args.user, "tenant": args.tenant}
    known = {name: value for name, value in given.items() if value}
    wire = {"event": "open", "session": session, "request": args.request, **known}
    opened = guard.handle(event_of(wire))
    if isinstance(opened, EventError):
        raise HarnessError(f"cannot open the session: {opened.error.message}")
    return GuardedServer(
        policy,
        guard,
        session,
        pins=pins,
        adapter=args.adapter,
        approver=args.approver or args.user or "mcp-user",
        allowed_methods=args.allow_method,
    )


def _serve_streams(args: argparse.Namespace, server: GuardedServer) -> int:
    if sys.stdin is None:
        raise UsageError("standard input is closed: it has to be the client")
    filtered = McpFilter(server, RepeatedRequests())
    client = sys.stdin.fileno(), sys.stdout.fileno()
    status = serve_stdio(args.server, filtered, client)
    if status is None:
        return EXIT_OK
    sys.stderr.write(f"critic: the server ended by itself, with status {status}\n")
    return EXIT_INVALID


def _require_libraries() -> None:
    try:
        import httpx2  # noqa: F401, PLC0415 - an extra of its own
        import starlette  # noqa: F401, PLC0415
        import uvicorn  # noqa: F401, PLC0415
    except ImportError:
        raise UsageError("a URL needs more libraries: pip install 'plan-critic[mcp]'") from None


def _serve_url(args: argparse.Namespace, server: GuardedServer) -> int:
    """Serve at a URL of this machine only."""
    from harness.integrations.mcp.mcp_http import PATH, http_app  # noqa: PLC0415
    from harness.serve.running import bind_tcp, run_app  # noqa: PLC0415

    with bind_tcp(args.host, args.port, has_tokens=False) as bound:
        app = http_app(server, args.server[0])
        stopped_by = run_app(app, bound, _GRACE_S, path=PATH, lifespan="on")
    return EXIT_INTERRUPTED if stopped_by == signal.SIGINT else EXIT_OK
