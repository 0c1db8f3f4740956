"""The labels of a careful person: a policy corrected by them, and whether they agree to an edit.

A label file says of each tool its tier, the roles of its arguments, who can write its result, and
who fills which field. Several answers that will do are parted by `|`, the first is taken.
"""

from collections.abc import Iterable
from typing import Any, Final

from evals.pointers import segments
from harness.policy import Policy
from harness.policy.analysis.guessing.result_guess import field_place
from harness.what_if.proposing.policy_edits import PolicyEdit
from harness.wire import build

Json = dict[str, Any]


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


def _answers(label: str) -> list[str]:
    return label.split("|")


def _fields_of(labels: Json) -> dict[str, list[str]]:
    fields = labels["result"]["fields"]
    return {field_place(segments(place)): _answers(who) for place, who in fields.items()}
