"""Find the tools of a policy that no task calls: nothing was learned about their labels. Pure."""

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
