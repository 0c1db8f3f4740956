"""The values behind the doubts of a plan: what provenance judged at each place, and what it saw.

A doubt says where it is, and why in words. Which value is meant, in which role, and where it was
seen is found by judging the values of the plan once more.
"""

import re
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from critic.prepared import PreparedPlan
from critic.provenance.call_values import CallValues, JudgedValue
from critic.provenance.content_values import MOST_VALUES
from critic.provenance.day_forms import days_in
from critic.provenance.folding import wide, write_scalar
from critic.provenance.origins import Origin
from critic.provenance.value_facts import KnownValues, ValueFacts, values_known
from critic.provenance.worth import ALLOW, ASK, REFUSE
from evals.capability import Role
from evals.escaping import pointer
from evals.kinds import MODE_RANK
from evals.manifest import EvidenceItem
from evals.pointers import segments, value_at

if TYPE_CHECKING:
    from critic.late.late_steps import LateValue


class DoubtedValue(NamedTuple):
    """A value that is doubted.

    Attributes:
        path: where it is in the arguments.
        origin: where it comes from; None where no origin says so, as of a day.
        item: an item that shows it, or that is to blame.
        stale: an item that shows it and has expired.
        is_short: it is a number of three digits or fewer, and the request holds it.
        is_spoken: the request holds it, in whichever characters.
        taken: what an earlier call is to return for it; None of a value that is there.
    """

    path: tuple[str | int, ...]
    value: Any
    role: Role | None = None
    kind: str | None = None
    origin: Origin | None = None
    item: EvidenceItem | None = None
    stale: EvidenceItem | None = None
    is_short: bool = False
    is_spoken: bool = False
    taken: "LateValue | None" = None


class DoubtedValues:
    """Finds the values of the doubts of one plan. Ask for those of all doubts, in their order."""

    def __init__(self, case: PreparedPlan, known: KnownValues | None = None) -> None:
        """Look at the values of a plan.

        Args:
            known: what is known of values, if it is at hand. It is what the context says.
        """
        self._case, self._known = case, known
        self._waiting: dict[tuple[str, int], deque[DoubtedValue]] = {}

    def at(self, path: str, *, refuses: bool) -> DoubtedValue:
        """Return the value of the next doubt at a place; one without a role where it has none.

        Args:
            refuses: whether the value is refused, and not asked about.
        """
        waiting = self._values_at((path, REFUSE if refuses else ASK))
        return waiting.popleft() if waiting else self._take_unjudged(path)

    def _values_at(self, key: tuple[str, int]) -> deque[DoubtedValue]:
        """Return those values at a place that no text is of yet."""
        if key not in self._waiting:
            self._waiting[key] = deque(self._found.get(key, ()))
        return self._waiting[key]

    def first_of(self, index: int) -> DoubtedValue | None:
        """Return the first doubted value of a step, by its number; None if there is none."""
        start = pointer("steps", index, "args", "")
        at = (each for (path, _), each in self._found.items() if path.startswith(start))
        return next((each[0] for each in at), None)

    def _take_unjudged(self, path: str) -> DoubtedValue:
        """Return what stands at a place that was doubted for another reason than its origin."""
        _, step, *names = segments(path)
        if taken := self._find_late(int(step), names):
            return DoubtedValue(taken.path, None, taken=taken)
        place = tuple(names[1:])
        args = self._case.steps[int(step)][2]["args"]
        values = value_at(args, pointer(*place)) if place else []
        return DoubtedValue(place, values[0] if values else None)

    def _find_late(self, index: int, names: Sequence[str]) -> "LateValue | None":
        """Return the late value that is meant, by its position or by its place."""
        step = self._case.late.steps.get(index) if self._case.late is not None else None
        place = pointer(*names)
        for one in step.values if step is not None else ():
            if place in (pointer("takes", one.position), pointer("args", *one.path)):
                return one
        return None

    @cached_property
    def _found(self) -> dict[tuple[str, int], list[DoubtedValue]]:
        found = defaultdict[tuple[str, int], list[DoubtedValue]](list)
        with nullcontext(self._known) if self._known else values_known(self._case) as known:
            facts = ValueFacts(self._case.spec, known)
            for index, value in self._values():
                path = pointer("steps", index, "args", *value.path)
                for level, one in self._find_all(facts, value):
                    found[path, level].append(one)
        return found

    def _values(self) -> Iterator[tuple[int, JudgedValue]]:
        """Yield the values that are judged: those of steps that have no more than are left."""
        values, left = CallValues(self._case.surface.manifests.tools), MOST_VALUES
        for index, entry, fields in self._case.steps:
            if entry.rank > MODE_RANK["read_only"] and entry.capability is not None:
                pair = entry.capability.adapter_id, entry.capability.capability_id
                found = [*islice(values.values_of(pair, fields["args"]), left + 1)]
                if len(found) > left:
                    return
                left -= len(found)
                yield from ((index, one) for one in found)

    def _find_all(
        self, facts: ValueFacts, value: JudgedValue
    ) -> Iterator[tuple[int, DoubtedValue]]:
        asked = value.asked
        plain = DoubtedValue(value.path, value.written, asked.role, asked.kind)
        if asked.role == "time":
            days = dict.fromkeys(days_in(wide(write_scalar(value.written))))
            if not days and not facts.is_approved(asked, value.sought):
                yield ASK, plain
            for day in days:
                level, told = facts.judge_day(asked, day, value.sought)
                if level:
                    yield level, plain._replace(item=told.item)
            return
        if value.content is None:
            level, seen = facts.judge_value(asked, value.sought)
        else:
            level, seen = facts.judge_content(asked, value.content)
        if level > ALLOW:
            is_spoken = facts.fresh.request_mentions(value.sought) is not None
            yield (
                level,
                plain._replace(
                    origin="untrusted" if seen.is_unread else seen.origin,
                    item=seen.rival if seen.is_unread or seen.item is None else seen.item,
                    stale=seen.stale,
                    is_short=value.sought.is_short_number
                    and self._is_in_request(value.sought.narrow),
                    is_spoken=is_spoken,
                ),
            )

    def _is_in_request(self, number: str) -> bool:
        """Return whether the user said a number, whatever they meant by it."""
        said = re.compile(rf"(?<![0-9]){number}(?![0-9])")
        items = self._case.surface.evidence.values()
        users = (one for one in items if one.source is not None and one.source.author == "user")
        return any(type(one.content) is str and said.search(one.content) for one in users)
