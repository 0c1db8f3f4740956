"""Find what the schemas of tools with effects leave open: arguments, shapes, limits, patterns."""

from typing import Any, Final

from critic import MODE_RANK
from evals.escaping import escape_name, pointer
from harness.policy.analysis.argument_shapes import is_anchored
from harness.policy.analysis.lint_effort import TOO_MUCH, LintEffort
from harness.policy.analysis.lint_finding import Findings
from harness.policy.analysis.policy_facts import AIMED_ROLES, PolicyFacts, ToolFacts

_NETWORK: Final = MODE_RANK["network"]
_DELEGATED: Final = MODE_RANK["delegated"]
_NAMED: Final = AIMED_ROLES | {"secret"}
_OF_NUMBERS: Final = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_OF_TEXTS: Final = ("minLength", "maxLength", "pattern")
_BOUNDS_OF_TEXTS: Final = frozenset({"pattern", "format", "enum", "const"})


def lint_arguments(facts: PolicyFacts, effort: LintEffort) -> Findings:
    """Yield the findings about the arguments of tools with effects."""
    for one in facts.effects:
        yield from _open_arguments(facts, one)
        if not effort.allows(one.shapes.cost):
            yield one.report_finding("not_linted", "", TOO_MUCH)
            continue
        yield from _optional_targets(one)
        for name in one.shapes.names:
            yield from _shape(one, name)
            yield from _limits(one, name)
            yield from _patterns(one, name)


def _open_arguments(facts: PolicyFacts, one: ToolFacts) -> Findings:
    """Yield each tool whose calls may have arguments that nothing judges."""
    roles = one.tool.arg_roles or {}
    if _judges_all(facts, one) or not one.shapes.is_open:
        return
    if one.rank < _NETWORK and _NAMED.isdisjoint(roles.values()):
        return
    path = "" if one.tool.args_schema is None else "/args_schema"
    what = "args_schema" if path else "no args_schema, so"
    message = (
        f"{what} lets a call have any other argument, and no role or schema judges it: "
        "write additionalProperties = false" + ("" if path else " in an args_schema")
    )
    yield one.report_finding("arguments_open", path, message)


def _judges_all(facts: PolicyFacts, one: ToolFacts) -> bool:
    """Return whether every value of a call has a role: by `/*`, or as a recipient without roles."""
    roles = one.tool.arg_roles or {}
    return facts.provenance is not None and (not roles or "/*" in roles)


def _optional_targets(one: ToolFacts) -> Findings:
    """Yield each target that a call may omit, so that the tool chooses it."""
    if one.rank < _NETWORK or one.tool.args_schema is None or "locator" in one.roles.values():
        return
    allowed = {*(one.tool.may_be_empty or ()), *(name for name, _ in _bound_names(one))}
    lacking = [name for name in one.shapes.names if name not in one.shapes.required]
    targets = {name: role for name, role in one.roles.items() if role in AIMED_ROLES}
    for role in ("recipient", "object"):
        named = [name for name, own in targets.items() if own == role]
        left = [name for name in named if name in lacking and name not in allowed]
        others = {*targets} - {*lacking} if role == "object" else {*named} - {*lacking}
        if left and (not others or (role == "object" and one.rank >= _DELEGATED)):
            message = (
                f"a call may leave out {escape_name(left[0])}, and the tool then chooses it: add "
                "it to required"
            )
            yield one.report_finding("target_optional", "/args_schema", message)


def _bound_names(one: ToolFacts) -> list[tuple[str, Any]]:
    return [(name, bound) for name, bound in one.bindings() if not bound.optional]


def _shape(one: ToolFacts, name: str) -> Findings:
    """Yield each target that may be an object with any members."""
    if one.roles.get(name) not in _NAMED or "object" not in one.shapes.types_of(name):
        return
    if any(_is_described(schema) for schema in one.shapes.schemas_of(name)):
        return
    message = (
        f"{escape_name(name)} may be an object of any members: write a type for it, such as "
        '"string", or its properties with additionalProperties = false'
    )
    yield one.report_finding("target_of_any_shape", _place(name), message)


def _is_described(schema: dict[str, Any]) -> bool:
    closed = schema.get("additionalProperties", schema.get("unevaluatedProperties"))
    return closed is not None and closed is not True


def _limits(one: ToolFacts, name: str) -> Findings:
    """Yield each limit that a value of another type passes."""
    schemas = one.shapes.schemas_of(name)
    types = one.shapes.types_of(name)
    for keywords, own, other in ((_OF_NUMBERS, "number", '"9999"'), (_OF_TEXTS, "string", "9999")):
        found = [keyword for schema in schemas for keyword in keywords if keyword in schema]
        wrong = "string" if own == "number" else "number"
        if not found or wrong not in types:
            continue
        is_named = _judges_type(schemas, wrong)
        if not is_named or (wrong == "string" and not _bounds_text(schemas)):
            what = "may be text" if is_named else "no type"
            message = (
                f"{escape_name(name)} has a {found[0]} and {what}, so {other} passes: "
                f'write type = "{own}"'
            )
            yield one.report_finding("limit_without_type", _place(name), message)


def _judges_type(schemas: list[dict[str, Any]], kind: str) -> bool:
    """Return whether a type is allowed on purpose: it is named, or has its own limits."""
    named = [schema["type"] for schema in schemas if "type" in schema]
    kinds = {kind} if kind == "string" else {"number", "integer"}
    return any(not kinds.isdisjoint(one if isinstance(one, list) else [one]) for one in named)


def _bounds_text(schemas: list[dict[str, Any]]) -> bool:
    """Return whether a text has limits of its own, besides those of a number."""
    return any(not _BOUNDS_OF_TEXTS.isdisjoint(schema) for schema in schemas)


def _patterns(one: ToolFacts, name: str) -> Findings:
    """Yield each pattern of a judged value that allows any text around it."""
    if one.roles.get(name, "content") == "content":
        return
    for schema in one.shapes.schemas_of(name):
        pattern = schema.get("pattern")
        if isinstance(pattern, str) and not is_anchored(pattern):
            message = (
                f"the pattern of {escape_name(name)} is not for the whole text, so anything may "
                "stand around what it finds: begin it with ^ and end it with $"
            )
            yield one.report_finding("pattern_unanchored", _place(name), message)
            return


def _place(name: str) -> str:
    return pointer("args_schema", "properties", name)


def lint_amounts(facts: PolicyFacts, effort: LintEffort) -> Findings:
    """Yield each unlimited amount of a tool at `delegated` or above."""
    for one in facts.effects:
        bound = {name for name, _ in one.bindings()}
        if one.rank < _DELEGATED or not effort.allows(one.shapes.cost):
            continue
        for name in one.shapes.names:
            if one.roles.get(name) != "attribute" or name in bound:
                continue
            if "number" in one.shapes.types_of(name) and not _has_maximum(one, name):
                message = f"{escape_name(name)} has no maximum: write one, or bind it to evidence"
                yield one.report_finding("amount_unlimited", _place(name), message)


_MAXIMA: Final = frozenset({"maximum", "exclusiveMaximum", "enum", "const"})


def _has_maximum(one: ToolFacts, name: str) -> bool:
    return any(not _MAXIMA.isdisjoint(schema) for schema in one.shapes.schemas_of(name))
