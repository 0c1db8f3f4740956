"""The closed set of edits that are proposed, and what each changes in a policy. Pure.

An edit is a short list of changes at places of the policy as JSON. What judges a task and what
writes a patch both go by that list, so that they cannot differ.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, Literal, NamedTuple, get_args

from critic.session.session_rules import is_default_class
from evals.pointers import segments
from harness.errors import HarnessError
from harness.policy.envelopes import Policy
from harness.wire import build

Json = dict[str, Any]

EditKind = Literal[
    "open",
    "fields",
    "scope",
    "makes",
    "locator",
    "fresh",
    "object",
    "member",
    "follows",
    "empty",
    "names",
    "system",
    "role",
    "tier",
]
"""What may be proposed, in the order in which it is: what opens least first."""
EDIT_ORDER: Final = {kind: at for at, kind in enumerate(get_args(EditKind))}
_NEED_A_WORD: Final = frozenset[EditKind]({"open", "empty", "names", "system", "role", "tier"})

Place = tuple[str | int, ...]


class PolicyEdit(NamedTuple):
    """One edit of a policy.

    Attributes:
        tool: the name that agents call it by.
        place: an argument, or a JSON pointer into a result; "" where the tool as a whole is meant.
        value: a role, a tier, an author, a kind, who fills a field, seconds, another tool, or the
            arguments that may be left out.
    """

    kind: EditKind
    tool: str
    place: str = ""
    value: str = ""

    @property
    def needs_word(self) -> bool:
        """Whether a person has to say yes to just this: it trusts more than a record shows."""
        return self.kind in _NEED_A_WORD


class SetValue(NamedTuple):
    """A value that is set at a place of a policy, or `added` to the list there."""

    place: Place
    value: Any
    added: bool = False


Changes = Iterator[SetValue]


class UnfitEdit(HarnessError, ValueError):
    """The policy lacks what an edit is about."""


def apply_edits(policy: Policy, edits: Iterable[PolicyEdit]) -> Policy:
    """Return the policy with edits.

    Raises:
        UnfitEdit: it lacks what one is about.
        InvalidInput: what comes of it is not a policy.
    """
    return build(Policy, edited_wire(policy.wire(), edits))


def edited_wire(wire: Json, edits: Iterable[PolicyEdit]) -> Json:
    """Return a policy as JSON with edits. The one that is given does not change."""
    for edit in edits:
        for change in changes_of(wire, edit):
            wire = make_change(wire, change)
    return wire


def make_change(value: Any, change: SetValue) -> Any:
    """Return a JSON value with a change; what is missing on the way is made."""
    if not change.place:
        return [*(value or ()), change.value] if change.added else change.value
    first, rest = change.place[0], change._replace(place=change.place[1:])
    if isinstance(first, int):
        inner = list(value or ())
        inner[first] = make_change(inner[first], rest)
        return inner
    known = value or {}
    return {**known, first: make_change(known.get(first), rest)}


def changes_of(wire: Json, edit: PolicyEdit) -> list[SetValue]:
    """Return the changes that an edit makes in a policy.

    Raises:
        UnfitEdit: the policy lacks what it is about.
    """
    at = _index_of(wire, edit.tool)
    return list(_CHANGES[edit.kind](wire, wire["tool"][at], ("tool", at), edit))


def _index_of(wire: Json, name: str) -> int:
    for at, tool in enumerate(wire.get("tool", ())):
        if tool.get("name", tool["capability_id"]) == name:
            return at
    raise UnfitEdit(f"the policy has no tool {name}")


def _pair_of(wire: Json, name: str) -> Json:
    tool = wire["tool"][_index_of(wire, name)]
    return {"adapter_id": tool["adapter_id"], "capability_id": tool["capability_id"]}


def _tier_changes(_wire: Json, tool: Json, here: Place, edit: PolicyEdit) -> Changes:
    """Yield another tier; what a tool acted on is what it looks up, if it is said to read."""
    yield SetValue((*here, "approval_mode"), edit.value)
    for name, role in tool.get("arg_roles", {}).items():
        if edit.value == "read_only" and role == "object":
            yield SetValue((*here, "arg_roles", name), "locator")


def _scope_changes(_wire: Json, _tool: Json, _here: Place, edit: PolicyEdit) -> Changes:
    yield SetValue(("guard", "scope"), edit.tool, added=True)


def _role_changes(_wire: Json, _tool: Json, here: Place, edit: PolicyEdit) -> Changes:
    role = edit.value if edit.kind == "role" else edit.kind
    yield SetValue((*here, "arg_roles", edit.place), role)


def _follow_changes(wire: Json, _tool: Json, here: Place, edit: PolicyEdit) -> Changes:
    yield SetValue((*here, "follows"), _pair_of(wire, edit.value), added=True)


def _author_changes(_wire: Json, tool: Json, here: Place, edit: PolicyEdit) -> Changes:
    if "result" in tool:
        yield SetValue((*here, "result", "author"), edit.kind)
    else:
        yield SetValue((*here, "result"), {"author": edit.kind})


def _promised_json(tool: Json, here: Place) -> Changes:
    result = tool.get("result")
    if result is None:
        yield SetValue((*here, "result"), {"author": "public", "format": "json"})
    elif result.get("format") != "json":
        yield SetValue((*here, "result", "format"), "json")


def _field_changes(wire: Json, tool: Json, here: Place, edit: PolicyEdit) -> Changes:
    yield from _promised_json(tool, here)
    tables = {one["name"]: at for at, one in enumerate(wire.get("class", ()))}
    name = tool.get("yields")
    if name is None:
        name = _new_name(edit.tool, tables.keys() | set(_classes_in(wire)))
        yield SetValue((*here, "yields"), name)
    if name in tables:
        yield SetValue(("class", tables[name], "fields", edit.place), edit.value)
        return
    others = [] if tables else [one for one in _classes_in(wire) if one != name]
    yield from (SetValue(("class",), {"name": one}, added=True) for one in others)
    yield SetValue(("class",), {"name": name, "fields": {edit.place: edit.value}}, added=True)


def _classes_in(wire: Json) -> list[str]:
    """Return the classes that a policy names: once it has a table, each of them needs one."""
    found: dict[str, None] = {}
    for tool in wire.get("tool", ()):
        found |= dict.fromkeys(filter(None, [tool.get("yields")]))
        for demand in tool.get("requires_evidence", ()):
            found[demand if isinstance(demand, str) else demand["class"]] = None
        for bound in tool.get("bound_args", {}).values():
            found |= dict.fromkeys(bound if isinstance(bound, list) else bound["from"])
    for key in ("required_evidence", "confined_evidence"):
        found |= dict.fromkeys(wire.get("spec", {}).get(key, ()))
    found |= dict.fromkeys(item["classification"] for item in wire.get("evidence", ()))
    return [name for name in found if not is_default_class(name)]


def _new_name(tool: str, taken: Iterable[str]) -> str:
    known, name, number = set(taken), f"{tool[:100]}_result", 2
    while name in known:
        name, number = f"{tool[:100]}_result_{number}", number + 1
    return name


def _making_changes(wire: Json, tool: Json, here: Place, edit: PolicyEdit) -> Changes:
    """Yield what makes a thing of the session's own of a value, and compares it by its kind.

    The value is `KIND`, or `KIND TOOL ARGUMENT` where that argument has no kind yet.
    """
    kind, *aim = edit.value.split(" ", 2)
    if edit.place.startswith("/"):
        yield from _promised_json(tool, here)
    elif "result" not in tool:
        yield SetValue((*here, "result"), {"author": "public"})
    yield SetValue((*here, "result", "makes", edit.place), kind)
    if aim:
        yield SetValue(("tool", _index_of(wire, aim[0]), "arg_kinds", aim[1]), kind)


def targets_required(tool: Json) -> list[str]:
    """Return the recipients and objects of a tool that may not be empty, in their order."""
    allowed = tool.get("may_be_empty", ())
    roles = tool.get("arg_roles", {})
    return [one for one in roles if roles[one] in ("recipient", "object") and one not in allowed]


def _empty_changes(_wire: Json, tool: Json, here: Place, _edit: PolicyEdit) -> Changes:
    """Yield each target: a call is still asked about if only some of them may be empty."""
    for name in targets_required(tool):
        yield SetValue((*here, "may_be_empty"), name, added=True)


def _fresh_changes(wire: Json, tool: Json, here: Place, edit: PolicyEdit) -> Changes:
    """Yield what keeps the results of a tool fresh for so long: its own limit, and its class's."""
    seconds = int(edit.value)
    if tool.get("expires_after_s", seconds) < seconds:
        yield SetValue((*here, "expires_after_s"), seconds)
    for at, one in enumerate(wire.get("class", ())):
        if one["name"] == tool.get("yields") and one.get("fresh_s", seconds) < seconds:
            yield SetValue(("class", at, "fresh_s"), seconds)


