"""The parsers of `critic mcp-proxy` and `critic mcp pins`."""

import argparse

from harness.commands.arguments import (
    Commands,
    add,
    add_command,
    identifier_argument,
    parse_port,
)
from harness.commands.folder_world import add_folder


def add_mcp_proxy(commands: Commands) -> None:
    """Add `critic mcp-proxy`."""
    exits = "Exit status: 0 the client ended it; 2 it cannot start, or the server ended by itself."
    proxy = add_command(commands, "mcp-proxy", exits)
    proxy.add_argument(
        "server",
        nargs="+",
        metavar="SERVER",
        help="after --: the command of a server that speaks over standard streams; or the URL of "
        "one that speaks HTTP, which is then served on this machine",
    )
    proxy.add_argument("--policy", required=True, metavar="FILE", help="the policy of the calls")
    proxy.add_argument("--log", help="decision log to append each ruling to, made if missing")
    _add_pins(proxy)
    _add_session(proxy)
    add_folder(proxy)
    proxy.add_argument(
        "--allow-method",
        action="append",
        default=[],
        metavar="METHOD",
        help="let a method pass that would be refused, such as sampling/createMessage: unjudged",
    )
    proxy.add_argument(
        "--host", default="127.0.0.1", help="for a URL: the address to serve on, of loopback only"
    )
    proxy.add_argument(
        "--port",
        type=parse_port,
        default=8471,
        help="for a URL: the port to serve on (default: %(default)s); 0 is any that is free",
    )


def _add_session(proxy: argparse.ArgumentParser) -> None:
    proxy.add_argument(
        "--request", default="", metavar="TEXT", help="what the user asked the agent for"
    )
    proxy.add_argument(
        "--scope",
        action="append",
        default=[],
        metavar="TOOL",
        help="a tool that may be called although the request does not name it",
    )
    proxy.add_argument(
        "--user",
        type=identifier_argument,
        metavar="ID",
        help="the user that the agent acts for, for the log",
    )
    proxy.add_argument(
        "--tenant",
        type=identifier_argument,
        metavar="ID",
        help="the tenant of the user, for the log",
    )
    proxy.add_argument(
        "--adapter",
        metavar="ID",
        help="only the tools with this adapter_id are the server's, by their capability_id",
    )
    proxy.add_argument(
        "--approver",
        metavar="NAME",
        help="who answers the questions (default: the --user, or else mcp-user)",
    )


def add_mcp(commands: Commands) -> None:
    """Add `critic mcp pins`."""
    mcp = add_command(commands, "mcp")
    actions = mcp.add_subparsers(dest="area", metavar="AREA", required=True)
    exits = "Exit status: 0 nothing waits to be accepted; 1 a change waits; 2 it cannot be read."
    pins = add(actions, "pins", "the accepted tool descriptions", exits)
    acts = pins.add_subparsers(dest="action", metavar="ACTION", required=True)
    listing = add(acts, "list", "the tools, and what changed since they were accepted", exits)
    accept = add(
        acts, "accept", "accept the current description of a tool", "Exit status: 0 accepted"
    )
    for action in (listing, accept):
        action.add_argument(
            "--policy", metavar="FILE", help="the policy that the proxy was started with"
        )
        _add_pins(action)
    accept.add_argument("tool", metavar="TOOL", help="its name in the policy")
    accept.add_argument(
        "digest",
        nargs="?",
        default="",
        metavar="DIGEST",
        help="the start of the digest that `list` shows: refused if the tool has changed since",
    )


def _add_pins(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--pins",
        metavar="FILE",
        help="the accepted tool descriptions (default: next to the policy, as POLICY.pins.json)",
    )
