"""The parsers of `critic loop` and `critic sessions`."""

import argparse
from typing import Final

from harness.commands.arguments import Commands, add, add_command

LOOP_EXITS: Final = (
    "Exit status: 0 success; 1 a limit of iterations or time was reached; 2 an error; "
    "130 interrupted."
)


def add_loop(commands: Commands) -> None:
    """Add `critic loop` to the command line."""
    loop = add_command(commands, "loop", LOOP_EXITS)
    loop.add_argument("task", metavar="TASK", nargs="?", help="the task; - reads standard input")
    loop.add_argument("--resume", metavar="ID", help="continue an unfinished session")
    _add_loop_agents(loop)
    _add_loop_gate(loop)
    loop.add_argument(
        "-n", "--max-iterations", type=int, metavar="N", help="maximum iterations (default: 3)"
    )
    loop.add_argument(
        "--max-minutes",
        type=float,
        metavar="N",
        help="maximum time of this run (default: no limit)",
    )
    loop.add_argument("--dir", help="the folder to work in (default: this one)")
    loop.add_argument("--config", metavar="FILE", help="read this file instead of .critic.toml")
    loop.add_argument("--sessions", metavar="DIR", help="the folder to record the session in")
    loop.add_argument(
        "--accept-unreviewed",
        action="store_true",
        help="start although an unfinished session left changes; the record says so",
    )
    loop.add_argument("--dry-run", action="store_true", help="print what would run; run nothing")
    loop.add_argument(
        "--verbose", action="store_true", help="print what the agents print, not only to a terminal"
    )
    loop.add_argument(
        "--format",
        choices=("text", "json"),
        default="text",
        help="json: one event a line, each with seq, time and kind: session_started, "
        "agent_started, agent_output, agent_ended, gate_command_ended, diff_captured, "
        "change_refused, critic_replied, decision, session_ended",
    )


def _add_loop_agents(loop: argparse.ArgumentParser) -> None:
    agent = "claude, codex, opencode, or a command line"
    loop.add_argument("--actor", metavar="CMD", help=f"the agent that works: {agent}")
    loop.add_argument("--critic", metavar="CMD", help=f"the agent that reviews: {agent}")
    loop.add_argument("--model", metavar="NAME", help="the model of both agents")
    loop.add_argument("--actor-model", metavar="NAME", help="the model of the actor alone")
    loop.add_argument("--critic-model", metavar="NAME", help="the model of the critic alone")
    loop.add_argument(
        "--timeout", type=float, metavar="SECONDS", help="for each run of an agent (default: 3600)"
    )
    loop.add_argument(
        "--retries",
        type=int,
        metavar="N",
        help="run an agent again that could not be started or timed out, at most N times "
        "(default: 0)",
    )


def _add_loop_gate(loop: argparse.ArgumentParser) -> None:
    loop.add_argument(
        "--gate",
        action="append",
        metavar="CMD",
        help="a command that must pass before the critic; in addition to the config files",
    )
    loop.add_argument(
        "--protect",
        action="append",
        metavar="PATTERN",
        help="paths that must not change, as in .gitignore; in addition to the config files",
    )
    loop.add_argument(
        "--allow-agent-settings",
        action="store_true",
        help="let the actor change settings of agents and of git (CLAUDE.md, .claude/, hooks)",
    )
    loop.add_argument(
        "--max-lines",
        type=int,
        metavar="N",
        help="maximum changed lines; a line counts once for each 1,000 bytes that it begins",
    )
    loop.add_argument("--max-files", type=int, metavar="N", help="maximum changed files")


def add_sessions(commands: Commands) -> None:
    """Add `critic sessions` and its actions to the command line."""
    sessions = add_command(commands, "sessions")
    actions = sessions.add_subparsers(dest="action", metavar="ACTION", required=True)
    listing = add(actions, "list", "list the sessions, one per line, newest first")
    show = add(actions, "show", "show one session with its iterations")
    diff = add(actions, "diff", "print what an iteration had changed since the session began")
    stats = add(actions, "stats", "print success rate, average iterations and duration")
    for action in (show, diff):
        action.add_argument("session", metavar="ID", help="the id, or the beginning of it")
    diff.add_argument("--iteration", type=int, metavar="N", help="which one (default: the last)")
    for action in (listing, show, diff, stats):
        action.add_argument("--format", choices=("text", "json"), default="text")
        action.add_argument("--sessions", metavar="DIR", help="the folder they are recorded in")
