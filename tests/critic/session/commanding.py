"""Sessions whose agents run shell commands."""

from typing import Any, Final

from critic import EvidenceItem
from critic.command.effect_tools import effect_tools
from critic.command.file_tools import CommandArgument
from critic.session import Call, SessionRules
from critic.session.shell_rules import ShellRules
from evals.kinds import ApprovalMode
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
    arguments={name: CommandArgument(("command",)) for name in ("shell", "bash")},
    effects=effect_tools({}),
    source={"table": "small"},
)


def shell_rules(mode: ApprovalMode = "local_write", **fields: Any) -> SessionRules:
    """Return rules with two tools that take commands. `fields`: what else is said of `shell`."""
    commands = {"shell": tool("shell", mode, **fields), "bash": tool("bash", mode)}
    return rules(tools={**TOOLS, **commands}, shell=SHELL)


def confined_rules(content: Any) -> SessionRules:
    """Return rules by which what an item holds must not leave, whichever command would send it."""
    return rules(
        tools={"shell": tool("shell", "read_only"), "bash": tool("bash", "read_only")},
        shell=SHELL,
        spec={"confined_evidence": ("open", "secret")},
        evidence=(EvidenceItem(id="k", classification="secret", content=content),),
    )


def run(command: str, **facts: Any) -> Call:
    return Call("sh", "shell", {"command": command}, shell={**FACTS, **facts})
