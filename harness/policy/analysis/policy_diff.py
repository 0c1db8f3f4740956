"""Compare two policies: what is tighter, what is looser, and a plan that shows it, tool by tool.

Rule 1: "equal" is a proof: nothing has changed that the checks read about a call.
Rule 2: "tighter" and "looser" have a witness: a plan that one policy refuses and the other accepts,
        verified by both. Settings of the guard and labels of results need none: their direction
        follows from their order.
Rule 3: a change that may go either way without a witness is "not decided".
Rule 4: all changes together are "tighter" only if none of them may be looser.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Literal, NamedTuple

from harness.policy.analysis.backing import ToolPair
from harness.policy.analysis.policy_effects import (
    effects_on_plans,
    effects_on_sessions,
    effects_on_tool,
    sides_of,
)
from harness.policy.analysis.result_effects import Effect
from harness.policy.analysis.witness import Search, Witness
from harness.policy.envelopes import Policy

Comparison = Literal["equal", "tighter", "looser", "both", "not decided"]
Direction = Literal["tighter", "looser"]


class PolicyChange(NamedTuple):
    """The difference of one tool, of whole plans, or of the guard, between two policies.

    Attributes:
        subject: `tool NAME`, `plans` or `guard`.
        changed: the names of the fields that changed.
        looser: a plan that the new policy accepts and the old one refuses, if there is one. A
            change that is looser by order, such as longer freshness, has none.
        tighter: the same for a plan that the old policy accepts and the new one refuses.
        undecided: the possible directions of the change without a plan.
    """

    subject: str
    change: Comparison
    changed: tuple[str, ...] = ()
    looser: Witness | None = None
    tighter: Witness | None = None
    undecided: tuple[Direction, ...] = ()


def diff_policies(old: Policy, new: Policy) -> tuple[PolicyChange, ...]:
    """Return the changes: of each tool of either policy, then of plans and of the guard."""
    sides = sides_of(old, new)
    names = _name_tools(old, new)
    effects_of = {pair: effects_on_tool(sides, pair) for pair in names}
    shown = sum(1 for effects in effects_of.values() if effects)
    opens, closes = Search(new, old, shown), Search(old, new, shown)
    changes = []
    for pair, effects in effects_of.items():
        looser = opens.for_tool(pair) if _may(effects, "looser") else None
        tighter = closes.for_tool(pair) if _may(effects, "tighter") else None
        changes.append(_change_of(f"tool {names[pair]}", effects, looser, tighter))
    effects = effects_on_plans(old, new)
    looser = opens.for_plans() if _may(effects, "looser") else None
    tighter = closes.for_plans() if _may(effects, "tighter") else None
    changes.append(_change_of("plans", effects, looser, tighter))
    return (*changes, _of_guard(effects_on_sessions(old, new)))


def _name_tools(old: Policy, new: Policy) -> dict[ToolPair, str]:
    """Return the name of each tool, with its ids if two have one name."""
    names = {tool.pair: tool.called for tool in (*new.tool, *old.tool)}
    often = Counter(names.values())
    return {
        pair: name if often[name] == 1 else f"{name} ({'.'.join(pair)})"
        for pair, name in names.items()
    }


def overall(changes: Iterable[PolicyChange]) -> Comparison:
    """Return the overall direction of the changes."""
    listed = list(changes)
    known = {change.change for change in listed} - {"equal"}
    if {"tighter", "looser"} <= known or "both" in known:
        return "both"
    if "looser" in known:
        return "looser"
    if any("looser" in change.undecided for change in listed):
        return "not decided"
    return "tighter" if "tighter" in known else "not decided" if known else "equal"


def _may(effects: list[Effect], direction: Direction) -> bool:
    return any(getattr(effect, direction) and not effect.in_sessions for effect in effects)


def _is_ordered(effects: list[Effect], direction: Direction) -> bool:
    return any(effect.by_order and getattr(effect, direction) for effect in effects)


def _change_of(
    subject: str, effects: list[Effect], looser: Witness | None, tighter: Witness | None
) -> PolicyChange:
    found: dict[Direction, bool] = {
        "tighter": tighter is not None or _is_ordered(effects, "tighter"),
        "looser": looser is not None or _is_ordered(effects, "looser"),
    }
    undecided = tuple(
        direction
        for direction, shown in found.items()
        if not shown and any(getattr(effect, direction) for effect in effects)
    )
    if all(found.values()):
        change: Comparison = "both"
    elif any(found.values()):
        change = "looser" if found["looser"] else "tighter"
    else:
        change = "not decided" if undecided else "equal"
    names = tuple(dict.fromkeys(map(_name_effect, effects)))
    return PolicyChange(subject, change, names, looser, tighter, undecided)


def _name_effect(effect: Effect) -> str:
    return f"{effect.what} (no plan shows it)" if effect.in_sessions else effect.what


def _of_guard(effects: list[Effect]) -> PolicyChange:
    looser = any(effect.looser for effect in effects)
    tighter = any(effect.tighter for effect in effects)
    names = tuple(effect.what for effect in effects)
    if looser and tighter:
        return PolicyChange("guard", "both", names)
    if not effects:
        return PolicyChange("guard", "equal")
    return PolicyChange("guard", "looser" if looser else "tighter", names)
