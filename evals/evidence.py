"""The evidence of a step: does it exist, is it fresh, does it say what the tool demands?"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from evals.binding import BoundValues, ContentIndex, Subject, is_empty, unbacked_values
from evals.capability import ToolCapability
from evals.escaping import escape_name
from evals.manifest import EvidenceItem
from evals.needs import NO_NEEDS, Bound, Need, Needs, needs_of
from evals.timestamps import is_unexpired

_NAMED_AT_MOST: Final = 5


class MissingClass(NamedTuple):
    """A required class of which no fresh item is pinned."""

    classification: str


class UnmetDemand(NamedTuple):
    """A demand that no pinned item of its class meets, and the arguments of it that are empty."""

    need: Need
    without: tuple[str, ...]


class PinFault(NamedTuple):
    """A pinned ref that proves nothing: its position in `evidence_refs`, and the reason."""

    position: int
    ref: str
    why: str


class MissingArgument(NamedTuple):
    """A bound argument that must be there and is absent or empty."""

    name: str
    is_present: bool


class UnbackedArgument(NamedTuple):
    """A bound argument with a value that no pinned item of its classes holds, where it must."""

    name: str
    at: tuple[str, ...] | None


class UnbackedGroup(NamedTuple):
    """Bound arguments that no pinned item backs all together."""

    names: tuple[str, ...]


EvidenceFault = (
    MissingClass | UnmetDemand | PinFault | MissingArgument | UnbackedArgument | UnbackedGroup
)


class Pins(NamedTuple):
    """The fresh items that the refs of a step name, by their class, and the refs that name none."""

    by_class: Mapping[str, Sequence[EvidenceItem]]
    faults: list[PinFault]


def resolve_pins(
    refs: Iterable[str], manifest: Mapping[str, EvidenceItem], as_of: datetime | None
) -> Pins:
    """Look up every ref, each once. The text of a ref proves nothing; only the manifest does."""
    by_class: dict[str, list[EvidenceItem]] = {}
    faults: list[PinFault] = []
    seen: set[str] = set()
    for position, ref in enumerate(refs):
        if ref in seen:
            continue
        seen.add(ref)
        item = manifest.get(ref)
        if item is None:
            faults.append(PinFault(position, ref, "which is not in the evidence manifest"))
        elif is_unexpired(item.expires_at, as_of):
            by_class.setdefault(item.classification, []).append(item)
        else:
            why = "which has expired" if as_of else "whose expiry cannot be judged without as_of"
            faults.append(PinFault(position, ref, why))
    return Pins(by_class, faults)


def meets(index: ContentIndex, need: Need, about: Iterable[tuple[Subject, str]]) -> bool:
    """Return whether one content says all that a demand asks for."""
    if need.schema is not None and not index.satisfies(need.schema):
        return False
    return all(index.is_about(subject, pointer) for subject, pointer in about)


class _Subjects(dict[str, Subject | None]):
    """Arguments in the form in which content is asked for them; None for those without a value."""

    def __init__(self, args: Mapping[str, Any]) -> None:
        self._args = args

    def __missing__(self, name: str) -> Subject | None:
        value = self._args.get(name)
        self[name] = None if is_empty(value) else Subject.of(value)
        return self[name]


class EvidenceReview:
    """Judges the evidence of steps, of one manifest at one time.

    What it derives from items and tools it derives once, so that a step costs what it pins and
    binds. Make one for each decision: it does not see later edits of the JSON in them.
    """

    def __init__(self, manifest: Mapping[str, EvidenceItem], as_of: datetime | None) -> None:
        self._manifest = manifest
        self._as_of = as_of
        self._indexes: dict[int, ContentIndex] = {}
        self._needs: dict[int, tuple[ToolCapability, Needs]] = {}
        self._without_refs: dict[int, Sequence[EvidenceFault]] = {}

    def pins(self, refs: Iterable[str] | None) -> Pins:
        """Return what the refs of a step name."""
        return resolve_pins(refs or (), self._manifest, self._as_of)

    def index_of(self, item: EvidenceItem) -> ContentIndex:
        """Return the index of the item's content."""
        index = self._indexes.get(id(item))
        if index is None:
            index = self._indexes[id(item)] = item.backing
        return index

    def needs_of(self, tool: ToolCapability | None) -> Needs:
        """Return what the tool needs; nothing where there is no tool."""
        if tool is None:
            return NO_NEEDS
        kept = self._needs.get(id(tool))
        if kept is None:
            # With the tool itself, since the identity of one that is gone may be given again.
            kept = self._needs[id(tool)] = tool, needs_of(tool)
        return kept[1]

    def faults(
        self,
        tool: ToolCapability | None,
        claims: Iterable[str] | None,
        refs: Iterable[str] | None,
        args: Mapping[str, Any],
    ) -> Sequence[EvidenceFault]:
        """Return all that the evidence of one step lacks.

        In this order: classes and demands, of the tool and then of the step; pinned refs; bound
        arguments by name; groups of them.

        Args:
            claims: the classes that the step itself requires.
            refs: the refs that the step pins.
            args: the arguments of the step, or those that were sent; empty for a reason step.
        """
        needs = self.needs_of(tool)
        if not (claims or refs or needs.bound):
            return self._faults_without_refs(needs)
        by_class, pin_faults = self.pins(refs)
        found = self._unmet_demands(needs.demands, claims or (), by_class, args)
        found += pin_faults
        if needs.bound:
            given = given_values(needs, args)
            found += self._unbacked_arguments(needs, given, by_class, args)
            for group in needs.groups:
                names = tuple(name for name in group if name in given and given[name].values)
                if names and not self.backs_together(needs, names, given, by_class):
                    found.append(UnbackedGroup(names))
        return found

    def _faults_without_refs(self, needs: Needs) -> Sequence[EvidenceFault]:
        """Return what each step lacks that says nothing of evidence: the same for all of a tool."""
        faults = self._without_refs.get(id(needs))
        if faults is None:
            faults = tuple(self._unmet_demands(needs.demands, (), {}, {}))
            self._without_refs[id(needs)] = faults
        return faults

    def _unmet_demands(
        self,
        demands: Iterable[Need],
        claims: Iterable[str],
        by_class: Mapping[str, Sequence[EvidenceItem]],
        args: Mapping[str, Any],
    ) -> list[EvidenceFault]:
        """Return the demands that none of the items meets; a class without any item once.

        A class that the step claims is met by any item.
        """
        found: list[EvidenceFault] = []
        missing: set[str] = set()
        subjects: _Subjects | None = None
        for need in demands:
            items = by_class.get(need.classification)
            if items is None:
                if need.classification not in missing:
                    found.append(MissingClass(need.classification))
                missing.add(need.classification)
            elif not need.is_plain:
                subjects = _Subjects(args) if subjects is None else subjects
                found += self._unmet_by(need, items, subjects)
        for name in claims:
            if name not in by_class and name not in missing:
                missing.add(name)
                found.append(MissingClass(name))
        return found

    def _unmet_by(
        self, need: Need, items: Iterable[EvidenceItem], subjects: "_Subjects"
    ) -> Iterator[UnmetDemand]:
        if without := tuple(name for name, _ in need.about if subjects[name] is None):
            yield UnmetDemand(need, without)
            return
        about = [(subject, place) for name, place in need.about if (subject := subjects[name])]
        if not any(meets(index, need, about) for index in map(self.index_of, items)):
            yield UnmetDemand(need, ())

    def _unbacked_arguments(
        self,
        needs: Needs,
        given: Mapping[str, BoundValues],
        by_class: Mapping[str, Sequence[EvidenceItem]],
        args: Mapping[str, Any],
    ) -> Iterator[MissingArgument | UnbackedArgument]:
        for name in sorted({*given, *needs.required}):
            bound = needs.bound[name]
            if name not in given:
                yield MissingArgument(name, name in args)
            elif unbacked_values(given[name].values, self.backings(bound, by_class), bound.at):
                yield UnbackedArgument(name, bound.at)

    def backings(
        self, bound: Bound, by_class: Mapping[str, Sequence[EvidenceItem]]
    ) -> list[ContentIndex]:
        """Return the indexes of those items that may back a bound argument."""
        return [self.index_of(item) for name in bound.classes for item in by_class.get(name, ())]

    def backs_together(
        self,
        needs: Needs,
        names: Sequence[str],
        given: Mapping[str, BoundValues],
        by_class: Mapping[str, Sequence[EvidenceItem]],
    ) -> bool:
        """Return whether one item of a class that all of them allow backs every value of them."""
        allowed = set(by_class).intersection(*(needs.bound[name].classes for name in names))
        return any(
            all(index.backs_all(given[name]) for name in names)
            for kind in allowed
            for index in map(self.index_of, by_class[kind])
        )


