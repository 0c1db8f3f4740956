"""Find tools without any call that can pass."""

from typing import Final

from critic import Binding
from evals.escaping import escape_name, pointer
from harness.policy.analysis.lint_effort import LintEffort
from harness.policy.analysis.lint_finding import Findings, show_names
from harness.policy.analysis.policy_facts import PolicyFacts, ToolFacts
from harness.policy.schema_lint import admits

_NEVER: Final = "so no call of it can pass"


def lint_reachability(facts: PolicyFacts, effort: LintEffort) -> Findings:
    """Yield the unreachable tools: by evidence, arguments, groups or the budget."""
    steps = _steps_to(facts)
    budget = facts.policy.guard.budget
    for one in facts.tools:
        yield from _arguments(one, effort)
        yield from _groups(one)
        least = steps.get(one.path)
        if least is None and all(_is_known(facts, name) for name in one.needed_classes):
            names = [name for name in one.needed_classes if not _is_had(facts, steps, name)]
            message = (
                f"only tools that need {one.tool.called} first yield {show_names(names)}, "
                f"{_NEVER}: let a tool that reads yield it"
            )
            yield one.report_finding("unreachable_tool", "", message)
        elif least is not None and budget is not None and budget.max_steps < least:
            message = (
                f"it takes {least} calls to get to it, and guard.budget.max_steps is "
                f"{budget.max_steps}, {_NEVER}: raise max_steps"
            )
            yield one.report_finding("over_budget", "", message)


def _is_known(facts: PolicyFacts, name: str) -> bool:
    """Return whether something yields or holds a class; another rule reports the others."""
    return name in facts.held or name in facts.yielding


def _is_had(facts: PolicyFacts, steps: dict[str, int], name: str) -> bool:
    return name in facts.held or any(one.path in steps for one in facts.yielding.get(name, ()))


def _steps_to(facts: PolicyFacts) -> dict[str, int]:
    """Return the least number of calls that it takes to call each tool, by its path."""
    had = dict.fromkeys(facts.held, 0)
    steps: dict[str, int] = {}
    waiting = facts.tools
    while waiting:
        reached = [one for one in waiting if _has_all(one, had)]
        for one in reached:
            steps[one.path] = 1 + max(_costs(one, had), default=0)
        if not reached:
            return steps
        for one in reached:
            if one.tool.result_class is not None:
                had.setdefault(one.tool.result_class, steps[one.path])
        waiting = [one for one in waiting if one.path not in steps]
    return steps


def _has_all(one: ToolFacts, had: dict[str, int]) -> bool:
    bound = (any(name in had for name in binding.from_) for binding in _required_bindings(one))
    return all(demand.class_ in had for _, demand in one.demands()) and all(bound)


def _costs(one: ToolFacts, had: dict[str, int]) -> list[int]:
    demanded = [had[demand.class_] for _, demand in one.demands()]
    bound = [
        min(had[name] for name in binding.from_ if name in had)
        for binding in _required_bindings(one)
    ]
    return [*demanded, *bound]


def _required_bindings(one: ToolFacts) -> list[Binding]:
    return [binding for _, binding in one.bindings() if not binding.optional and binding.from_]


def _arguments(one: ToolFacts, effort: LintEffort) -> Findings:
    """Yield each bound argument that is required but that the schema forbids."""
    if not effort.allows(len(one.tool.bound_args or ()) * one.shapes.cost):
        return
    for name, binding in one.bindings():
        wanted = {"type": "object", "required": [name]}
        if binding.optional or name in one.shapes.names or admits(one.shapes.schema, wanted):
            continue
        if admits(one.shapes.schema, {"type": "object"}):
            message = (
                f"{escape_name(name)} is bound and must be there, and args_schema has no such "
                f"argument, {_NEVER}: add it, or remove the binding"
            )
            yield one.report_finding("unreachable_tool", pointer("bound_args", name), message)


def _groups(one: ToolFacts) -> Findings:
    """Yield arguments that one item must back but whose bindings share no class."""
    bound = dict(one.bindings())
    for index, group in enumerate(one.tool.bound_together or ()):
        needed = [bound[name] for name in group if name in bound and not bound[name].optional]
        if needed and not frozenset.intersection(*(frozenset(one.from_) for one in needed)):
            message = (
                f"one item must back {show_names(group)}, and no class may back all of them, "
                f"{_NEVER}: bind them to one class"
            )
            yield one.report_finding("unreachable_tool", f"/bound_together/{index}", message)