_CHANGES: Final[Mapping[EditKind, Callable[[Json, Json, Place, PolicyEdit], Changes]]] = {
    "open": _tier_changes,
    "fields": _field_changes,
    "scope": _scope_changes,
    "makes": _making_changes,
    "locator": _role_changes,
    "fresh": _fresh_changes,
    "object": _role_changes,
    "member": _author_changes,
    "follows": _follow_changes,
    "empty": _empty_changes,
    "names": _field_changes,
    "system": _author_changes,
    "role": _role_changes,
    "tier": _tier_changes,
}


def restrict_wire(wire: Json, names: frozenset[str]) -> Json:
    """Return a policy as JSON with some of its tools: no other has a part in rulings on them."""
    tools = [one for one in wire["tool"] if one.get("name", one["capability_id"]) in names]
    scope = wire["guard"].get("scope")
    guard = wire["guard"]
    if isinstance(scope, list):
        guard = {**guard, "scope": [name for name in scope if name in names]}
    left_out = ("guessed", "accept")
    kept = {name: value for name, value in wire.items() if name not in left_out}
    return {**kept, "guard": guard, "tool": tools}


def argument_of(path: str) -> str:
    """Return the argument that a JSON pointer into arguments leads into; "" for none."""
    return segments(path)[0] if path else ""
