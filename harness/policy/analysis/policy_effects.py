"""The effects of a policy change: may a call pass that was refused before, or the reverse?

The answers are bounds. "May not" is a proof, by the rule of the check that reads the field. "May"
is for a witness plan to show.
"""

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from typing import Any, Final, NamedTuple, TypeVar

from jsonschema_rs import canonical

from critic import MODE_RANK, Binding, Demand, RunBudget
from evals.schema_budget import json_values
from harness.policy.analysis.backing import ToolPair
from harness.policy.analysis.evidence_effects import (
    EvidenceUse,
    ItemChange,
    item_changes,
    may_be_looser,
    may_be_tighter,
    pinnable,
)
from harness.policy.analysis.lint_effort import LintEffort
from harness.policy.analysis.result_effects import Effect, effects_of_classes, effects_of_results
from harness.policy.analysis.role_effects import may_tighten
from harness.policy.envelopes import SESSION_BUDGET, Policy, PolicyTool
from harness.policy.schema_lint import canonical_form

_T = TypeVar("_T")

_NETWORK: Final = MODE_RANK["network"]
_DESTRUCTIVE: Final = MODE_RANK["destructive"]
_ABOVE_ALL: Final = len(MODE_RANK)
_MOST_COMPARED: Final = 400
"""How many pairs of conditions of a tool are compared."""
_OF_COMPARISON: Final = 20
"""What a value of a schema costs that is compared with another schema."""
_OF_ORIGINS: Final = ("provenance", "party_recipients")
"""What a spec says about where values come from."""


def highest_rank(policy: Policy) -> int:
    """Return the rank of the highest tier that may run."""
    limit = policy.spec.approval_mode or policy.guard.safety_mode
    return min(MODE_RANK[limit], MODE_RANK[policy.guard.safety_mode])


class Sides(NamedTuple):
    """Two policies, with lookups for each tool."""

    old: Policy
    new: Policy
    before: Mapping[ToolPair, PolicyTool]
    after: Mapping[ToolPair, PolicyTool]
    changes: tuple[ItemChange, ...]
    """What the policies hold differently as evidence."""
    classes: tuple[Effect, ...]
    """What they say differently of records."""
    expiries: tuple[Mapping[ToolPair, int], Mapping[ToolPair, int]]
    """How many seconds results were and are fresh."""
    scopes: tuple[frozenset[ToolPair], frozenset[ToolPair]]
    """The tools that a request is for which says none."""
    effort: LintEffort
    """What is left for comparing schemas; then nothing more is proven of them."""


def sides_of(old: Policy, new: Policy) -> Sides:
    """Return two policies, ready to be compared."""
    before, after = ({tool.pair: tool for tool in policy.tool} for policy in (old, new))
    classes = tuple(effects_of_classes(old, new))
    expiries = old.expiries(), new.expiries()
    pairs = [frozenset(map(_pair_of, policy.scope_names or ())) for policy in (old, new)]
    return Sides(
        old=old,
        new=new,
        before=before,
        after=after,
        changes=item_changes(old, new),
        classes=classes,
        expiries=expiries,
        scopes=(pairs[0], pairs[1]),
        effort=LintEffort(),
    )


def effects_on_tool(sides: Sides, pair: ToolPair) -> list[Effect]:
    """Return the possible effects on calls of one tool."""
    old, new = sides.old, sides.new
    before, after = sides.before.get(pair), sides.after.get(pair)
    ran = before is not None and MODE_RANK[before.approval_mode] <= highest_rank(old)
    runs = after is not None and MODE_RANK[after.approval_mode] <= highest_rank(new)
    if before is None or after is None:
        what = "the tool is new" if before is None else "the tool is gone"
        return [Effect(what, runs, ran, by_order=True)]
    if not (ran and runs):
        what = "the modes that may run" if ran or runs else "no call of it can pass"
        return [Effect(what, runs, ran)] if ran or runs else []
    found = [*_of_fields(sides.effort, before, after), *_of_settings(sides, before, after)]
    was, is_now = (side.get(pair) for side in sides.expiries)
    found += effects_of_results(before, after, (was, is_now))
    return [effect for effect in found if effect.looser or effect.tighter]


def _of_fields(effort: LintEffort, old: PolicyTool, new: PolicyTool) -> Iterator[Effect]:
    """Yield the effects of fields that are conditions on a call by themselves."""
    demands = old.requires_evidence or (), new.requires_evidence or ()
    yield _compare_conditions("requires_evidence", *demands, partial(_demands_as_much, effort))
    bound = tuple((tool.bound_args or {}).items() for tool in (old, new))
    yield _compare_conditions("bound_args", list(bound[0]), list(bound[1]), _binds_as_much)
    groups = old.bound_together or (), new.bound_together or ()
    yield _compare_conditions("bound_together", *groups, lambda one, other: set(one) >= set(other))
    yield _of_schemas(effort, "args_schema", old.args_schema, new.args_schema)
    more = (new.min_tokens or 0) - (old.min_tokens or 0)
    yield Effect("min_tokens", more < 0, more > 0)
    for name in ("name", "yields"):
        changed = getattr(old, name) != getattr(new, name)
        yield Effect(name, changed, changed, in_sessions=True)


