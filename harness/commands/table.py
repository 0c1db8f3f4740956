"""All commands, with their summaries and the modules of their parsers and code."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple


class _Command(NamedTuple):
    """One command of `critic`.

    Attributes:
        summary: its purpose, on one line.
        folder: its package in `harness.commands`. Its module `<folder>_arguments` has
            `add_<command>`, which adds the parser; `<command>_command` has `run`.
    """

    summary: str
    folder: str


COMMANDS: Final[Mapping[str, _Command]] = MappingProxyType(
    {
        "demo": _Command("refunds refused, run and planned late, recorded and replayed", "demo"),
        "verify": _Command("judge plans before they run", "judge"),
        "score": _Command("judge finished runs", "judge"),
        "run": _Command("verify, score and record runs that were recorded elsewhere", "judge"),
        "guard": _Command("judge tool calls turn by turn: events in, rulings out", "guard"),
        "hook": _Command("judge the calls of a command-line agent, as its hook", "hook"),
        "import": _Command(
            "convert a recorded agent run into events for `critic guard`",
            "import_runs",
        ),
        "mcp-proxy": _Command("guard the tools of an MCP server", "mcp"),
        "mcp": _Command("review and accept changes in MCP tool descriptions", "mcp"),
        "serve": _Command("answer over HTTP: verdicts, sessions, AuthZEN, OPA", "serve"),
        "replay": _Command("derive each recorded verdict again and compare the bytes", "replay"),
        "what-if": _Command(
            "judge every recorded plan again under another policy, mode or budget", "what_if"
        ),
        "gate": _Command(
            "compare the runs of two logs or files: pass, block or inconclusive", "gate"
        ),
        "shadow": _Command(
            "count what shadow mode would have stopped, and propose edits", "shadow"
        ),
        "log": _Command("search and check a decision log", "log"),
        "report": _Command("write a decision log as one page of HTML", "report"),
        "policy": _Command("check, compare and test a policy file", "policy"),
        "init": _Command("write a policy: of an agent's tools, or an example", "policy"),
        "try": _Command(
            "judge recorded tasks, and propose the smallest edits of the policy", "trial"
        ),
        "explain": _Command("print the table of tiers, or the words `init` guesses by", "explain"),
        "shell": _Command("say what a command line of a shell does, step by step", "shell"),
        "loop": _Command("let an agent change code until a critic accepts the result", "loop"),
        "sessions": _Command("look at the sessions of `critic loop`", "loop"),
        "schema": _Command("print the JSON Schemas of the envelopes", "schema"),
        "docs": _Command("print the pages of this version", "docs"),
        "doctor": _Command("check this installation and report what to fix", "doctor"),
    }
)
"""In the order in which `critic --help` lists them."""
