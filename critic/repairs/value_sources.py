"""Where a value may be taken from that nobody named: what an earlier step of the plan returns.

Rule 1: a source is a member of the output of an earlier step that has the name of the argument.
Rule 2: it is proposed where `verify` finds less at the step that takes it, and nothing new there.
Rule 3: so many sources are tried for one plan. Beyond them, the planner is asked for other args.
"""

from collections.abc import Iterator
from typing import Any, Final

from critic.late.late_steps import LatePlan
from critic.prepared import PreparedPlan, prepare_plan
from critic.repairs.apply import apply
from critic.repairs.repair_kinds import MOST_CANDIDATES, TakeValue, ValueSource
from critic.repairs.violation_places import ArgsPlace
from critic.verify import found_in
from evals.escaping import pointer
from evals.manifest import CompiledContext
from evals.plan import Plan

_MOST_TRIALS: Final = 20
_MOST_LOOKS: Final = 20_000
"""Steps, and members of their outputs."""
_MOST_MEMBERS: Final = 500
"""Of the output of one step."""


class ValueSources:
    """The earlier steps that refused values of one proposal may be taken from."""

    def __init__(self, compiled: CompiledContext) -> None:
        self._compiled: Final = compiled
        self._trials = _MOST_TRIALS
        self._looks = _MOST_LOOKS

    def sources_of(
        self, plan: Plan, case: PreparedPlan, place: ArgsPlace
    ) -> tuple[ValueSource, ...]:
        """Return what an argument may be taken from, at most `MOST_CANDIDATES`.

        Steps are named by their index in the plan, which is that of the case.
        """
        if case.spec.late is None or not _is_member(case, place):
            return ()
        found, refused = list[ValueSource](), _found_at(case, place.step)
        for source in self._named_alike(case, place):
            if self._trials <= 0 or len(found) == MOST_CANDIDATES:
                break
            self._trials -= 1
            changed = prepare_plan(
                case.ctx, self._compiled, case.spec, _taking_plan(plan, place, source)
            )
            if _found_at(changed, place.step) < refused:
                found.append(source)
        return tuple(found)

    def _named_alike(self, case: PreparedPlan, place: ArgsPlace) -> Iterator[ValueSource]:
        """Yield members of earlier outputs that have the name of the argument, the last first."""
        name = place.rest[-1].strip("_")
        late = LatePlan(case.steps, case.surface.manifests) if self._looks > 0 else None
        for index, tool, fields in reversed(case.steps[: place.step]):
            if late is None or self._looks <= 0:
                return
            is_call = fields["kind"] == "tool" and tool.capability is not None
            ways = [*_members(late.output_schema(index))] if is_call else []
            self._looks -= 1 + len(ways)
            alike = (way for way in ways if way[-1].strip("_") == name)
            yield from (ValueSource(step=index, at=pointer(*way)) for way in alike)


def _taking_plan(plan: Plan, place: ArgsPlace, source: ValueSource) -> Plan:
    path = pointer("steps", place.step, "args", *place.rest)
    return apply(plan, [TakeValue(step=place.step, path=path, candidates=(source,))]).plan


def _is_member(case: PreparedPlan, place: ArgsPlace) -> bool:
    """Return whether a value stands there as the member of an object."""
    held: Any = case.steps[place.step][2].get("args")
    for key in place.rest[:-1]:
        held = held.get(key) if isinstance(held, dict) else None
    return bool(place.rest) and isinstance(held, dict) and place.rest[-1] in held


def _members(schema: Any) -> Iterator[tuple[str, ...]]:
    """Yield the ways to the members of an object and of the objects in it, the nearest first."""
    ways: list[tuple[tuple[str, ...], Any]] = [((), schema)]
    for way, held in ways:
        members = held.get("properties") if isinstance(held, dict) else None
        for name, inner in members.items() if isinstance(members, dict) else ():
            if len(ways) > _MOST_MEMBERS:
                return
            ways.append(((*way, name), inner))
            yield (*way, name)


def _found_at(case: PreparedPlan, step: int) -> set[tuple[str, str]]:
    found = (one for one in found_in(case) if not one.approvable)
    places = ((one.check, one.words()[1]) for one in found)
    whole = f"/steps/{step}"
    return {one for one in places if one[1] == whole or one[1].startswith(f"{whole}/")}
