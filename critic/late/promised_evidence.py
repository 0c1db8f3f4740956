"""The evidence of a late step before it is opened: what lacks, and what waits for results.

Rule 1: a class is promised where a step that this one pins yields it. Nothing else promises.
Rule 2: what pinned items show now stands. What no result can mend is a fault now.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from critic.late.late_steps import EvidenceToCome, LateStep, Waiting
from evals.binding import BoundValues, Subject, is_empty, unbacked_values
from evals.escaping import pointer
from evals.evidence import (
    EvidenceFault,
    EvidenceReview,
    MissingArgument,
    MissingClass,
    Pins,
    UnbackedArgument,
    UnbackedGroup,
    UnmetDemand,
    given_values,
    list_names,
    meets,
)
from evals.manifest import EvidenceItem
from evals.needs import Bound, Need, Needs


def judge_evidence(
    step: LateStep, promised: frozenset[str], review: EvidenceReview
) -> EvidenceToCome:
    """Return what the evidence of a step lacks now, whatever comes, and what waits."""
    judge = _Judge(step, promised, review)
    demands = [*judge.demands()]
    found = [*demands, *judge.pins.faults, *judge.arguments(), *judge.groups()]
    waiting = [one for one in found if isinstance(one, Waiting)]
    return EvidenceToCome([one for one in found if not isinstance(one, Waiting)], waiting)


class _Judge:
    def __init__(self, step: LateStep, promised: frozenset[str], review: EvidenceReview) -> None:
        self._late, self._promised, self._review = step.names, promised, review
        self._args: Mapping[str, Any] = step.fields["args"]
        self._claims = step.fields["requires_evidence"] or ()
        self._needs: Needs = review.needs_of(step.tool.capability)
        self.pins: Pins = review.pins(step.fields["evidence_refs"])
        early = {name: value for name, value in self._args.items() if name not in self._late}
        self._given: Mapping[str, BoundValues] = given_values(self._needs, early)

    def demands(self) -> Iterator[EvidenceFault | Waiting]:
        """Yield classes and demands, of the tool and then of the step; a class once."""
        named: set[str] = set()
        for need in self._needs.demands:
            items = self.pins.by_class.get(need.classification)
            if items is None and need.classification not in self._promised:
                if need.classification not in named:
                    yield MissingClass(need.classification)
                named.add(need.classification)
            elif not need.is_plain:
                yield from self._judge_demand(need, items or ())
            elif items is None:
                named.add(need.classification)
                yield _wait_for_class(need.classification)
        for name in self._claims:
            if name not in self.pins.by_class and name not in named:
                named.add(name)
                promised = name in self._promised
                yield _wait_for_class(name) if promised else MissingClass(name)

    def _judge_demand(
        self, need: Need, items: Iterable[EvidenceItem]
    ) -> Iterator[EvidenceFault | Waiting]:
        early = [(name, at) for name, at in need.about if name not in self._late]
        without = tuple(name for name, _ in early if is_empty(self._args.get(name)))
        if without:
            yield UnmetDemand(need, without)
            return
        about = [(Subject.of(self._args[name]), at) for name, at in early]
        met = any(meets(self._review.index_of(item), need, about) for item in items)
        if met and len(early) == len(need.about):
            return
        if not met and need.classification not in self._promised:
            yield UnmetDemand(need, ())
        else:
            reason = f"evidence of class {need.classification} says what the tool demands"
            yield Waiting("evidence", "", reason)

    def arguments(self) -> Iterator[EvidenceFault | Waiting]:
        """Yield bound arguments, by name."""
        late = self._late & self._needs.bound.keys()
        for name in sorted({*self._given, *self._needs.required, *late}):
            bound = self._needs.bound[name]
            if name in late:
                waits = self._may_come(bound) or self._is_pinned(bound)
            elif name not in self._given:
                yield MissingArgument(name, name in self._args)
                continue
            elif self._is_backed(name, bound):
                continue
            else:
                waits = self._may_come(bound)
            yield _wait_for_backing(name) if waits else UnbackedArgument(name, bound.at)

    def groups(self) -> Iterator[EvidenceFault | Waiting]:
        """Yield groups of arguments that one item must back."""
        for group in self._needs.groups:
            early = tuple(n for n in group if n in self._given and self._given[n].values)
            names = tuple(name for name in group if name in self._late or name in early)
            is_early = len(early) == len(names)
            if not names or (is_early and self._backed_together(early)):
                continue
            if any(map(self._could_wait, names)):
                yield Waiting("binding", "", f"one item backs {list_names(names)}")
            else:
                yield UnbackedGroup(names)

    def _could_wait(self, name: str) -> bool:
        bound = self._needs.bound[name]
        return self._may_come(bound) or (name in self._late and self._is_pinned(bound))

    def _may_come(self, bound: Bound) -> bool:
        return not self._promised.isdisjoint(bound.classes)

    def _is_pinned(self, bound: Bound) -> bool:
        return any(name in self.pins.by_class for name in bound.classes)

    def _is_backed(self, name: str, bound: Bound) -> bool:
        backings = self._review.backings(bound, self.pins.by_class)
        return not unbacked_values(self._given[name].values, backings, bound.at)

    def _backed_together(self, names: Sequence[str]) -> bool:
        return self._review.backs_together(self._needs, names, self._given, self.pins.by_class)


def _wait_for_class(name: str) -> Waiting:
    return Waiting("evidence", "", f"evidence of class {name} is there")


def _wait_for_backing(name: str) -> Waiting:
    return Waiting("binding", pointer("args", name), "pinned evidence backs the argument")
