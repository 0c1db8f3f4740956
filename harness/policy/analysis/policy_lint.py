"""Warn about valid policy settings that do nothing or are risky.

Each rule has a name, and each finding says the effect and the fix. A policy that restricts what it
means to restrict has no findings.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, Final, NamedTuple

from critic import MODE_RANK, Binding, Demand
from evals.escaping import escape_name, pointer
from evals.json_schemas import compile_schema
from evals.pointers import segments, values_at
from harness.policy.analysis.argument_lint import lint_amounts, lint_arguments
from harness.policy.analysis.class_lint import lint_shapes
from harness.policy.analysis.evidence_lint import lint_classes, lint_evidence
from harness.policy.analysis.label_lint import lint_labels
from harness.policy.analysis.label_witness import show_witnesses
from harness.policy.analysis.lint_effort import TOO_MUCH, LintEffort, cost_of_names
from harness.policy.analysis.lint_finding import (
    MOST_FINDINGS,
    Findings,
    LintFinding,
    guess_name,
    lint_schema,
    no_class,
    show_names,
)
from harness.policy.analysis.origin_lint import lint_origins
from harness.policy.analysis.policy_facts import PolicyFacts
from harness.policy.analysis.reachability_lint import lint_reachability
from harness.policy.analysis.role_lint import missed_roles
from harness.policy.analysis.setting_lint import lint_scope, lint_settings
from harness.policy.envelopes import Policy, PolicyTool
from harness.policy.schema_lint import admits, has_place, property_names

_OBJECT: Final = {"type": "object"}
_SOME_ARGUMENT: Final = {"type": "object", "minProperties": 1}


class AcceptedRisk(NamedTuple):
    """A finding that the policy accepts, with its reason."""

    finding: LintFinding
    reason: str


class LintReport(NamedTuple):
    """The findings of the lint, accepted or not.

    Attributes:
        findings: the findings that nobody accepted, and entries of `accept` without a finding.
        accepted: the findings that an entry of `accept` covers.
    """

    findings: tuple[LintFinding, ...]
    accepted: tuple[AcceptedRisk, ...]


def lint(policy: Policy) -> tuple[LintFinding, ...]:
    """Return the findings of tools, then of origins and the spec; none for a good policy.

    At most 1,000 are listed. Where too many names would be compared, `not_linted` says so.
    """
    return lint_report(policy).findings


def lint_report(policy: Policy) -> LintReport:
    """Return the findings, accepted or not."""
    found = tuple(islice(_all_findings(policy), MOST_FINDINGS))
    entries: dict[tuple[str, str | None], int] = {}
    for index, one in enumerate(policy.accept):
        entries.setdefault((one.finding, one.tool), index)
    used: set[int] = set()
    left: list[LintFinding] = []
    accepted: list[AcceptedRisk] = []
    for finding in found:
        keys = ((finding.rule, _tool_of(policy, finding)), (finding.rule, None))
        entry = next((entries[key] for key in keys if key in entries), None)
        if entry is None:
            left.append(finding)
            continue
        used.add(entry)
        accepted.append(AcceptedRisk(finding, policy.accept[entry].reason))
    rules = sorted({one.rule for one in found})
    indexes = (index for index in range(len(policy.accept)) if index not in used)
    idle = (_idle_entry(policy, index, rules) for index in indexes)
    return LintReport((*left, *islice(idle, MOST_FINDINGS)), tuple(accepted))


def _tool_of(policy: Policy, finding: LintFinding) -> str | None:
    place = segments(finding.path) if finding.path else ()
    return policy.tool[int(place[1])].called if place[:1] == ("tool",) else None


def _idle_entry(policy: Policy, index: int, rules: Sequence[str]) -> LintFinding:
    """Return the finding for an entry of `accept` that covers none, by the rules that are found."""
    one = policy.accept[index]
    of = "" if one.tool is None else f" of {one.tool}"
    hint = "" if one.finding in rules else guess_name(one.finding, rules)
    fix = f"{hint}correct it, or remove it" if hint else "remove it"
    message = f"accepts {one.finding}{of}, which is not found: {fix}"
    return LintFinding("accepts_nothing", f"/accept/{index}", message)


def _all_findings(policy: Policy) -> Findings:
    known, facts = _known_evidence(policy), PolicyFacts(policy)
    effort = LintEffort()
    found = chain(
        _lint_tools(policy, known, effort),
        lint_origins(policy, effort),
        _lint_spec(policy, known.classes),
        lint_settings(facts),
        lint_labels(facts, effort),
        lint_arguments(facts, effort),
        lint_evidence(facts, effort),
        lint_amounts(facts, effort),
        lint_classes(facts),
        lint_shapes(facts, effort),
        lint_reachability(facts, effort),
        lint_scope(facts),  # of many tools, and the least: it takes the place of no other finding
    )
    return show_witnesses(facts, found)


def _lint_tools(policy: Policy, known: "_Known", effort: LintEffort) -> Findings:
    for index, tool in enumerate(policy.tool):
        linted = _Tool(policy, tool, f"/tool/{index}", known)
        cost = cost_of_names(tool) + _cost_of_contents(linted)
        allowed = effort.allows(cost)
        if not allowed:
            yield linted.report_finding("not_linted", "", TOO_MUCH)
        for rule in (*_RULES, *(_DEAR_RULES if allowed else ())):
            yield from rule(linted)


class _Known(NamedTuple):
    """The contents of a policy, as lookups for each tool.

    `yielded` are the classes of results, `held` the contents of evidence by class, and `classes`
    the classes of both, in order.
    """

    yielded: frozenset[str]
    held: Mapping[str, list[Any]]
    pairs: frozenset[tuple[str, str]]
    classes: tuple[str, ...]


def _known_evidence(policy: Policy) -> _Known:
    held: dict[str, list[Any]] = {}
    for item in policy.evidence:
        held.setdefault(item.classification, []).append(item.content)
    yielded = frozenset(tool.result_class for tool in policy.tool if tool.result_class)
    pairs = frozenset(tool.pair for tool in policy.tool)
    return _Known(yielded, held, pairs, tuple(sorted(yielded | held.keys())))


class _Tool(NamedTuple):
    """A tool in its policy."""

    policy: Policy
    tool: PolicyTool
    path: str
    known: _Known

    @property
    def rank(self) -> int:
        return MODE_RANK[self.tool.approval_mode]

    @property
    def schema(self) -> Any:
        """The schema of its arguments; true without one."""
        return True if self.tool.args_schema is None else self.tool.args_schema

    def report_finding(self, rule: str, path: str, message: str) -> LintFinding:
        return LintFinding(rule, f"{self.path}{path}", f"tool {self.tool.called}: {message}")


def _mode(linted: _Tool) -> Findings:
    """Yield a mode above the safety mode: the tool can never be called."""
    mode, guard, ceiling = (
        linted.tool.approval_mode,
        linted.policy.guard.safety_mode,
        linted.policy.spec.approval_mode,
    )
    for limit, name in ((guard, "guard.safety_mode"), (ceiling, "spec.approval_mode")):
        if limit is not None and linted.rank > MODE_RANK[limit]:
            message = f"{mode} is above {name} {limit}, so it can never be called: raise {name}"
            yield linted.report_finding(
                "mode_above_safety_mode", "/approval_mode", f"{message}, or remove the tool"
            )


def _lint_tokens(linted: _Tool) -> Findings:
    """Yield a tool that needs more tokens than the budget has."""
    budget, least = linted.policy.guard.budget, linted.tool.min_tokens or 0
    if budget is not None and least > budget.bucket_tokens:
        message = (
            f"min_tokens {least} is above guard.budget.bucket_tokens {budget.bucket_tokens}, so it "
            "can never be called: lower it, or raise the budget"
        )
        yield linted.report_finding("over_budget", "/min_tokens", message)


def _roles(linted: _Tool) -> Findings:
    """Yield an effect without roles, and arguments without a role among others with one."""
    tool = linted.tool
    if linted.policy.spec.provenance is None or linted.rank == 0:
        return
    if not tool.arg_roles and admits(linted.schema, _SOME_ARGUMENT):
        message = (
            "has effects and no arg_roles, so every value is judged as a recipient: "
            "say what its arguments are"
        )
        yield linted.report_finding("effect_without_roles", "", message)
    if not tool.arg_roles:
        return
    first = {segments(role)[:1] if role[:1] == "/" else (role,) for role in tool.arg_roles}
    for name in property_names(linted.schema):
        if (
            first.isdisjoint({(name,), ("*",)})
            and name not in (tool.bound_args or {})
            and not _is_flag(tool, name)
        ):
            message = f"{escape_name(name)} has no role, so its origin is not judged: give it one"
            yield linted.report_finding("argument_without_role", "/arg_roles", message)


def _shapes(linted: _Tool) -> Findings:
    """Yield roles at JSON pointers that miss an argument of another shape."""
    roles = linted.tool.arg_roles
    if not roles or linted.policy.spec.provenance is None or linted.rank == 0:
        return
    for missed in missed_roles(linted.schema, roles):
        path = pointer("arg_roles", missed.role)
        yield linted.report_finding("role_may_miss", path, missed.message)


def _is_flag(tool: PolicyTool, name: str) -> bool:
    """Return whether an argument holds only true, false or null, which have no source."""
    schema: Any = tool.args_schema
    for key in ("properties", name, "type"):
        schema = schema.get(key) if isinstance(schema, dict) else None
    kinds = schema if isinstance(schema, list) else [schema]
    return set(kinds) <= {"boolean", "null"}


def _arguments(linted: _Tool) -> Findings:
    """Yield arguments that the schema lacks."""
    tool = linted.tool
    named: list[tuple[tuple[str, ...], tuple[str, ...]]] = []
    named += [(("bound_args", name), (name,)) for name in tool.bound_args or ()]
    for field in ("arg_roles", "arg_kinds"):
        named += [((field, name), _place_of(name)) for name in getattr(tool, field) or ()]
    for index, name in enumerate(tool.may_be_empty or ()):
        named.append((("may_be_empty", str(index)), _place_of(name)))
    makes = (tool.result.makes if tool.result else None) or ()
    named += [(("result", "makes", name), (name,)) for name in makes if name[:1] != "/"]
    for index, demand in enumerate(tool.requires_evidence or ()):
        about = (demand.about if isinstance(demand, Demand) else None) or {}
        named += [(("requires_evidence", str(index), "about", name), (name,)) for name in about]
    for path, place in named:
        if not has_place(linted.schema, place):
            yield linted.report_finding(
                "unknown_argument", pointer(*path), _no_argument(linted, place)
            )
    schema = tool.args_schema if isinstance(tool.args_schema, dict) else {}
    for name in schema.get("required", ()):
        if not has_place(linted.schema, (name,)):
            message = _no_argument(linted, (name,))
            yield linted.report_finding("unknown_argument", "/args_schema/required", message)


def _place_of(name: str) -> tuple[str, ...]:
    return segments(name) if name.startswith("/") else (name,)


def _no_argument(linted: _Tool, place: tuple[str, ...]) -> str:
    name = "/".join(place)
    known = property_names(linted.schema)
    hint = guess_name(place[0], known) if len(place) == 1 else ""
    shown = f"{hint}its arguments are {show_names(known)}"
    return f"args_schema has no argument {escape_name(name)}: {shown}"


def _lint_evidence(linted: _Tool) -> Findings:
    """Yield classes that nothing yields or holds."""
    known = linted.known
    for path, name in _demanded_classes(linted.tool):
        if name not in known.yielded and name not in known.held:
            message = no_class(name, known.classes)
            yield linted.report_finding("unknown_class", pointer(*path), message)


def _demands(linted: _Tool) -> Findings:
    """Yield demands and bindings that none of the held contents can meet."""
    for index, demand in enumerate(linted.tool.requires_evidence or ()):
        if isinstance(demand, Demand) and _is_unmet(linted.known, demand):
            message = f"no evidence of class {demand.class_} meets the demand"
            yield linted.report_finding("unmeetable_demand", f"/requires_evidence/{index}", message)
    for name, binding in (linted.tool.bound_args or {}).items():
        if isinstance(binding, Binding) and _leads_nowhere(linted.known, binding):
            message = f"no evidence has a value at {', '.join(map(escape_name, binding.at or ()))}"
            yield linted.report_finding(
                "unmeetable_demand", pointer("bound_args", name, "at"), message
            )


def _bindings(linted: _Tool) -> Findings:
    """Yield bindings that name nothing, and pointers in which `*` is a key."""
    for name, binding in (linted.tool.bound_args or {}).items():
        path = pointer("bound_args", name)
        bound = binding if isinstance(binding, Binding) else Binding(from_=binding)
        if not bound.from_:
            message = f"no class may back {escape_name(name)}, so no value of it passes: name one"
            yield linted.report_finding("unmeetable_demand", path, message)
        elif bound.at == ():
            message = f"no place may back {escape_name(name)}, so no value of it passes: name one"
            yield linted.report_finding("unmeetable_demand", f"{path}/at", message)
    for index, demand in enumerate(linted.tool.requires_evidence or ()):
        about = (demand.about if isinstance(demand, Demand) else None) or {}
        for name, place in about.items():
            if "*" in segments(place):
                path = pointer("requires_evidence", index, "about", name)
                message = f"* in {escape_name(place)} is the key *, and no wildcard: name one place"
                yield linted.report_finding("star_is_a_key", path, message)


def _demanded_classes(tool: PolicyTool) -> Iterator[tuple[tuple[str, ...], str]]:
    for index, demand in enumerate(tool.requires_evidence or ()):
        named = demand.class_ if isinstance(demand, Demand) else demand
        yield ("requires_evidence", str(index)), named
    for argument, binding in (tool.bound_args or {}).items():
        for named in binding.from_ if isinstance(binding, Binding) else binding:
            yield ("bound_args", argument), named


def _held_contents(known: _Known, classes: tuple[str, ...]) -> list[Any] | None:
    """Return the contents of all evidence of these classes; None if tools yield more."""
    if not known.yielded.isdisjoint(classes):
        return None
    return [content for name in classes for content in known.held.get(name, ())] or None


def _is_unmet(known: _Known, demand: Demand) -> bool:
    contents = _held_contents(known, (demand.class_,))
    if contents is None or demand.content_schema is None:
        return False
    schema = compile_schema(demand.content_schema)
    return not any(content is not None and schema.is_valid(content) for content in contents)


def _leads_nowhere(known: _Known, binding: Binding) -> bool:
    contents = _held_contents(known, binding.from_)
    if contents is None or not binding.at:
        return False
    found = (values_at(content, at, wildcard=True) for content in contents for at in binding.at)
    return not any(any(True for _ in values) for values in found)


def _schemas(linted: _Tool) -> Findings:
    """Yield schemas that nothing satisfies, and misspelt keywords."""
    tool = linted.tool
    if tool.args_schema is not None:
        found = list(islice(lint_schema(tool.args_schema), MOST_FINDINGS))
        if not any(path == "" for _, path, _ in found) and not admits(tool.args_schema, _OBJECT):
            found.append(("unsatisfiable_schema", "", "no object satisfies it, and args are one"))
        for rule, path, message in found:
            yield linted.report_finding(rule, f"/args_schema{path}", f"args_schema: {message}")
    for index, demand in enumerate(tool.requires_evidence or ()):
        schema = demand.content_schema if isinstance(demand, Demand) else None
        for rule, path, message in lint_schema(schema) if schema is not None else ():
            place = f"/requires_evidence/{index}/content_schema{path}"
            yield linted.report_finding(rule, place, f"content_schema: {message}")


def _lint_session(linted: _Tool) -> Findings:
    """Yield settings without an effect: unknown tools, groups of one, results never fresh."""
    tool = linted.tool
    for index, followed in enumerate(tool.follows or ()):
        if (followed.adapter_id, followed.capability_id) not in linted.known.pairs:
            name = f"{followed.adapter_id}.{followed.capability_id}"
            message = f"follows {name}, which is not a tool of this policy: name one that is"
            yield linted.report_finding("unknown_tool", f"/follows/{index}", message)
    for index, group in enumerate(tool.bound_together or ()):
        if len(set(group)) < 2 and not _may_hold_many(linted, *group[:1]):
            message = "a group of one is bound together with nothing: add another argument"
            yield linted.report_finding("group_of_one", f"/bound_together/{index}", message)
    if tool.expires_after_s == 0:
        message = "its results are never fresh: give them some seconds, or remove it"
        yield linted.report_finding("never_fresh", "/expires_after_s", message)


def _may_hold_many(linted: _Tool, *names: str) -> bool:
    """Return whether an argument may be an array or an object, which one item must back whole."""
    many = {name: {"type": ["array", "object"]} for name in names}
    wanted = {"type": "object", "required": list(many), "properties": many}
    return bool(names) and admits(linted.schema, wanted)


def _origins(linted: _Tool) -> Findings:
    """Yield results that count as the user's words, or as the operator's instructions."""
    result = linted.tool.result
    if result is not None and result.author in ("user", "operator"):
        message = (
            f"what it returns counts as words of the {result.author}, who may ask for anything: "
            "write system, member or public"
        )
        yield linted.report_finding("trusted_result", "/result/author", message)


_RULES: Final[tuple[Callable[[_Tool], Findings], ...]] = (
    *(_mode, _lint_tokens, _roles, _lint_evidence, _bindings),
    *(_schemas, _lint_session, _origins),
)
_DEAR_RULES: Final = (_shapes, _arguments, _demands)
"""Those that ask a schema about each name, or each content about each demand."""


def _cost_of_contents(linted: _Tool) -> int:
    """Estimate how many values in contents the demands of a tool visit."""
    cost = 0
    for demand in linted.tool.requires_evidence or ():
        if isinstance(demand, Demand) and demand.content_schema is not None:
            cost += 10 * len(_held_contents(linted.known, (demand.class_,)) or ())
    for binding in (linted.tool.bound_args or {}).values():
        if isinstance(binding, Binding) and binding.at:
            held = _held_contents(linted.known, binding.from_) or ()
            cost += 10 * len(binding.at) * len(held)
    return cost


def _lint_spec(policy: Policy, classes: Sequence[str]) -> Findings:
    """Yield ineffective parts of the spec and of the settings of the guard.

    Args:
        classes: the classes that something yields or holds, in order.
    """
    known = frozenset(classes)
    spec, safety = policy.spec, policy.guard.safety_mode
    for name, mode in (
        ("approval_mode", spec.approval_mode),
        ("approval_required_from", spec.approval_required_from),
    ):
        if mode is not None and MODE_RANK[mode] > MODE_RANK[safety]:
            message = f"{name} {mode} is above guard.safety_mode {safety}, so it has no effect"
            text = f"{message}: lower it, or remove it"
            is_latent = name == "approval_required_from"  # whoever lowers the ceiling opens nothing
            yield LintFinding("mode_above_safety_mode", f"/spec/{name}", text, is_latent)
    for name, named in (
        ("required_evidence", spec.required_evidence),
        ("confined_evidence", spec.confined_evidence),
    ):
        for index, wanted in enumerate(named or ()):
            if wanted not in known:
                place = f"/spec/{name}/{index}"
                yield LintFinding("unknown_class", place, f"{name}: {no_class(wanted, classes)}")
    yield from _lint_outputs(policy)
    yield from _lint_budget(policy)
    for name, schema in (spec.output_schemas or {}).items():
        for rule, path, message in lint_schema(schema):
            place = f"/spec/output_schemas/{name}{path}"
            yield LintFinding(rule, place, f"schema of output {name}: {message}")


def _lint_outputs(policy: Policy) -> Findings:
    produced = {output for tool in policy.tool for output in tool.produces or ()}
    names = sorted(produced)
    for index, output in enumerate(policy.spec.required_outputs):
        if output not in produced:
            hint = guess_name(output, names)
            message = f"no tool lists {output} in produces: {hint}add it to the tool that makes it"
            yield LintFinding("unproduced_output", f"/spec/required_outputs/{index}", message)


def _lint_budget(policy: Policy) -> Findings:
    if policy.guard.budget is not None and policy.guard.budget.max_steps == 0:
        message = "max_steps is 0, so no plan with a step passes: raise it, or remove it"
        yield LintFinding("empty_budget", "/guard/budget/max_steps", message)
