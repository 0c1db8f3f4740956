"""Find where a policy and the tools of an agent have drifted apart.

A policy may be narrower than the code, by its own limit or pattern: that is not drift. Drift is a
tool, argument, type or choice that one side lacks, and a label in code that the policy loosens.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from critic import MODE_RANK
from critic.labels import ToolLabels
from evals.capability import Author, Role
from evals.escaping import escape_name, pointer
from evals.pointers import segments
from harness.policy.analysis.derive_tools import ToolDraft
from harness.policy.analysis.lint_finding import Findings, LintFinding, guess_name
from harness.policy.envelopes import Policy, PolicyTool
from harness.policy.schema_lint import admits, has_place, property_names

_TYPES: Final[Mapping[str, Mapping[str, Any]]] = {
    "a string": {"type": "string"},
    "a number": {"type": "number"},
    "a boolean": {"type": "boolean"},
    "null": {"type": "null"},
    "an array": {"type": "array"},
    "an object": {"type": "object"},
}
_TRUST: Final[Mapping[Author, int]] = {
    "public": 0,
    "member": 1,
    "system": 2,
    "operator": 3,
    "user": 4,
}
"""How much is made of what an author writes."""
_STRENGTH: Final[Mapping[Role | None, int]] = {
    "recipient": 4,
    "object": 4,
    "secret": 4,
    "locator": 3,
    "code": 3,
    "time": 2,
    "attribute": 2,
    "content": 1,
    None: 0,
}
"""How strictly the value of an argument is judged in a role."""


def find_drift(policy: Policy, drafts: Iterable[ToolDraft], shown: str) -> tuple[LintFinding, ...]:
    """Return a finding `drift` for each tool, argument, type and choice that one side lacks.

    Args:
        drafts: the tools of the agent. If its arguments are unknown, only the name is compared.
        shown: the name of the agent; safe to print.
    """
    known = {draft.capability_id: draft for draft in drafts}
    return tuple(_drift(policy, known, shown))


def _drift(policy: Policy, known: Mapping[str, ToolDraft], shown: str) -> Findings:
    for index, tool in enumerate(policy.tool):
        path, draft = f"/tool/{index}", known.get(tool.called)
        if draft is None:
            hint = guess_name(tool.called, sorted(known))
            message = f"{shown} has no such tool: {hint}rename it, or remove it"
            yield LintFinding("drift", path, f"tool {tool.called}: {message}")
            continue
        found = [*_drift_of_labels(tool, draft.labels or ToolLabels())]
        if draft.args_schema is not None:
            found += _drift_of_arguments(tool, draft.args_schema)
        for place, message in found:
            yield LintFinding("drift", f"{path}{place}", f"tool {tool.called}: {message}")
    for name in sorted(known.keys() - policy.tools.keys()):
        message = f"{shown} has it and the policy does not, so each call of it is refused: add it"
        yield LintFinding("drift", "", f"tool {name}: {message}")


def _drift_of_labels(tool: PolicyTool, labels: ToolLabels) -> Iterator[tuple[str, str]]:
    """Yield the place and the message of each label in code that a policy loosens."""
    tier, result = labels.tier, tool.result
    if tier is not None and MODE_RANK[tool.approval_mode] < MODE_RANK[tier]:
        yield "/approval_mode", _word_loosened(tool.approval_mode, tier)
    if labels.author and result and _TRUST[result.author] > _TRUST[labels.author]:
        yield "/result/author", _word_loosened(result.author, labels.author)
    if labels.yields and tool.yields not in (None, labels.yields):
        yield "/yields", _word_loosened(str(tool.yields), labels.yields)
    for name, role in labels.roles:
        given = (tool.arg_roles or {}).get(name)
        if _STRENGTH[given] < _STRENGTH[role]:
            place = pointer("arg_roles", name) if given else "/arg_roles"
            yield place, f"{escape_name(name)}: {_word_loosened(given or 'without a role', role)}"


def _word_loosened(given: str, said: str) -> str:
    shown = escape_name(given)
    return f"its code says {escape_name(said)}, and {shown} here is laxer: write what the code says"


def _drift_of_arguments(tool: PolicyTool, code: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the place and the message of each argument that one side lacks or types differently."""
    schema: Any = True if tool.args_schema is None else tool.args_schema
    taken = property_names(code)
    for place, name in _named_arguments(tool):
        if not has_place(code, (name,)):
            hint = guess_name(name, sorted(taken))
            yield place, f"its code takes no {escape_name(name)}: {hint}remove it"
    for name in taken:
        shown = escape_name(name)
        if not has_place(schema, (name,)):
            yield "/args_schema", f"its code takes {shown} too, and args_schema refuses it: add it"
            continue
        if missing := [*_missing_types(schema, code, name), *_missing_choices(schema, code, name)]:
            more = f"its code takes {', '.join(missing)} for {shown}, and args_schema refuses it"
            yield "/args_schema", f"{more}: allow it, or narrow the code"
        if _requires(schema, name) and not _requires(code, name):
            message = f"its code can be called without {shown}, and args_schema requires it"
            yield "/args_schema", f"{message}: make it optional, or narrow the code"


def _named_arguments(tool: PolicyTool) -> Iterator[tuple[str, str]]:
    """Yield each argument that a policy names, once, with its place."""
    named: dict[str, str] = {}
    for name in property_names(True if tool.args_schema is None else tool.args_schema):
        named.setdefault(name, pointer("args_schema", "properties", name))
    for field in ("arg_roles", "arg_kinds", "bound_args"):
        for key in getattr(tool, field) or ():
            first = segments(key)[0] if key[:1] == "/" and key != "/" else key
            if first != "*":
                named.setdefault(first, pointer(field, key))
    yield from ((place, name) for name, place in named.items())


def _missing_types(schema: Any, code: Any, name: str) -> Iterator[str]:
    for shown, one in _TYPES.items():
        value = {"type": "object", "required": [name], "properties": {name: one}}
        if admits(code, value) and not admits(schema, value):
            yield shown


def _missing_choices(schema: Any, code: dict[str, Any], name: str) -> Iterator[str]:
    """Yield the values of an enumeration of the code that a policy refuses."""
    part = code.get("properties", {}).get(name)
    own = schema.get("properties", {}).get(name) if isinstance(schema, dict) else None
    if not isinstance(part, dict) or not isinstance(own, dict) or "enum" not in own:
        return
    choices = part.get("enum")
    for one in choices if isinstance(choices, list) else ():
        if one not in own["enum"]:
            yield escape_name(str(one))


def _requires(schema: Any, name: str) -> bool:
    """Return whether no call without an argument satisfies a schema."""
    return not admits(schema, {"type": "object", "properties": {name: False}})
