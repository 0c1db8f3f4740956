"""All commands: what each is for, and where its parser and its code are."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple


class _Command(NamedTuple):
    """One command of `critic`.

    Attributes:
        summary: what it is for, in a line.
        arguments: the module of `harness.commands` whose `add_<command>` adds its parser.
        module: the module of `harness.commands` whose `run` carries it out.
    """

    summary: str
    arguments: str
    module: str


COMMANDS: Final[Mapping[str, _Command]] = MappingProxyType(
    {
        "demo": _Command(
            "two refunds refused, one run, all recorded and replayed", "judging_arguments", "demo"
        ),
        "verify": _Command("judge plans before they run", "judging_arguments", "verify"),
        "score": _Command("judge finished runs", "judging_arguments", "score"),
        "run": _Command(
            "take recorded runs through the whole pipeline into a log", "judging_arguments", "run"
        ),
        "guard": _Command(
            "guard agents that act call by call: events in, rulings out",
            "judging_arguments",
            "guard",
        ),
        "hook": _Command(
            "judge the calls of a command-line agent, as its hook", "hook_arguments", "hook"
        ),
        "import": _Command(
            "turn a recorded run of an agent into session events, for `critic guard`",
            "import_arguments",
            "import_",
        ),
        "mcp-proxy": _Command("guard the tools of an MCP server", "mcp_arguments", "mcp_proxy"),
        "mcp": _Command("look after MCP servers", "mcp_arguments", "mcp_pins"),
        "serve": _Command(
            "answer over HTTP: verdicts, sessions, AuthZEN, OPA", "serve_arguments", "serve"
        ),
        "replay": _Command(
            "derive every recorded verdict again and compare the bytes", "log_arguments", "replay"
        ),
        "what-if": _Command(
            "judge every recorded plan again under another policy, mode or budget",
            "what_if_arguments",
            "what_if",
        ),
        "gate": _Command(
            "compare the runs of two logs, or in files: pass, block or inconclusive",
            "gate_arguments",
            "gate",
        ),
        "log": _Command("search and check a decision log", "log_arguments", "log"),
        "report": _Command(
            "write a decision log as one page of HTML", "report_arguments", "report"
        ),
        "policy": _Command("check, compare and test a policy file", "policy_arguments", "policy"),
        "init": _Command("write a policy file to begin with", "policy_arguments", "init"),
        "loop": _Command(
            "let an actor change code until a critic finds the task done",
            "loop_arguments",
            "code_loop",
        ),
        "sessions": _Command("look at the sessions of `critic loop`", "loop_arguments", "sessions"),
        "schema": _Command(
            "print the JSON Schemas of the envelopes", "judging_arguments", "schema"
        ),
        "doctor": _Command(
            "check this installation and report what to fix", "judging_arguments", "doctor"
        ),
    }
)
"""In the order in which `critic --help` lists them."""
