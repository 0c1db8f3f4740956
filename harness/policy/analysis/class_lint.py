"""Compare the demands of tools on evidence with the schema of its class.

It reports only what the schemas prove to be impossible.
"""

from collections.abc import Iterator
from typing import Any, Final

from critic import Binding, Demand
from evals.escaping import escape_name, pointer
from evals.json_schemas import compile_schema
from evals.pointers import segments
from evals.schema_budget import json_values
from harness.policy.analysis.lint_effort import TOO_MUCH, LintEffort
from harness.policy.analysis.lint_finding import Findings, LintFinding, guess_name, show_names
from harness.policy.analysis.pattern_sets import never_both
from harness.policy.analysis.policy_facts import PolicyFacts, ToolFacts
from harness.policy.analysis.role_lint import schema_with_value
from harness.policy.envelopes import PolicyClass
from harness.policy.schema_lint import admits, has_place, property_names
from harness.policy.schema_parts import AnySchema, SchemaParts

_SCALAR: Final = {"type": ["string", "number", "boolean"]}
_SCALARS: Final = frozenset({"string", "number", "boolean", "null"})
_OF_QUESTION: Final = 100


def lint_shapes(facts: PolicyFacts, effort: LintEffort) -> Findings:
    """Yield the findings about demands, bindings and evidence that do not fit their class."""
    yield from _closed_world(facts)
    yield from _misshapen_evidence(facts, effort)
    for one in facts.tools:
        if not effort.allows(_cost_of(facts, one)):
            yield one.report_finding("not_linted", "", TOO_MUCH)
            continue
        for name, binding in one.bindings():
            yield from _lint_binding(facts, one, name, binding)
        for index, demand in one.demands():
            yield from _demand(facts, one, index, demand)


def _cost_of(facts: PolicyFacts, one: ToolFacts) -> int:
    """Estimate the cost of looking for each place in each class."""
    cost = 0
    for _, binding in one.bindings():
        sizes = (_size_of(facts, name) for name in binding.from_)
        cost += 2 * len(binding.at or ()) * sum(sizes)
    for _, demand in one.demands():
        if size := _size_of(facts, demand.class_):
            own = json_values(demand.content_schema)
            cost += (3 + 2 * len(demand.about or ()) + own) * (size + own)
    return cost


def _size_of(facts: PolicyFacts, name: str) -> int:
    table = facts.classes.get(name)
    if table is None or table.schema_ is None:
        return 0
    return _OF_QUESTION + json_values(table.schema_)


def _shape_of(facts: PolicyFacts, name: str) -> AnySchema:
    """Return the schema of a class; true where it has none."""
    table = facts.classes.get(name)
    return True if table is None or table.schema_ is None else table.schema_


def _closed_world(facts: PolicyFacts) -> Findings:
    """Yield each class without a table, if any class has one."""
    if not facts.classes:
        return
    tables = sorted(facts.classes)
    seen: set[str] = set()
    for path, name in _named_classes(facts):
        if name not in facts.classes and name not in seen:
            seen.add(name)
            message = (
                f"{name} has no [[class]], and other classes have one: "
                f"{guess_name(name, tables)}add it, or correct the name"
            )
            yield LintFinding("unknown_class", path, message)


def _named_classes(facts: PolicyFacts) -> Iterator[tuple[str, str]]:
    """Yield each class that is yielded, held or demanded, with its place.

    Another rule finds the ones that nothing yields or holds.
    """
    for one in facts.tools:
        if one.tool.yields is not None:
            yield f"{one.path}/yields", one.tool.yields
    for index, item in enumerate(facts.policy.evidence):
        yield f"/evidence/{index}/classification", item.classification


def _misshapen_evidence(facts: PolicyFacts, effort: LintEffort) -> Findings:
    for index, item in enumerate(facts.policy.evidence):
        shape = _shape_of(facts, item.classification)
        if shape is True or not effort.allows(10 * json_values(item.content)):
            continue
        if not compile_schema(shape).is_valid(item.content):
            message = (
                f"evidence {escape_name(item.id)} does not satisfy the schema of its class "
                f"{item.classification}: correct one of them"
            )
            yield LintFinding("evidence_misses_schema", f"/evidence/{index}/content", message)


def _lint_binding(facts: PolicyFacts, one: ToolFacts, name: str, binding: Binding) -> Findings:
    path = pointer("bound_args", name)
    for class_ in binding.from_:
        shape = _shape_of(facts, class_)
        if shape is True:
            continue
        for at in binding.at or ():
            yield from _place(one, f"{path}/at", (class_, shape, at))
            yield from _equality(one, f"{path}/at", name, (class_, shape, at))


