"""Find evidence that proves nothing: written by the call, about something else, or outdated."""

from typing import Final

from critic import Binding, Demand
from evals.escaping import escape_name, pointer
from evals.json_schemas import compile_schema
from harness.policy.analysis.label_lint import are_twins
from harness.policy.analysis.lint_effort import TOO_MUCH, LintEffort
from harness.policy.analysis.lint_finding import Findings, LintFinding, show_names
from harness.policy.analysis.policy_facts import AIMED_ROLES, PolicyFacts, ToolFacts
from harness.policy.schema_lint import admits, property_names

_MOST_NAMED: Final = 9


_READERS: Final = frozenset(
    {"classify", "extract", "llm", "parse", "reader", "summarise", "summarize", "translate"}
)
"""Words in the names of tools that make what they return from what they are given."""


def lint_evidence(facts: PolicyFacts, effort: LintEffort) -> Findings:
    """Yield the findings about demands, bindings and the classes that they name."""
    for one in facts.tools:
        if not effort.allows(10 * len(one.needed_classes)):
            yield one.report_finding("not_linted", "", TOO_MUCH)
            continue
        yield from _own_evidence(facts, one)
        yield from _reader(facts, one)
        yield from _optional_bindings(one)
        yield from _apart(one)
        for index, demand in one.demands():
            yield from _says_nothing(facts, one, index, demand)
            yield from _about_nothing(facts, one, index, demand)
    yield from _never_expires(facts)
    yield from _lint_unused(facts)


def _own_evidence(facts: PolicyFacts, one: ToolFacts) -> Findings:
    """Yield each effect whose own result backs its next call, or a call of its twin."""
    yields = one.tool.yields
    if yields is None or one.rank == 0:
        return
    for other in facts.needing.get(yields, ()):
        if other.rank > 0 and (other is one or are_twins(one, other)):
            whose = "its own next call" if other is one else other.tool.called
            message = (
                f"its result is {yields}, which backs {whose}, so one call proves the next: yield "
                "another class"
            )
            yield one.report_finding("own_evidence", "/yields", message)
            return


def _reader(facts: PolicyFacts, one: ToolFacts) -> Findings:
    """Yield each tool that makes its result from its arguments, and does not say so."""
    result = one.tool.result
    if facts.policy.spec.late is None or one.rank > 0 or (result is not None and result.derived):
        return
    if any(_READERS & {*words} for words in one.names):
        message = (
            "its name says that it makes what it returns from its arguments: a late value of it is "
            "judged by where else it stands only with derived = true in its result"
        )
        yield one.report_finding("reader_not_derived", "/result", message)


def _optional_bindings(one: ToolFacts) -> Findings:
    """Yield each binding of a target or a required argument that a call may omit."""
    for name, binding in one.bindings():
        needed = name in one.shapes.required or one.tool.args_schema is None
        if binding.optional and one.rank > 0 and (needed or one.roles.get(name) in AIMED_ROLES):
            message = (
                f"the binding of {escape_name(name)} is optional, so a call without a value of it "
                "passes unbacked: remove optional"
            )
            yield one.report_finding("bound_optional", pointer("bound_args", name), message)


def _apart(one: ToolFacts) -> Findings:
    """Yield arguments that are bound to one class but may be backed by two items of it."""
    groups = [frozenset(group) for group in one.tool.bound_together or ()]
    bound = dict(one.bindings())
    for class_ in dict.fromkeys(name for binding in bound.values() for name in binding.from_):
        names = [name for name, binding in bound.items() if class_ in binding.from_]
        if len(names) > 1 and not any(group.issuperset(names) for group in groups):
            if _are_of_one_place([bound[name] for name in names]):
                continue
            group = ", ".join(f'"{escape_name(name)}"' for name in names[:_MOST_NAMED])
            message = (
                f"{show_names(names)} may come from different items of {class_}: write "
                f"bound_together = [[{group}]]"
            )
            yield one.report_finding("bound_apart", "/bound_args", message)
            return


def _are_of_one_place(bindings: list[Binding]) -> bool:
    """Return whether all are read from one place, so that different values need different items."""
    return bindings[0].at is not None and all(one.at == bindings[0].at for one in bindings)