def _compare_conditions(
    what: str,
    old: Collection[_T],
    new: Collection[_T],
    as_strict: Callable[[_T, _T], bool],
) -> Effect:
    """Return the effect of a list of conditions, all of which a call must meet.

    It cannot be looser if new conditions imply every old one. Very long lists are not compared,
    and may go either way.
    """
    if old == new or len(old) * len(new) > _MOST_COMPARED:
        return Effect(what, old != new, old != new)
    kept = all(any(as_strict(one, other) for one in new) for other in old)
    known = all(any(as_strict(one, other) for one in old) for other in new)
    return Effect(what, not kept, not known)


def _demands_as_much(effort: LintEffort, one: str | Demand, other: str | Demand) -> bool:
    """Return whether everything that meets `one` also meets `other`."""
    if _class_of(one) != _class_of(other):
        return False
    first, second = (
        demand if isinstance(demand, Demand) else Demand(class_=demand) for demand in (one, other)
    )
    about, wanted = first.about or {}, second.about or {}
    return about.items() >= wanted.items() and (
        first == second or _admits_no_more(effort, first.content_schema, second.content_schema)
    )


def _class_of(demand: str | Demand) -> str:
    return demand.class_ if isinstance(demand, Demand) else demand


def _binds_as_much(
    one: tuple[str, tuple[str, ...] | Binding], other: tuple[str, tuple[str, ...] | Binding]
) -> bool:
    (name, first), (named, second) = ((key, _binding_of(value)) for key, value in (one, other))
    places = second.at is None or (first.at is not None and set(first.at) <= set(second.at))
    return (
        name == named
        and set(first.from_) <= set(second.from_)
        and places
        and (second.optional or not first.optional)
    )


def _binding_of(value: tuple[str, ...] | Binding) -> Binding:
    """Return the binding for an array of classes: the argument is optional."""
    return value if isinstance(value, Binding) else Binding(from_=value, optional=True)


def _of_schemas(effort: LintEffort, what: str, old: Any, new: Any) -> Effect:
    if old == new:
        return Effect(what, False, False)
    looser, tighter = (not _admits_no_more(effort, *pair) for pair in ((new, old), (old, new)))
    return Effect(what, looser, tighter)


def _admits_no_more(effort: LintEffort, schema: Any, other: Any) -> bool:
    """Return whether it is proven that every value of the schema is one of the other."""
    if other is None or other is True or other == {}:
        return True
    if not effort.allows(_OF_COMPARISON * (10 + json_values(schema) + json_values(other))):
        return False
    try:
        wider = canonical_form(other)
        return wider.covers(canonical_form(True if schema is None else schema)) == (
            canonical.Containment.YES
        )
    except Exception:  # the library cannot tell
        return False


def _of_settings(sides: Sides, before: PolicyTool, after: PolicyTool) -> Iterator[Effect]:
    """Yield the effects that the spec and the rest of the policy have on calls of a tool."""
    old, new = sides.old, sides.new
    ranks = MODE_RANK[before.approval_mode], MODE_RANK[after.approval_mode]
    asked, asks = (
        rank >= _rank(policy.spec.approval_required_from)
        for rank, policy in zip(ranks, (old, new), strict=True)
    )
    yield Effect("spec.approval_required_from", asked and not asks, asks and not asked)
    yield _of_tier(old, new, *ranks)
    confined = _classes(old.spec.confined_evidence), _classes(new.spec.confined_evidence)
    if max(ranks) >= _NETWORK:
        lost, gained = confined[0] - confined[1], confined[1] - confined[0]
        yield Effect("spec.confined_evidence", bool(lost), bool(gained))
    if _judges_sources(old, new):
        yield from _of_provenance(sides, before, after)
    use = EvidenceUse(
        demanded=_demanded_classes(before) | _demanded_classes(after),
        confined=confined[0] | confined[1] if max(ranks) >= _NETWORK else (),
        sourced=max(ranks) > 0 and _judges_sources(old, new),
    )
    yield Effect("evidence", may_be_looser(sides.changes, use), may_be_tighter(sides.changes, use))


def _of_tier(old: Policy, new: Policy, before: int, after: int) -> Effect:
    """Return the effect of a tier if both tiers may run, by their other conditions."""
    specs = (old.spec, new.spec)
    judged = any(spec.provenance for spec in specs)
    confined = any(spec.confined_evidence for spec in specs)
    destructive = _DESTRUCTIVE in (before, after)  # the one tier that may not repeat a call
    sent = confined and min(before, after) < _NETWORK <= max(before, after)
    matters = judged or destructive or sent
    return Effect("approval_mode", matters and after < before, matters and after > before)


