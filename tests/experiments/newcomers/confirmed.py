"""The labels of a careful person: a policy corrected by them, and whether they agree to an edit.

A label file says of each tool its tier, the roles of its arguments, who can write its result, and
who fills which field. Several answers that will do are parted by `|`, the first is taken.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from critic import MODE_RANK
from evals.pointers import segments
from harness.policy import Policy, PolicyTool
from harness.policy.analysis.guessing.result_guess import field_place
from harness.what_if.proposing.policy_edits import PolicyEdit
from harness.wire import build

Json = dict[str, Any]

_ROLE_RANK: Final = {
    **dict.fromkeys(("recipient", "object", "secret"), 4),
    **dict.fromkeys(("locator", "code"), 3),
    **dict.fromkeys(("time", "attribute"), 2),
    "content": 1,
    "": 0,
}
"""How much a role asks of a value."""
_AUTHORS: Final = ("public", "member", "system", "operator", "user")
"""The authors, the more trusted ones last."""


class GuessedLabel(NamedTuple):
    """A guessed label, and whether it is laxer than every answer of the careful person."""

    what: str
    place: str
    is_laxer: bool


class CarefulLabels:
    """The labels of the tools of one agent."""

    def __init__(self, tools: Json) -> None:
        """Take the labels, by the name of the tool."""
        self._tools: Final = tools

    def correct_policy(self, policy: Policy, *, may_party_receive: bool = False) -> Policy:
        """Return a policy with these labels in place of its own.

        Args:
            may_party_receive: nobody is asked about a recipient whom a field of a party names.
        """
        wire = policy.wire()
        classes = {one["name"]: one for one in wire.get("class", ())}
        for tool in wire["tool"]:
            name = tool.get("name", tool["capability_id"])
            self._correct_tool(tool, classes, self._tools[name], f"{name}_result")
        if classes:
            wire["class"] = [*classes.values()]
        if may_party_receive:
            wire["spec"]["party_recipients"] = "allow"
        return build(Policy, wire)

    def _correct_tool(self, tool: Json, classes: Json, labels: Json, class_name: str) -> None:
        tool["approval_mode"] = _answers(labels["approval_mode"])[0]
        roles = {name: _answers(role)[0] for name, role in labels["arg_roles"].items()}
        tool["arg_roles"] = {name: role for name, role in roles.items() if role}
        result = labels["result"]
        tool["result"] = {**tool.get("result", {}), "author": _answers(result["author"])[0]}
        if result["web"]:
            tool["result"]["web"] = True
        elif result["fields"]:
            tool["result"]["format"] = "json"
            yields = tool.setdefault("yields", class_name)
            filled = {place: who[0] for place, who in _fields_of(labels).items() if who[0]}
            classes[yields] = {**classes.get(yields, {"name": yields}), "fields": filled}

    def compare_guesses(self, policy: Policy) -> Iterator[GuessedLabel]:
        """Yield the tiers, roles, authors and fields of a policy that guesses made."""
        classes = {one.name: one.fields or {} for one in policy.class_}
        for tool in policy.tool:
            labels = self._tools[tool.called]
            tier = min(MODE_RANK[one] for one in _modes(labels))
            yield GuessedLabel("tier", tool.called, MODE_RANK[tool.approval_mode] < tier)
            yield from _compare_roles(tool, labels)
            yield from _compare_results(tool, labels, classes.get(tool.yields or "", {}))

    def tier_of(self, tool: str) -> str:
        """Return the tier of a tool."""
        return _modes(self._tools[tool])[0]

    def agree_to(self, edits: Iterable[PolicyEdit]) -> bool:
        """Return whether the labels bear out all of some edits. Silence is a no."""
        return all(edit.value in self._allowed(edit) for edit in edits)

    def _allowed(self, edit: PolicyEdit) -> list[str]:
        """Return the values that an edit may give its place."""
        labels = self._tools[edit.tool]
        roles = _answers(labels["arg_roles"].get(edit.place, ""))
        found: dict[str, list[str]] = {
            "scope": [edit.value],  # what an agent is for, its owner knows
            "open": _answers(labels["approval_mode"]),
            "tier": _answers(labels["approval_mode"]),
            "fields": _fields_of(labels).get(edit.place, []),
            "names": _fields_of(labels).get(edit.place, []),
            "role": roles,
        }
        named = {*roles, *_answers(labels["result"]["author"])}
        return found.get(edit.kind, [edit.value] if edit.kind in named else [])


def _modes(labels: Json) -> list[str]:
    return _answers(labels["approval_mode"])


def _compare_roles(tool: PolicyTool, labels: Json) -> Iterator[GuessedLabel]:
    """Yield the roles of a tool; of a read, a locator too many makes a text a named one."""
    roles, reads = dict(tool.arg_roles or {}), _modes(labels)[0] == "read_only"
    for name in {**labels["arg_roles"], **roles}:
        role, answers = roles.get(name, ""), _answers(labels["arg_roles"].get(name, ""))
        least = min(_ROLE_RANK[one] for one in answers)
        is_laxer = role == "locator" if reads else _ROLE_RANK[role] < least
        yield GuessedLabel("role", f"{tool.called} {name}", role not in answers and is_laxer)


def _compare_results(tool: PolicyTool, labels: Json, fields: Any) -> Iterator[GuessedLabel]:
    """Yield the author of a result, whether it is of the web, and who fills its fields."""
    author = tool.result.author if tool.result else "public"
    answers = _answers(labels["result"]["author"])
    trusts_more = _AUTHORS.index(author) > min(map(_AUTHORS.index, answers))
    yield GuessedLabel("author", tool.called, author not in answers and trusts_more)
    if labels["result"]["web"]:
        yield GuessedLabel("web", tool.called, not (tool.result and tool.result.web))
    careful = _fields_of(labels)
    for place in {**careful, **fields}:
        filled, right = fields.get(place, ""), careful.get(place, [""])
        is_stricter = not filled or (filled == "party" and "system" in right)
        is_laxer = filled not in right and not is_stricter and "system" not in answers
        yield GuessedLabel("field", f"{tool.called} {place}", is_laxer)


def _answers(label: str) -> list[str]:
    return label.split("|")


def _fields_of(labels: Json) -> dict[str, list[str]]:
    fields = labels["result"]["fields"]
    return {field_place(segments(place)): _answers(who) for place, who in fields.items()}