def _demand(facts: PolicyFacts, one: ToolFacts, index: int, demand: Demand) -> Findings:
    shape, path = _shape_of(facts, demand.class_), f"/requires_evidence/{index}"
    for name, at in (demand.about or {}).items() if shape is not True else ():
        where = f"{path}{pointer('about', name)}"
        yield from _place(one, where, (demand.class_, shape, at), may_hold_many=True)
        yield from _equality(one, where, name, (demand.class_, shape, at))
    if demand.content_schema is not None:
        yield from _content(one, f"{path}/content_schema", demand, shape)


def _place(
    one: ToolFacts, path: str, of: tuple[str, AnySchema, str], *, may_hold_many: bool = False
) -> Findings:
    """Yield each place that no item of a class has, or that holds no scalar."""
    class_, shape, at = of
    place = segments(at)
    wanted = _SCALAR if not may_hold_many else {"type": [*_SCALAR["type"], "array"]}
    if not has_place(shape, place):
        message = f"{_nowhere(class_, shape, at)}: correct the pointer, or the schema"
        yield one.report_finding("pointer_leads_nowhere", path, message)
    elif place and not admits(shape, schema_with_value(place, wanted)):
        message = (
            f"what {class_} has at {escape_name(at)} is not a text, number or boolean, so no "
            "value equals it: name a place below it"
        )
        yield one.report_finding("pointer_leads_nowhere", path, message)


def _nowhere(class_: str, shape: AnySchema, at: str) -> str:
    names = property_names(shape)
    hint = guess_name(segments(at)[0], names) if segments(at) else ""
    return f"{class_} has nothing at {escape_name(at)}: {hint}its members are {show_names(names)}"


def _equality(one: ToolFacts, path: str, name: str, of: tuple[str, AnySchema, str]) -> Findings:
    """Yield each argument that no value at its place can equal."""
    class_, shape, at = of
    mine, others = _only_part(one.shapes.schema, (name,)), _only_part(shape, segments(at))
    if mine is None or others is None or not one.shapes.types_of(name) <= _SCALARS:
        return
    if not admits(mine, others) or _differ(mine, others):
        message = (
            f"no value of {escape_name(name)} by args_schema is one that {class_} has at "
            f"{escape_name(at)}: make both schemas the same"
        )
        yield one.report_finding("never_equal", path, message)


def _differ(mine: dict[str, Any], others: dict[str, Any]) -> bool:
    """Return whether both are texts, and no text matches both patterns."""
    patterns = [one.get("pattern") for one in (mine, others) if one.get("type") == "string"]
    first, second = (*patterns, None, None)[:2]
    return isinstance(first, str) and isinstance(second, str) and never_both(first, second)


def _only_part(schema: AnySchema, place: tuple[str, ...]) -> dict[str, Any] | None:
    """Return the schema at a place, if it is the only one and has no references."""
    parts, level = SchemaParts(schema), [schema]
    for part in place:
        if any(len(parts.same_schemas([one])) > 1 for one in level):
            return None
        level = parts.schemas_below(level, part)
    if len(level) != 1 or not isinstance(level[0], dict):
        return None
    return level[0] if len(parts.same_schemas(level)) == 1 else None


def _content(one: ToolFacts, path: str, demand: Demand, shape: AnySchema) -> Findings:
    """Yield each demand that no item of its class meets, or that every item meets."""
    schema = demand.content_schema
    names = property_names(schema)
    lost = [name for name in names if shape is not True and not has_place(shape, (name,))]
    if lost:
        message = f"{_nowhere(demand.class_, shape, pointer(lost[0]))}: correct one of them"
        yield one.report_finding("pointer_leads_nowhere", path, message)
    elif shape is not True and admits(schema, True) and not admits(shape, schema):
        message = (
            f"no {demand.class_} can meet the demand on {show_names(names)}: compare it with "
            "the schema of the class, such as true with a boolean"
        )
        yield one.report_finding("constant_never", path, message)
    elif (names or not demand.about) and not admits(shape, {"not": schema}):
        message = (
            f"every {demand.class_} meets the demand, so it asks for nothing: write what the "
            "evidence must say, such as a const"
        )
        yield one.report_finding("demand_says_nothing", path, message)


def lint_example(one: PolicyClass, path: str) -> Findings:
    """Yield each example that does not satisfy the schema of its class."""
    if one.example is None or one.schema_ is None:
        return
    if not compile_schema(one.schema_).is_valid(one.example):
        message = f"class {one.name}: the example does not satisfy the schema: correct one of them"
        yield LintFinding("example_misses_schema", f"{path}/example", message)