def _says_nothing(facts: PolicyFacts, one: ToolFacts, index: int, demand: Demand) -> Findings:
    """Yield each demand that an item without the demanded content meets."""
    schema = demand.content_schema
    if not isinstance(schema, dict):
        return
    table = facts.classes.get(demand.class_)
    shape = table.schema_ if table is not None and table.schema_ is not None else True
    sure = shape.get("required", ()) if isinstance(shape, dict) else ()
    lacking = [
        name
        for name in property_names(schema)
        if name not in sure
        and name not in (schema.get("required") or ())
        and _may_lack(schema, name)
    ]
    path = f"/requires_evidence/{index}/content_schema"
    if lacking:
        message = (
            f"evidence of {demand.class_} that has no {escape_name(lacking[0])} meets the demand: "
            "add it to required"
        )
        yield one.report_finding("demand_without_required", path, message)
    elif not demand.about and _takes_text(schema) and admits(shape, {"type": "string"}):
        message = (
            f"evidence of {demand.class_} that is not an object, such as any text, meets the "
            'demand: add type = "object"'
        )
        yield one.report_finding("demand_without_required", path, message)


def _takes_text(schema: dict[str, object]) -> bool:
    """Return whether a text satisfies a schema that is meant for objects."""
    return bool(property_names(schema)) and compile_schema(schema).is_valid("")


def _may_lack(schema: dict[str, object], name: str) -> bool:
    return admits(schema, {"type": "object", "not": {"required": [name]}})


def _about_nothing(facts: PolicyFacts, one: ToolFacts, index: int, demand: Demand) -> Findings:
    """Yield each demand that evidence about anything else meets."""
    aimed = [name for name, role in one.roles.items() if role in AIMED_ROLES] or _required_names(
        one
    )
    sources = facts.yielding.get(demand.class_, ())
    if demand.about or not aimed or not any(_is_about_something(source) for source in sources):
        return
    if any(demand.class_ in binding.from_ for _, binding in one.bindings()):
        return
    message = (
        f"any {demand.class_} is accepted, even for another {escape_name(aimed[0])}: write "
        f'about = {{ {escape_name(aimed[0])} = "/..." }}'
    )
    yield one.report_finding("demand_about_nothing", f"/requires_evidence/{index}", message)


def _required_names(one: ToolFacts) -> list[str]:
    return [] if one.roles else [name for name in one.shapes.names if name in one.shapes.required]


def _is_about_something(source: ToolFacts) -> bool:
    return "locator" in source.roles.values() or bool(source.shapes.required)


def _never_expires(facts: PolicyFacts) -> Findings:
    """Yield results that back calls for a whole session."""
    for class_, sources in facts.yielding.items():
        needing = facts.needing.get(class_)
        table = facts.classes.get(class_)
        if not needing or (table is not None and table.fresh_s is not None):
            continue
        for one in sources:
            if one.tool.expires_after_s is None:
                message = (
                    f"its {class_} backs {needing[0].tool.called} as long as a session lasts: "
                    "write expires_after_s, or fresh_s for the class"
                )
                yield one.report_finding("evidence_never_expires", "", message)


def _lint_unused(facts: PolicyFacts) -> Findings:
    """Yield classes that no tool needs, that are not confined and declare no fields."""
    spec = facts.policy.spec
    used = {*facts.needing, *(spec.required_evidence or ()), *(spec.confined_evidence or ())}
    for one in facts.tools:
        name = one.tool.yields
        table = facts.classes.get(name or "")
        if name is not None and name not in used and (table is None or not table.fields):
            message = f"nothing demands, binds or confines {name}: remove it, or demand it"
            yield one.report_finding("class_unused", "/yields", message)
            used.add(name)


def lint_classes(facts: PolicyFacts) -> Findings:
    """Yield the classes without a schema: their results are not validated."""
    shaped = {name for name, one in facts.classes.items() if one.schema_ is not None}
    if named := [name for name in facts.needing if name not in shaped]:
        path, what = _first_place(facts, named[0]), show_names(named)
        message = f"any content counts as {what}: write a [[class]] with its schema"
        yield LintFinding("class_without_schema", path, message)


def _first_place(facts: PolicyFacts, name: str) -> str:
    if name in facts.classes:
        return f"/class/{list(facts.classes).index(name)}"
    return facts.needing[name][0].path