def _judges_sources(old: Policy, new: Policy) -> bool:
    return bool(old.spec.provenance or new.spec.provenance)


def _of_provenance(sides: Sides, before: PolicyTool, after: PolicyTool) -> Iterator[Effect]:
    old, new = sides.old, sides.new
    roles = (before.arg_roles or {}) != (after.arg_roles or {})
    if before.approval_mode == after.approval_mode == "read_only":
        # They say which arguments led to what is read: later calls hang on it.
        yield Effect("arg_roles", roles, roles, in_sessions=True)
        return
    modes = old.spec.provenance, new.spec.provenance
    if modes[0] != modes[1]:
        # From one mode to the other, some values are asked about instead of refused or allowed.
        yield Effect("spec.provenance", modes[0] is not None, modes[1] is not None)
    yield _of_parties(old, new, before, after)
    yield _of_roles(old, new, before, after)
    # A yes is of a value in one role: one that a session has holds for no other.
    yield Effect("arg_roles of approved values", roles, roles, in_sessions=True)
    yield from sides.classes
    kinds = (before.arg_kinds or {}) != (after.arg_kinds or {})
    yield Effect("arg_kinds", kinds, kinds)
    empty = {*(before.may_be_empty or ())}, {*(after.may_be_empty or ())}
    yield Effect("may_be_empty", bool(empty[1] - empty[0]), bool(empty[0] - empty[1]))
    yield _of_scope(sides, before, after)
    followed = set(map(_pair_of, before.follows or ())), set(map(_pair_of, after.follows or ()))
    yield Effect("follows", bool(followed[1] - followed[0]), bool(followed[0] - followed[1]))


def _of_scope(sides: Sides, before: PolicyTool, after: PolicyTool) -> Effect:
    """Return the effect of the scope of the policy on a tool that is asked about by name."""
    was, is_now = (
        one.pair in pairs for one, pairs in zip((before, after), sides.scopes, strict=True)
    )
    sends = max(MODE_RANK[one.approval_mode] for one in (before, after)) >= _NETWORK
    looser, tighter = sends and is_now and not was, sends and was and not is_now
    return Effect("guard.scope", looser, tighter, by_order=True)


def _of_parties(old: Policy, new: Policy, before: PolicyTool, after: PolicyTool) -> Effect:
    """Return the effect of trust in parties, for tools that have a recipient."""
    parties = old.spec.party_recipients or "ask", new.spec.party_recipients or "ask"
    given = any(
        not tool.arg_roles or "recipient" in tool.arg_roles.values() for tool in (before, after)
    )
    looser, tighter = parties == ("ask", "allow"), parties == ("allow", "ask")
    return Effect("spec.party_recipients", looser and given, tighter and given)


def _of_roles(old: Policy, new: Policy, before: PolicyTool, after: PolicyTool) -> Effect:
    """Return the effect of roles, if both specs agree about provenance."""
    roles = before.arg_roles or {}, after.arg_roles or {}
    if any(getattr(old.spec, name) != getattr(new.spec, name) for name in _OF_ORIGINS):
        return Effect("arg_roles", roles[0] != roles[1], roles[0] != roles[1])
    sends = "network" in (before.approval_mode, after.approval_mode)
    return Effect(
        "arg_roles",
        looser=may_tighten(*roles[::-1], new.spec, sends=sends),
        tighter=may_tighten(*roles, new.spec, sends=sends),
    )


def effects_on_plans(old: Policy, new: Policy) -> list[Effect]:
    """Return the possible effects on whole plans, whatever they call."""
    found = [*_of_outputs(old, new), *_of_budgets(old, new), *_of_evidence(old, new)]
    wanted = _classes(old.spec.required_evidence), _classes(new.spec.required_evidence)
    lost, gained = wanted[0] - wanted[1], wanted[1] - wanted[0]
    found.append(Effect("spec.required_evidence", bool(lost), bool(gained)))
    schemas = (old.spec.output_schemas or {}) != (new.spec.output_schemas or {})
    found.append(Effect("spec.output_schemas", schemas, schemas, in_sessions=True))
    found += _of_late_plans(old, new)
    return [effect for effect in found if effect.looser or effect.tighter]


def _told_of_results(policy: Policy) -> dict[ToolPair, dict[str, Any]]:
    expiries = policy.expiries()
    return {tool.pair: tool.told_of_results(expiries) for tool in policy.tool}


