"""What a model is told where evidence is missing, too old, or says something else."""

from collections.abc import Iterable
from typing import Any, assert_never

from critic.replies.plan_facts import BY_OPERATOR, CalledStep, PlanFacts
from critic.replies.quoting import Pen
from evals.binding import scalars
from evals.evidence import (
    EvidenceFault,
    MissingArgument,
    MissingClass,
    PinFault,
    UnbackedArgument,
    UnbackedGroup,
    UnmetDemand,
)
from evals.manifest import EvidenceItem
from evals.needs import Bound, Need
from evals.pointers import values_at


class EvidenceTexts:
    """Writes the texts about the evidence of one step, without the name of its tool before them."""

    def __init__(self, pen: Pen, facts: PlanFacts, step: CalledStep) -> None:
        """Write about a step."""
        self._pen, self._facts, self._step = pen, facts, step
        self._needs = facts.review.needs_of(step.capability)

    def word(self, fault: EvidenceFault) -> str:
        """Return the text of what the evidence lacks."""
        match fault:
            case MissingClass():
                return self._word_missing(fault.classification)
            case UnmetDemand():
                return self._word_unmet(fault)
            case PinFault():
                return self._word_pin(fault)
            case MissingArgument():
                return f"{self._pen.name(fault.name)} is missing. Fill it in."
            case UnbackedArgument():
                return self._word_unbacked(fault.name)
            case UnbackedGroup():
                return self._word_group(fault)
            case _:
                assert_never(fault)

    def _word_missing(self, name: str) -> str:
        about = [need.about for need in self._needs.demands if need.classification == name]
        named = [self._step.args.get(argument) for pairs in about for argument, _ in pairs]
        values = [value for value in named if value is not None]
        return word_missing_class(self._pen, self._facts, name, values[0] if values else None)

    def _word_unmet(self, fault: UnmetDemand) -> str:
        if fault.without:
            names = self._pen.names(fault.without)
            return f"{names} {'is' if len(fault.without) == 1 else 'are'} missing. Fill it in."
        need = fault.need
        named = [self._step.args.get(argument) for argument, _ in need.about]
        if named and not any(self._is_about(item, need) for item in self._find_pinned([need])):
            return word_missing_class(self._pen, self._facts, need.classification, named[0])
        what = f" for {self._pen.quote(named[0])}" if named else ""
        return (
            f"the {self._pen.name(need.classification)}{what} does not allow it."
            " Tell the user; do not try again unless it changes."
        )

    def _word_pin(self, fault: PinFault) -> str:
        item = self._facts.case.surface.evidence.get(fault.ref)
        if item is not None:
            return _word_stale(self._pen, self._facts, item)
        return f"there is no item {self._pen.quote(fault.ref)}. Leave it out."

    def _word_unbacked(self, name: str) -> str:
        pen, bound = self._pen, self._needs.bound[name]
        if not bound.classes:
            return _unbound([name], pen)
        value, items = self._step.args.get(name), [*self._items_of(bound.classes)]
        if not items:
            named = value if type(value) is str else None
            return word_missing_class(pen, self._facts, bound.classes[0], named)
        kept = [item for item in items if self._holds_others(item, name)] or items
        said = {repr(one): one for item in kept for one in _values_in(item, bound)}
        source = pen.name(kept[0].classification)
        if len(said) == 1 and all(map(_is_of_record, kept)):
            (one,) = said.values()
            shown, wanted = pen.show(value), pen.show(one)
            return f"{pen.name(name)} is {shown} but the {source} says {wanted}: use {wanted}."
        return (
            f"{pen.name(name)} {pen.quote(value)} is not in the {source}. {self._use_value(bound)}"
        )

    def _use_value(self, bound: Bound) -> str:
        tool = self._facts.catalogue.find_yielder(bound.classes)
        where = f"Use a value from {self._pen.name(tool.name)}" if tool else "Use a value from it"
        return f"{where}, or ask the user."

    def _word_group(self, fault: UnbackedGroup) -> str:
        classes = self._needs.bound[fault.names[0]].classes
        if not classes:
            return _unbound(fault.names, self._pen)
        tool = self._facts.catalogue.find_yielder(classes)
        source = f"result of {self._pen.name(tool.name)}" if tool else self._pen.name(classes[0])
        return f"{self._pen.names(fault.names)} do not belong to one {source}. Take them from one."

    def _find_pinned(self, needs: Iterable[Need]) -> list[EvidenceItem]:
        return [*self._items_of(need.classification for need in needs)]

    def _items_of(self, classes: Iterable[str]) -> Iterable[EvidenceItem]:
        """Return the fresh items of some classes that the step pins."""
        by_class = self._facts.review.pins(self._step.refs).by_class
        return (item for name in classes for item in by_class.get(name, ()))

    def _is_about(self, item: EvidenceItem, need: Need) -> bool:
        args = self._step.args
        return all(
            args.get(name) in [*values_at(item.content, place, wildcard=True)]
            for name, place in need.about
        )

    def _holds_others(self, item: EvidenceItem, name: str) -> bool:
        """Return whether an item holds the other arguments that are bound to its class."""
        others = [
            one
            for one, bound in self._needs.bound.items()
            if one != name and item.classification in bound.classes and one in self._step.args
        ]
        held = [*scalars(item.content)] if item.content is not None else []
        return all(value in held for one in others for value in scalars(self._step.args[one]))


def _unbound(names: Iterable[str], pen: Pen) -> str:
    return f"no value of {pen.names(names)} is right: {BY_OPERATOR}"


def word_missing_class(pen: Pen, facts: PlanFacts, name: str, value: Any) -> str:
    """Return the text where no fresh item of a class is there."""
    items = [one for one in facts.case.surface.evidence.values() if one.classification == name]
    if items and not any(map(facts.is_fresh, items)):
        return _word_stale(pen, facts, items[-1])
    about = "" if value is None else f" for {pen.quote(value)}"
    tool = facts.catalogue.find_yielder([name])
    if tool is not None:
        return f"first call {pen.name(tool.name)}{about}."
    return (
        f"it needs a {pen.name(name)}{about}, and no tool returns one."
        f" Ask the user; else {BY_OPERATOR}"
    )


def _word_stale(pen: Pen, facts: PlanFacts, item: EvidenceItem) -> str:
    tool = facts.catalogue.tool_of(item)
    source = f" from {pen.name(tool.name)}" if tool else ""
    return f"the {pen.name(item.classification)}{source} {facts.age_of(item)}: read it again."


def _values_in(item: EvidenceItem, bound: Bound) -> list[Any]:
    if bound.at is None or item.content is None:
        return []
    found = [one for place in bound.at for one in values_at(item.content, place, wildcard=True)]
    return [one for one in found if type(one) not in (dict, list)]


def _is_of_record(item: EvidenceItem) -> bool:
    """Return whether nobody but a system of record can have written what an item says."""
    source = item.source
    return source is None or (source.author in ("system", "operator") and not source.web)