def list_names(names: Sequence[str], last: str = "and") -> str:
    """Return names for a message, escaped, the first few of them."""
    shown = [escape_name(name) for name in names[:_NAMED_AT_MOST]]
    if more := len(names) - len(shown):
        shown.append(f"{more} more")
    *before, final = shown or [""]
    return f"{', '.join(before)} {last} {final}" if before else final


def said_of(need: Need) -> str:
    """Return what the content must say, for a message: it follows the word "content"."""
    holds = [
        f"argument {escape_name(name)} at {escape_name(pointer) or 'its root'}"
        for name, pointer in need.about[:_NAMED_AT_MOST]
    ]
    if more := len(need.about) - len(holds):
        holds.append(f"{more} more")
    said = [] if need.schema is None else ["satisfies the content_schema"]
    said += [f"holds {', '.join(holds)}"] if holds else []
    return " and ".join(said)


def given_values(needs: Needs, args: Mapping[str, Any]) -> dict[str, BoundValues]:
    """Return the values of those bound arguments that are not left out."""
    given: dict[str, BoundValues] = {}
    for name, value in args.items():
        bound = needs.bound.get(name)
        if bound is not None and (bound.empty == "judged" or not is_empty(value)):
            given[name] = BoundValues(value, bound.at)
    return given
