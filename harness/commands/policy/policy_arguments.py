"""The parsers of `critic policy` and `critic init`."""

import argparse
from functools import partial
from typing import Final

from harness.commands.arguments import Commands, add, add_command, positive_number

_CHECK_EXITS: Final = "Exit status: 0 no errors and no warnings; 1 some; 2 a file is not a policy."


_DIFF_EXITS: Final = (
    "Exit status: 0 equal; 1 tighter, looser, both or not decided; 2 a file is not a policy."
)
_REACH_EXITS: Final = "Exit status: 0 told; 2 the file is not a policy, or has no such tool."
_TEST_EXITS: Final = (
    "Exit status: 0 every case holds; 1 some do not, or with --coverage a label changes no case or "
    "was not tried; 2 the policy or a case is invalid, or no case uses the policy."
)
_CASE_EXITS: Final = (
    "Exit status: 0 printed; 1 printed, and it does not hold by the policy; 2 the log has no such "
    "session, or part of it was redacted."
)


def add_policy(commands: Commands) -> None:
    """Add `critic policy check`, `reach`, `diff`, `test` and `case`."""
    policy = add_command(commands, "policy")
    actions = policy.add_subparsers(dest="action", metavar="ACTION", required=True)
    check = _add_check(actions)
    test = _add_test(actions)
    diff = add(
        actions, "diff", "show what a change tightens and loosens, each with a plan", _DIFF_EXITS
    )
    diff.add_argument("old", metavar="OLD", help="the policy before")
    diff.add_argument("new", metavar="NEW", help="the policy after")
    reach = add(actions, "reach", "show who can choose the values of each call", _REACH_EXITS)
    reach.add_argument("policy", metavar="FILE", help="the policy; - is standard input")
    reach.add_argument("tool", metavar="TOOL", nargs="?", help="the calls of this tool only")
    for action in (check, reach, diff, test):
        action.add_argument("--format", choices=("text", "json"), default="text")
    for action in (check, reach, diff, test, _add_case(actions)):
        action.add_argument(
            "--max-bytes",
            type=positive_number,
            metavar="N",
            help="refuse policies of more bytes without reading them (default: 33554432, 32 MiB)",
        )


def _add_check(actions: Commands) -> argparse.ArgumentParser:
    check = add(
        actions, "check", "report mistakes, and settings that do nothing or are risky", _CHECK_EXITS
    )
    check.add_argument(
        "files", nargs="+", metavar="FILE", help="a policy as TOML or JSON; - is standard input"
    )
    check.add_argument(
        "--strict",
        action="store_true",
        help="exit 1 for notes too, such as guesses that nobody confirmed",
    )
    check.add_argument(
        "--against-agent",
        action="append",
        default=[],
        metavar="MODULE:OBJECT",
        help="find what the policy and the tools of an agent do not agree on; it is imported",
    )
    return check


def _add_test(actions: Commands) -> argparse.ArgumentParser:
    test = add(actions, "test", "run the cases of a policy: plans, runs and sessions", _TEST_EXITS)
    test.add_argument("policy", metavar="FILE", help="the policy; - is standard input")
    test.add_argument(
        "cases", nargs="+", metavar="CASES", help="case files, or folders of them (*.json, *.toml)"
    )
    test.add_argument(
        "--coverage",
        action="store_true",
        help="delete each label of the policy by itself, and name those that change no case",
    )
    return test


def _add_case(actions: Commands) -> argparse.ArgumentParser:
    told = "print a session of a log as a case: what was asked for, called and returned, and ruled"
    case = add(actions, "case", told, _CASE_EXITS)
    case.add_argument("log", metavar="LOG", help="a decision log: a file, or the URL of one")
    case.add_argument("session", metavar="SESSION", help="the id of the session")
    case.add_argument(
        "--policy",
        metavar="FILE",
        help="call the tools as this policy does, and see whether the case holds by it",
    )
    case.add_argument("--format", choices=("toml", "json"), default="toml")
    return case


_SOURCES: Final = (
    (
        "agent",
        "MODULE:OBJECT",
        "an agent, graph, toolset, server or list of functions: LangChain, LangGraph, OpenAI "
        "Agents, Pydantic AI, FastMCP; the module is imported",
    ),
    (
        "python",
        "MODULE",
        "the public functions of a module or a .py file; it is imported",
    ),
    ("openai", "JSON", "OpenAI tool JSON"),
    ("mcp", "SERVER", "an MCP server: its command line, which is run, or its URL"),
)


def _source_of(kind: str, name: str) -> tuple[str, str]:
    return kind, name


def add_init(commands: Commands) -> None:
    """Add `critic init`."""
    exits = (
        "Several sources may be given. "
        "Exit status: 0 written; 2 the file is there already, or the tools cannot be read."
    )
    init = add_command(commands, "init", exits)
    init.add_argument(
        "file",
        metavar="FILE",
        nargs="?",
        default="critic.toml",
        help="the file to write (default: %(default)s); - is standard output",
    )
    for kind, name, what in _SOURCES:
        init.add_argument(
            f"--from-{kind}",
            dest="sources",
            action="append",
            type=partial(_source_of, kind),
            metavar=name,
            help=f"derive the tools from {what}",
        )
    init.add_argument(
        "--ask", action="store_true", help="ask who can write what each tool that reads returns"
    )
    init.add_argument(
        "--results",
        action="append",
        default=[],
        metavar="EVENTS",
        help="read the types of results, and examples, from recorded session events (JSON lines)",
    )
    init.add_argument("--force", action="store_true", help="replace a file that is there already")
