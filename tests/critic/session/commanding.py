"""Sessions whose agents run shell commands."""

from typing import Any, Final

from critic.command.effect_tools import effect_tools
from critic.command.file_tools import CommandArgument
from critic.session import Call, SessionRules
from critic.session.shell_rules import ShellRules
from tests.critic.session.building import TOOLS, rules, tool
from tests.support.command_tables import SMALL_TABLE

FACTS: Final = {
    "root": "/w",
    "cwd": "/w",
    "home": "/home/u",
    "links": {"/w": "/w", "/w/a.py": "/w/a.py"},
    "path_safe": True,
}
SHELL: Final = ShellRules(
    table=SMALL_TABLE,
    arguments={"shell": CommandArgument(("command",))},
    effects=effect_tools({}),
    source={"table": "small"},
)


def shell_rules(**fields: Any) -> SessionRules:
    """Return rules with a tool that takes commands. `fields`: what else is said of it."""
    return rules(tools={**TOOLS, "shell": tool("shell", "local_write", **fields)}, shell=SHELL)


def run(command: str, **facts: Any) -> Call:
    return Call("sh", "shell", {"command": command}, shell={**FACTS, **facts})
