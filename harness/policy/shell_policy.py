"""Turn what a policy says of shell commands into the rules of its sessions."""

from critic.command.effect_tools import effect_tools
from critic.command.file_tools import CommandArgument
from critic.session.shell_rules import ShellRules
from harness.policy.envelopes import Policy


def shell_rules_of(policy: Policy) -> ShellRules | None:
    """Return how the commands of sessions are judged; None without a table."""
    if policy.shell is None:
        return None
    arguments = {
        name: CommandArgument(*argument)
        for name, tool in policy.tools.items()
        for argument in tool.acting_arguments
    }
    tiers = {str(name): tier for name, tier in (policy.shell.tiers or {}).items()}
    effects = effect_tools(tiers)
    return ShellRules(policy.shell.programs, arguments, effects, policy.shell.source)
