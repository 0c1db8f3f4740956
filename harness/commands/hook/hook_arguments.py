"""The parser of `critic hook`."""

import argparse
from typing import Final

from harness.commands.arguments import Commands, add, add_command, identifier_argument

AGENTS: Final = {
    "claude-code": "Claude Code",
    "codex": "Codex",
    "gemini": "Gemini CLI",
    "qwen-code": "Qwen Code",
    "cursor": "Cursor",
}
"""What can be asked for by name, and how people call it."""

_EXITS: Final = (
    "Exit status: 0 answered on standard output; 2 refused, with the reason on standard error."
)
_INSTALL_EXITS: Final = "Exit status: 0 installed; 2 nothing was written."
_CHECK_EXITS: Final = "Exit status: 0 guarded; 1 not guarded; 2 some input is invalid."


def add_hook(commands: Commands) -> None:
    """Add `critic hook AGENT`, and `install` and `check` for an agent."""
    hook = add_command(commands, "hook", _EXITS)
    actions = hook.add_subparsers(dest="action", metavar="AGENT", required=True)
    for name, title in AGENTS.items():
        _add_agent(actions, name, title)
    install = add(actions, "install", "write the settings of an agent", _INSTALL_EXITS)
    install.add_argument("agent", metavar="AGENT", choices=AGENTS, help=", ".join(AGENTS))
    install.add_argument(
        "--project",
        metavar="DIR",
        help="install in the settings of a folder instead of those of the user. Some agents read "
        "them only where they are started in that very folder, or once it is trusted",
    )
    install.add_argument(
        "--policy",
        metavar="FILE",
        help="what calls are judged by; written with the tools of the agent if it does not exist "
        "(default: .critic/AGENT.toml in the home folder, or in that of --project)",
    )
    check = add(
        actions, "check", "say whether an agent would run the hook, and why not", _CHECK_EXITS
    )
    check.add_argument("agent", metavar="AGENT", choices=AGENTS, help=", ".join(AGENTS))
    check.add_argument(
        "folder", metavar="FOLDER", nargs="?", default=".", help="where it starts (default: here)"
    )
    _add_places(install, log=" (default: audit.db in that folder)")


def _add_agent(actions: Commands, name: str, title: str) -> None:
    agent = add(actions, name, f"answer one hook event of {title} on standard input", _EXITS)
    agent.add_argument(
        "--options",
        metavar="FILE",
        help="the file with the options, as `critic hook install` writes it (default: "
        "~/.critic/hook.toml). It stands for all that follow but --event",
    )
    agent.add_argument("--policy", metavar="FILE", help="what the calls are judged by")
    _add_places(agent)
    agent.add_argument(
        "--scope",
        action="append",
        default=[],
        metavar="TOOL",
        help="a tool that may be called although the request does not name it",
    )
    agent.add_argument(
        "--leave",
        action="append",
        default=[],
        metavar="TOOL",
        help="let a tool pass that another hook judges; * at the end stands for any rest",
    )
    agent.add_argument(
        "--keep-prompts",
        action="store_true",
        help="say nothing where a call is allowed, so that the agent asks its user as it would "
        "without a hook (Claude Code)",
    )
    agent.add_argument(
        "--event", metavar="NAME", help="the event that the settings call this hook for"
    )


def _add_places(parser: argparse.ArgumentParser, log: str = "") -> None:
    parser.add_argument(
        "--state",
        metavar="DIR",
        help="where sessions are kept, for this user alone (default: .critic/sessions beside the "
        "policy)",
    )
    parser.add_argument(
        "--user",
        metavar="ID",
        type=identifier_argument,
        help="who is at the agent: their name in the log (Cursor says it itself)",
    )
    parser.add_argument(
        "--log", help=f"decision log to append each ruling to, made if missing{log}"
    )
    parser.add_argument(
        "--socket",
        metavar="PATH",
        help="have the answer worked out by `critic serve --socket PATH`, where it runs: by the "
        "same policy and sessions, but without the time that a start takes; auto: by a service "
        "that the first hook starts",
    )