def _of_late_plans(old: Policy, new: Policy) -> Iterator[Effect]:
    """Yield the effects on plans that take values which their steps return."""
    late = old.spec.late, new.spec.late
    changed = late[0] != late[1]
    # Under `sources` a person approves before the run, and under `values` once the value is there.
    looser, tighter = changed and bool(late[1]), changed and bool(late[0])
    yield Effect("spec.late", looser, tighter, by_order=not all(late))
    differ = any(late) and _told_of_results(old) != _told_of_results(new)
    yield Effect("results of tools in late plans", differ, differ)


def _of_outputs(old: Policy, new: Policy) -> Iterator[Effect]:
    required = set(old.spec.required_outputs), set(new.spec.required_outputs)
    yield Effect(
        "spec.required_outputs", bool(required[0] - required[1]), bool(required[1] - required[0])
    )
    made = [
        {tool.pair: None if tool.produces is None else {*tool.produces} for tool in policy.tool}
        for policy in (old, new)
    ]
    changed = made[0] != made[1] and bool(required[0] | required[1])
    yield Effect("produces", changed, changed)


_BUDGETS: Final = ("max_steps", "bucket_tokens")


def _of_budgets(old: Policy, new: Policy) -> Iterator[Effect]:
    """Yield the effects of the budget of a plan that is judged alone."""
    budgets = [policy.guard.budget or RunBudget() for policy in (old, new)]
    for name in _BUDGETS:
        before, after = (getattr(budget, name) for budget in budgets)
        yield Effect(f"guard.budget.{name}", after > before, after < before)


def _of_evidence(old: Policy, new: Policy) -> Iterator[Effect]:
    """Yield the effects of items that a step may newly pin, or no longer."""
    for more, less in pinnable(old, new):
        yield Effect("evidence", more, less)


_SETTINGS: Final = {
    "on_refusal": ("answer", "halt"),
    "on_ask": ("ask", "refuse"),
    "shadow": (True, False),
}
"""Settings of the guard and their values, the looser one first."""


def effects_on_sessions(old: Policy, new: Policy) -> list[Effect]:
    """Return the differences in the answers of the guard, which no plan shows."""
    found = []
    for name, order in _SETTINGS.items():
        before, after = (order.index(getattr(policy.guard, name)) for policy in (old, new))
        found.append(Effect(f"guard.{name}", after < before, after > before, in_sessions=True))
    asked = new.guard.max_questions - old.guard.max_questions
    found.append(Effect("guard.max_questions", asked > 0, asked < 0, in_sessions=True))
    # A call that waits for the reads before it is judged by what they return, whatever that is.
    turns = old.guard.turns != new.guard.turns
    found.append(Effect("guard.turns", turns, turns, in_sessions=True))
    found += [_of_expiry(old, new), *_of_session_budgets(old, new)]
    # What is understood may be allowed, or refused for a step that was not seen before.
    carried = [
        {name: tool.acting_arguments for name, tool in one.tools.items()} for one in (old, new)
    ]
    shell = old.shell != new.shell or any(
        carried[0].get(name, ()) != carried[1].get(name, ()) for name in {*carried[0], *carried[1]}
    )
    found.append(Effect("shell", shell, shell, in_sessions=True))
    return [effect for effect in found if effect.looser or effect.tighter]


def _of_expiry(old: Policy, new: Policy) -> Effect:
    """Return the effect of how long a yes counts; no limit is the longest."""
    ends = [policy.guard.question_expires_after_s for policy in (old, new)]
    before, after = (math.inf if seconds is None else seconds for seconds in ends)
    name = "guard.question_expires_after_s"
    return Effect(name, after > before, after < before, in_sessions=True)


def _of_session_budgets(old: Policy, new: Policy) -> Iterator[Effect]:
    """Yield the effects of budgets if only one policy has one.

    Without one, a session has a different budget than a plan that is judged alone.
    """
    given = old.guard.budget, new.guard.budget
    if (given[0] is None) == (given[1] is None):
        return
    budgets = [budget or SESSION_BUDGET for budget in given]
    for name in _BUDGETS:
        before, after = (getattr(budget, name) for budget in budgets)
        what = f"guard.budget.{name} of a session"
        yield Effect(what, after > before, after < before, in_sessions=True)


def _rank(mode: str | None) -> int:
    return _ABOVE_ALL if mode is None else MODE_RANK[mode]


def _classes(classes: tuple[str, ...] | None) -> set[str]:
    return set(classes or ())


def _pair_of(tool: Any) -> ToolPair:
    return tool.adapter_id, tool.capability_id


def _demanded_classes(tool: PolicyTool) -> set[str]:
    """Return every class that a call of the tool may need."""
    classes = {
        demand.class_ if isinstance(demand, Demand) else demand
        for demand in tool.requires_evidence or ()
    }
    for binding in (tool.bound_args or {}).values():
        classes |= set(_binding_of(binding).from_)
    return classes
