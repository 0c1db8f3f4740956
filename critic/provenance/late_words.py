"""What a late value may be, before it is there: a word that stands at its place and nowhere else.

Rule 1: the output of a source is taken to hold one word, at the place that is taken from, with the
        author, web mark and standing that the result will have. Late locators are such words, too.
Rule 2: of a class that the source promises, the word is written by who fills that field. An element
        of a list is no field by itself.
Rule 3: what a derived source returns stands at each place that it takes from, and in each field
        that the class of the output has there: which of them it will be is seen at the opening. One
        that takes nothing makes it up.
Rule 4: so many words are judged in one plan. A step beyond is refused.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import islice
from typing import Any, Final, NamedTuple

from critic.late.argument_places import ArgPath, put_at_path
from critic.late.late_steps import LatePlan, LateStep, LateValue, default_class, result_class
from critic.late.schema_ways import types_in, walk_schema
from critic.prepared import PreparedPlan
from critic.provenance.call_values import CallValues, JudgedValue
from critic.provenance.late_outputs import word_outputs
from critic.provenance.late_roles import roles_at
from critic.provenance.roles import RoleTree, tool_roles
from critic.provenance.standing import standing_of
from critic.provenance.value_facts import KnownValues, NamePair, ValueFacts, values_known
from evals.capability import ToolCapability
from evals.json_value import detach_json
from evals.manifest import EvidenceClass, EvidenceItem, Manifests, Source, Standing

MOST_WORDS: Final = 10_000
_MOST_MOVED: Final = 200
"""How many steps of one plan may read what another one returns: each is looked up in turn."""

_Place = tuple[int, str, bool]
"""The index of a source, a place in its output, and whether the word is an element there."""


class LateArgs(NamedTuple):
    """The arguments of a step with words in them, and what is known of its sources.

    Attributes:
        shown: by the path of each late value, its position and what it is, for a person.
        ran: those tools of the steps before it for sure that its own tool follows.
    """

    args: Mapping[str, Any]
    shown: Mapping[ArgPath, tuple[int, str]]
    ran: frozenset[NamePair]

    def take_at(self, path: ArgPath, written: Any) -> tuple[int, str] | None:
        """Return the late value that stands at a path. Its name is there already."""
        is_name = bool(path) and written == path[-1]
        return None if is_name else self.shown.get(path)


KnownWith = Callable[
    [Sequence[EvidenceItem], Sequence[EvidenceClass]], AbstractContextManager[KnownValues]
]
"""Gives what is known of values once there are more items, and classes that describe them."""


class LateWords(NamedTuple):
    """The words of a plan, as they stand in evidence, and the arguments of each late step.

    A step without arguments here is one too many.

    Attributes:
        items: the evidence that holds the words.
        classes: what describes it, beyond the classes of the plan.
    """

    items: Sequence[EvidenceItem]
    classes: Sequence[EvidenceClass]
    args: Mapping[int, LateArgs]


def find_late_words(case: PreparedPlan, late: LatePlan, known_with: KnownWith) -> LateWords:
    """Return what is judged of a plan before its late values are there."""
    return _Words(case, late, known_with).find_words()


def known_by_context(case: PreparedPlan) -> KnownWith:
    """Return what gives what the context of a plan says of values, beside more evidence."""
    known = case.surface.manifests

    def known_with(
        items: Sequence[EvidenceItem], classes: Sequence[EvidenceClass]
    ) -> AbstractContextManager[KnownValues]:
        optional: dict[str, Any] = {"record_fields": known.record_fields}
        if known.classes is not None:
            optional["classes"] = (*known.classes, *classes)
        evidence = (*known.evidence_manifest, *items)
        return values_known(
            case,
            Manifests(tool_manifest=known.tool_manifest, evidence_manifest=evidence, **optional),
        )

    return known_with


class _Words:
    def __init__(self, case: PreparedPlan, late: LatePlan, known_with: KnownWith) -> None:
        self._case, self._late, self._known_with = case, late, known_with
        self._manifests: Final[Manifests] = case.surface.manifests
        self._values: Final = CallValues(self._manifests.tools)
        self._trees: dict[NamePair, RoleTree] = {}
        self._items: list[EvidenceItem] = []
        self._classes: dict[str, EvidenceClass] = {}
        self._taken: Final = {*case.surface.by_class, *(c.class_ for c in self._known_classes)}
        self._places: dict[int, frozenset[_Place]] = {}
        self._words: dict[tuple[frozenset[_Place], str], str] = {}
        self._standings: dict[int, Standing] = {}
        self._args: dict[int, LateArgs] = {}
        self._calls: Final = _steps_by_tool(case)
        self._moved = 0
        self._seed = f"{case.ctx.trace_id} {len(case.steps)}"

    @property
    def _known_classes(self) -> tuple[EvidenceClass, ...]:
        return self._manifests.classes or ()

    def find_words(self) -> LateWords:
        before: dict[int, int] = {}
        if len(self._case.steps) <= MOST_WORDS:
            self._read_early()
            ids: dict[str, int] = {}
            for index, _, fields in self._case.steps:
                before[index] = self._steps_before(index, ids, before)
                if fields["id"] is not None:
                    ids.setdefault(fields["id"], index)
                step = self._late.steps.get(index)
                if step is not None:
                    self._place_words(step, before[index])
        return LateWords(self._items, (*self._classes.values(),), self._args)

    def _steps_before(self, index: int, ids: Mapping[str, int], before: Mapping[int, int]) -> int:
        """Return the sources of a step, and theirs, as the bits of one number."""
        fields, step = self._case.steps[index][2], self._late.steps.get(index)
        named = [ids[name] for name in fields["depends_on"] or () if name in ids]
        if step is not None:
            named += [*step.pinned, *(value.source for value in step.values)]
        bits = 0
        for source in named:
            bits |= 1 << source | before[source]
        return bits

    def _place_words(self, step: LateStep, before: int) -> None:
        args: dict[str, Any] = detach_json(step.fields["args"])
        shown: dict[ArgPath, tuple[int, str]] = {}
        for value in step.values:
            word = self._word_for(step, value)
            if word is None:
                return
            put_at_path(args, value.path, word)
            named = f"{value.take.at or 'the output'} of step {value.take.step}"
            shown[value.path] = value.position, named
        followed = (step.tool.capability.follows if step.tool.capability else None) or ()
        pairs = ((one.adapter_id, one.capability_id) for one in followed)
        ran = frozenset(pair for pair in pairs if self._calls.get(pair, 0) & before)
        self._args[step.index] = LateArgs(args, shown, ran)

    def _word_for(self, step: LateStep, value: LateValue) -> str | None:
        """Return the word that is taken; None where there would be too many."""
        places = self._places_of(value)
        tool = step.tool.capability
        kind = roles_at(self._tree(tool), value.path).kind if tool is not None else None
        key = places, kind or ""
        word = self._words.get(key)
        if word is None:
            if len(self._items) + len(places) > MOST_WORDS or len(self._words) >= MOST_WORDS:
                return None
            word = self._words[key] = self._spell(len(self._words), kind)
            for place in sorted(places):
                source, at, is_element = place
                fields = self._fields_of(self._late.tool_of(source))
                for content in word_outputs(word, at, fields, is_element=is_element):
                    self._items.append(self._item(source, content))
        return word

    def _tree(self, tool: ToolCapability) -> RoleTree:
        pair = tool.adapter_id, tool.capability_id
        if pair not in self._trees:
            self._trees[pair] = tool_roles(tool)
        return self._trees[pair]

    def _spell(self, number: int, kind: str | None) -> str:
        """Return a word that nothing else holds, of the kind that the argument is read as."""
        digits = hashlib.sha256(f"{self._seed} {number}".encode()).hexdigest()
        letters = "".join(chr(ord("a") + int(digit, 16)) for digit in digits[:32])
        match kind:
            case "address":
                return f"{letters}@{letters}.example"
            case "url":
                return f"https://{letters}.example/{letters}"
            case "account":
                return "DE" + str(int(digits, 16))[:20]
            case _:
                return letters

    def _places_of(self, value: LateValue) -> frozenset[_Place]:
        """Return where a word stands that a step takes."""
        source = value.source
        if not _is_derived(self._late.tool_of(source)):
            return frozenset([(source, value.take.at, False)])
        if source not in self._places:
            self._places[source] = self._places_read(source)
        return self._places[source]

    def _places_read(self, source: int) -> frozenset[_Place]:
        """Return the places that a derived source takes from, through others that are derived.

        A source comes before what takes from it, and was asked for by then.
        """
        step = self._late.steps.get(source)
        found: set[_Place] = set()
        for value in step.values if step is not None else ():
            for at, place, is_element in self._places_of(value):
                schema = walk_schema(self._late.output_schema(at), place, wildcard=True)
                is_text = types_in(schema) == frozenset({"string"})
                found.add((at, place, is_element or not is_text))
        return frozenset(found)

    def _item(self, source: int, content: Any) -> EvidenceItem:
        """Return the output of a source."""
        tool = self._late.tool_of(source)
        name, author = self._class_of(tool)
        web: dict[str, Any] = {"web": True} if tool.result is not None and tool.result.web else {}
        standing = self._look_up_standing(source)
        return EvidenceItem(
            id=self._id_for(source),
            classification=name,
            content=content,
            source=Source(author=author, standing=standing, **web),
        )

    def _id_for(self, source: int) -> str:
        name = f"step/{source}/{len(self._items)}"
        while name in self._case.surface.evidence:
            name += "_"
        return name

    def _class_of(self, tool: ToolCapability) -> tuple[str, Any]:
        """Return the class of what a tool will return, and who writes it.

        The word alone would not satisfy the schema of the class, which the output will.
        """
        author = "public" if tool.result is None else tool.result.author
        declared = next((one for one in self._known_classes if one.class_ == tool.yields), None)
        if declared is None:
            return result_class(tool), author
        if tool.result is not None and tool.result.format == "json":
            return self._class_without_schema(declared), author
        narrows = any(writer != "system" for writer in declared.fields.values())
        return default_class(tool), "public" if narrows else author

    def _fields_of(self, tool: ToolCapability) -> tuple[str, ...]:
        """Return the fields of what a tool will return: names of members, and pointers."""
        known = [one.fields for one in self._known_classes if one.class_ == tool.yields]
        return *(self._manifests.record_fields or ()), *(one for each in known for one in each)

    def _class_without_schema(self, declared: EvidenceClass) -> str:
        if declared.class_ not in self._classes:
            name = f"late/{len(self._classes)}"
            while name in self._taken:
                name += "_"
            self._taken.add(name)
            self._classes[declared.class_] = EvidenceClass(class_=name, fields=declared.fields)
        return self._classes[declared.class_].class_

    def _read_early(self) -> None:
        """Find how the plan comes to read the sources whose locators are all there."""
        sources = {value.source for step in self._late.steps.values() for value in step.values}
        early = [source for source in sorted(sources) if not self._reads_late(source)]
        with self._known_with((), ()) as known:
            facts = ValueFacts(self._case.spec, known)
            for source in early:
                args = self._case.steps[source][2]["args"]
                self._standings[source] = standing_of(self._locators(source, args), facts)

    def _reads_late(self, source: int) -> bool:
        """Return whether a locator of a source is a late value."""
        step = self._late.steps.get(source)
        if step is None or not step.values:
            return False
        tree = self._tree(self._late.tool_of(source))
        return any("locator" in roles_at(tree, value.path).every for value in step.values)

    def _locators(self, source: int, args: Mapping[str, Any]) -> list[JudgedValue]:
        tool = self._late.tool_of(source)
        found = self._values.values_of((tool.adapter_id, tool.capability_id), args)
        return [one for one in islice(found, MOST_WORDS) if one.asked.role == "locator"]

    def _look_up_standing(self, source: int) -> Standing:
        """Return how the plan comes to read a source, by the locators of its call."""
        if source not in self._standings:
            self._standings[source] = self._find_standing(source)
        return self._standings[source]

    def _find_standing(self, source: int) -> Standing:
        late = self._args.get(source)
        self._moved += 1
        if late is None or self._moved > _MOST_MOVED:
            return "led"
        with self._known_with(self._items, (*self._classes.values(),)) as known:
            facts = ValueFacts(self._case.spec, known)
            return standing_of(self._locators(source, late.args), facts)


def _steps_by_tool(case: PreparedPlan) -> dict[NamePair, int]:
    """Return the steps that call each tool, as the bits of one number."""
    found: dict[NamePair, int] = {}
    if len(case.steps) <= MOST_WORDS:
        for index, _, fields in case.steps:
            if fields["kind"] == "tool":
                pair = fields["adapter_id"], fields["capability_id"]
                found[pair] = found.get(pair, 0) | 1 << index
    return found


def _is_derived(tool: ToolCapability) -> bool:
    return tool.result is not None and tool.result.derived is True
