"""Find what is ineffective in a policy as a whole: its spec, and how it is guarded."""

from critic import MODE_RANK
from harness.policy.analysis.lint_finding import Findings, LintFinding, lint_schema, near, no_class
from harness.policy.envelopes import Policy


def lint_spec(policy: Policy, known: frozenset[str]) -> Findings:
    """Yield what is ineffective in the spec and in the settings of the guard.

    Args:
        known: the classes that something yields or holds.
    """
    spec, safety = policy.spec, policy.guard.safety_mode
    for name, mode in (
        ("approval_mode", spec.approval_mode),
        ("approval_required_from", spec.approval_required_from),
    ):
        if mode is not None and MODE_RANK[mode] > MODE_RANK[safety]:
            message = f"{name} {mode} is above guard.safety_mode {safety}, so it has no effect"
            yield LintFinding(
                "mode_above_safety_mode", f"/spec/{name}", f"{message}: lower it, or remove it"
            )
    for name, classes in (
        ("required_evidence", spec.required_evidence),
        ("confined_evidence", spec.confined_evidence),
    ):
        for index, wanted in enumerate(classes or ()):
            if wanted not in known:
                place = f"/spec/{name}/{index}"
                yield LintFinding("unknown_class", place, f"{name}: {no_class(wanted, known)}")
    yield from _lint_outputs(policy)
    yield from _lint_budget(policy)
    for name, schema in (spec.output_schemas or {}).items():
        for rule, path, message in lint_schema(schema):
            place = f"/spec/output_schemas/{name}{path}"
            yield LintFinding(rule, place, f"schema of output {name}: {message}")
    if spec.provenance is None and any(tool.arg_roles for tool in policy.tool):
        message = "tools have arg_roles, which are judged only with provenance: add it"
        yield LintFinding("roles_without_provenance", "/spec", message)


def _lint_outputs(policy: Policy) -> Findings:
    produced = sorted({output for tool in policy.tool for output in tool.produces or ()})
    for index, output in enumerate(policy.spec.required_outputs):
        if output not in produced:
            hint = near(output, produced)
            message = f"no tool lists {output} in produces: {hint}add it to the tool that makes it"
            yield LintFinding("unproduced_output", f"/spec/required_outputs/{index}", message)


def _lint_budget(policy: Policy) -> Findings:
    if policy.guard.budget is not None and policy.guard.budget.max_steps == 0:
        message = "max_steps is 0, so no plan with a step passes: raise it, or remove it"
        yield LintFinding("empty_budget", "/guard/budget/max_steps", message)
