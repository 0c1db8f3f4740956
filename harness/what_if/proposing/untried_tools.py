"""Find the tools of a policy about which tasks say too little. Pure.

Of a tool that no task calls, no label was tried. A tier that is open asks about each call.
"""

from collections.abc import Iterable, Iterator

from evals.escaping import escape_name
from harness.policy.analysis.lint_finding import LintFinding
from harness.policy.envelopes import Policy
from harness.what_if.proposing.recorded_tasks import RecordedTask


def find_untried(policy: Policy, tasks: Iterable[RecordedTask]) -> Iterator[LintFinding]:
    """Yield a note for each tool that no task calls."""
    called = {tool for task in tasks for tool in task.tools}
    for at, tool in enumerate(policy.tool):
        if tool.called not in called:
            message = f"tool {escape_name(tool.called)}: no task calls it: add one that does"
            yield LintFinding("untried_tool", f"/tool/{at}", message, is_latent=True)


def find_undecided(
    policy: Policy, tasks: Iterable[RecordedTask], open_tiers: frozenset[str]
) -> Iterator[LintFinding]:
    """Yield a note for each tool that a task calls, and whose tier nobody has decided yet."""
    called = {tool for task in tasks for tool in task.tools}
    for at, tool in enumerate(policy.tool):
        if tool.called in called & open_tiers:
            message = (
                f"tool {escape_name(tool.called)}: nobody has decided its tier, so a person is "
                "asked about each call: decide it, and delete the comment"
            )
            yield LintFinding("guess_open", f"/tool/{at}/approval_mode", message, is_latent=True)
