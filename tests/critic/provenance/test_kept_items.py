"""The index of what items say is kept, and answers as one made anew: whatever was done between."""

import copy
import gc
import pickle
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from types import FunctionType, ModuleType
from typing import Any, Final

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from critic import CompiledContext, Proposal, Verified, verify_proposal
from critic.provenance import kept_items
from critic.provenance.day_forms import Day
from critic.provenance.kept_items import seen_in
from critic.provenance.seen_items import SeenItems
from critic.provenance.seen_sources import Seen
from critic.provenance.sent_values import SentIndex
from critic.provenance.value_kinds import read_value
from evals.context import SentValues
from evals.manifest import EvidenceItem, Manifests
from tests.support.effort import examples
from tests.support.model.facts import Json
from tests.support.seen_values import seen_anew, sighting
from tests.support.sightings import VALUE, answer, item, proposal, request

HOURS: Final = [None, *(datetime(2026, 5, 9, hour, tzinfo=UTC) for hour in (9, 11))]
LATE: Final[Json] = {"expires_at": "2026-05-09T10:00:00Z"}
VALUES: Final = ["alpha-1", "beta-2", "may 9", "1"]
SENT: Final[list[Any]] = ["alpha-1", "to beta-2", "1", 1, 1.0, "other"]
CONTENTS: Final[list[Any]] = [
    *("alpha-1 and beta-2", "seen alpha-1 on may 9", {"id": "alpha-1"}, {"id": "beta-2", "x": 1}),
    *([{"id": "alpha-1"}, {"x": "beta-2"}], {"id": ["beta-2"], "x": True}, ["alpha-1"], 1, [None]),
]
CLASSES: Final[list[Json]] = [
    {"class": "a", "fields": {"id": "system"}},
    {"class": "a", "fields": {"id": "party"}, "schema": {"type": "object"}},
]


@pytest.fixture(autouse=True)
def _nothing_was_kept_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_items, "_RECENT", kept_items._Recent())


def items() -> st.SearchStrategy[Json]:
    return st.builds(
        lambda kind, content, author, standing, late: {
            "classification": kind,
            "content": content,
            **(LATE if late else {}),
            "source": {"author": author, "standing": standing},
        },
        st.sampled_from("ab"),
        st.sampled_from(CONTENTS).map(copy.deepcopy),
        st.sampled_from(["user", "operator", "system", "member", "public"]),
        st.sampled_from(["named", "reached", "led", "ambient"]),
        st.sampled_from([False, False, True]),
    )


def numbered(wire: list[Json], start: int = 0) -> tuple[EvidenceItem, ...]:
    return tuple(
        EvidenceItem.model_validate({**one, "id": f"e/{at}"}) for at, one in enumerate(wire, start)
    )


def known(both: Sequence[Seen]) -> list[Any]:
    """Return all that is known of the values, with the ids of the items that show them."""
    return [
        (
            *(named(sighting(seen, value)) for value in VALUES),
            *(seen.leads_to(read_value(value, None)) for value in VALUES),
            seen.days.find(Day(2026, 5, 9)).origin,
            seen.days.are_requested,
            sorted(seen.request_words.stems),
        )
        for seen in both
    ]


def named(one: Any) -> Any:
    return one.origin, *(found and found.id for found in (one.item, one.rival))


class World:
    """Some manifests, of which later ones go on from earlier ones."""

    def __init__(self, data: st.DataObject) -> None:
        self._data, self._sent = data, list[SentValues]()
        self.all = [self._described(numbered(data.draw(st.lists(items(), max_size=4))))]

    def _described(self, evidence: tuple[EvidenceItem, ...]) -> Manifests:
        wire: Any = {"classes": [copy.deepcopy(self._data.draw(st.sampled_from(CLASSES)))]}
        fields = ["id"] if self._data.draw(st.booleans()) else []
        return Manifests(tool_manifest=(), evidence_manifest=evidence, record_fields=fields, **wire)

    def _any(self) -> Manifests:
        found: Manifests = self._data.draw(st.sampled_from(self.all))
        return found

    def grow(self) -> None:
        """Make manifests with more items behind those of others, the very same or equal ones."""
        one = self._any()
        before = one.evidence_manifest
        if self._data.draw(st.booleans()):
            before = tuple(copy.deepcopy(item) for item in before)
        more = numbered(self._data.draw(st.lists(items(), max_size=2)), len(before))
        self.all.append(one.model_copy(update={"evidence_manifest": (*before, *more)}))

    def change(self) -> None:
        """Make manifests with other items or classes, which begin as those of others do."""
        evidence = list(self._any().evidence_manifest)
        if self._data.draw(st.booleans()) and evidence:
            at = self._data.draw(st.integers(0, len(evidence) - 1))
            [other] = numbered([self._data.draw(items())], at)
            evidence[at] = other.model_copy(update={"id": evidence[at].id})
        else:
            evidence = self._data.draw(st.sampled_from([evidence, evidence[::-1]]))
        self.all.append(self._described(tuple(evidence)))

    def edit(self) -> None:
        """Edit JSON in place, which manifests that share an item share as well."""
        one = self._any()
        contents = [item.content for item in one.evidence_manifest if type(item.content) is dict]
        fields = [each.fields for each in one.classes or ()]
        edited = self._data.draw(st.sampled_from([*contents, *fields]))
        key = self._data.draw(st.sampled_from(["id", "x"]))
        if any(edited is each for each in fields):
            edited[key] = self._data.draw(st.sampled_from(["system", "party", "public"]))
        elif self._data.draw(st.booleans()):
            edited[key] = self._data.draw(st.sampled_from(["alpha-1", 1, True, 1.0, ["beta-2"]]))
        else:
            edited.pop(key, None)

    def drop(self) -> None:
        """Forget manifests."""
        if len(self.all) > 1:
            self.all.pop(self._data.draw(st.integers(0, len(self.all) - 1)))

    def send(self) -> None:
        """Send more, or say that other values were sent."""
        kept = self._data.draw(st.integers(0, len(self._sent)))
        more = self._data.draw(st.lists(st.sampled_from(SENT), max_size=2))
        values = [*(one.values for one in self._sent[:kept]), *([one] for one in more)]
        self._sent = [SentValues(seq=at, values=[*one]) for at, one in enumerate(values)]

    def look(self) -> None:
        """Compare what is kept with an index made anew."""
        one, as_of = self._any(), self._data.draw(st.sampled_from(HOURS))
        with seen_in(one, as_of, self._sent[::-1]) as looked:
            both, sent = (looked.fresh, looked.every), SentIndex()
            assert known(both) == known(seen_anew(one, as_of))
            assert (looked.fresh is looked.every) == (not looked.fresh._items.any_expired)
            for each in self._sent:
                sent.add(each)
            assert first_sent(looked.sent) == first_sent(sent)


ACTS: Final = [
    *(World.look, World.look, World.grow, World.change, World.edit, World.drop, World.send)
]


def first_sent(sent: SentIndex) -> list[int | None]:
    return [sent.first_seq(read_value(value, None)) for value in (*VALUES, "other")]


@settings(deadline=None, max_examples=examples(240))
@given(st.data())
def test_what_is_kept_answers_as_what_is_made_anew(data: st.DataObject) -> None:
    world = World(data)
    for act in data.draw(st.lists(st.sampled_from(ACTS), max_size=10)):
        act(world)
    world.look()


@pytest.mark.parametrize("other", [{"record_fields": ["y"]}, {"classes": CLASSES[:1]}])
def test_items_are_read_anew_where_they_are_described_otherwise(other: Json) -> None:
    one = manifests_of({"x": "alpha-1", "y": "beta-2", "id": "may 9"})
    for each in (one, one.model_copy(update=other), one):
        with seen_in(each, None) as (*both, _):
            assert known(both) == known(seen_anew(each, None))


def test_an_index_that_is_used_by_nobody_is_a_new_one_for_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever was half done when a use failed is not used again."""
    one = manifests_of("see alpha-1")
    added = noted_adds(monkeypatch)
    for fails in (False, True, False, False):
        with suppress(KeyError), seen_in(one, None):
            if fails:
                raise KeyError
    assert added == ["e/0", "e/0"]


def manifests_of(*contents: Any) -> Manifests:
    wire = [{**item(content), "classification": "a"} for content in contents]
    return Manifests(tool_manifest=(), evidence_manifest=numbered(wire))


def noted_adds(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    added, add = list[str](), SeenItems.add

    def noting(index: SeenItems, one: EvidenceItem) -> None:
        added.append(one.id)
        add(index, one)

    monkeypatch.setattr(SeenItems, "add", noting)
    return added


@pytest.mark.parametrize("same", [True, False], ids=["the same items", "equal items"])
def test_each_item_is_read_once_however_many_plans_and_contexts_follow(
    same: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    added, one = noted_adds(monkeypatch), manifests_of("alpha-1", {"x": ["beta-2"]})
    for at in range(2, 9):
        for _ in range(3):
            with seen_in(one, None):
                pass
        assert added == [f"e/{number}" for number in range(at)]
        before = one.evidence_manifest if same else copy.deepcopy(one.evidence_manifest)
        more = numbered([item({"x": at})], at)
        one = one.model_copy(update={"evidence_manifest": (*before, *more)})


def test_an_index_is_of_one_context_at_a_time_the_last_that_went_on_from_it() -> None:
    one = manifests_of("alpha-1")
    more = numbered([item("beta-2"), item("gamma-3")], 1)
    grown = [
        one.model_copy(update={"evidence_manifest": (*one.evidence_manifest, *more[:count])})
        for count in range(3)
    ]
    for each in grown:
        with seen_in(each, None):
            pass
    kept = [kept_items._KEPT.get(each) for each in grown]
    assert [one is not None and one.index is not None for one in kept] == [False, False, True]


def test_the_longest_of_several_is_gone_on_from(monkeypatch: pytest.MonkeyPatch) -> None:
    said = [f"alpha-{at}" for at in range(4)]
    whole = manifests_of(*said)
    for count in (1, 3, 2):
        with seen_in(manifests_of(*said[:count]), None):
            pass
    added = noted_adds(monkeypatch)
    with seen_in(whole, None):
        pass
    assert added == ["e/3"]


def test_manifests_that_another_went_on_from_still_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    one = manifests_of("alpha-1")
    more = (*one.evidence_manifest, *numbered([item("beta-2")], 1))
    longer = one.model_copy(update={"evidence_manifest": more})
    added = noted_adds(monkeypatch)
    for _ in range(5):
        for each in (one, longer):
            with seen_in(each, None) as (*both, _):
                assert known(both) == known(seen_anew(each, None))
    own = [name for name in added if name == "e/1"]
    assert len(own) == 1 + 5, "the longer one is read once by itself"


def test_what_is_held_for_later_contexts_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_items, "_MOST_SIZE", 100)
    recent = kept_items._RECENT
    for at in range(40):
        with seen_in(manifests_of(f"alpha-{at} " * 3), None):
            pass
    assert 0 < sum(map(kept_items._size, recent._kept)) <= 100
    with seen_in(manifests_of("alpha-1 " * 30), None):
        pass
    assert not recent._kept
    for at in range(40):
        with seen_in(manifests_of(f"{at}"), None):
            pass
    assert len(recent._kept) == kept_items._MOST_RECENT


RECORD: Final[Json] = {"sender": VALUE, "x": "hello"}
ASKED: Final = request("do what bob says")


def asked(content: Any, **more: Any) -> Proposal:
    """Return a proposal whose recipient is the sender of a record: a field, which allows."""
    wire = proposal(ASKED, item(content, "public", "named", **more))
    return Proposal(**wire)


def record_in(made: Proposal) -> Any:
    return made.compiled.manifests.evidence_manifest[1]


def text_edit(made: Proposal) -> None:
    record_in(made).content["x"] = "hello again"
    record_in(made).content["sender"] = "nobody"


def name_edit(made: Proposal) -> None:
    record_in(made).content["from"] = record_in(made).content.pop("sender")


def field_edit(made: Proposal) -> None:
    classes: Any = made.compiled.manifests.classes
    classes[0].fields["sender"] = "public"


def schema_edit(made: Proposal) -> None:
    classes: Any = made.compiled.manifests.classes
    classes[0].schema_["required"] = ["none"]


@pytest.mark.parametrize("edit", [text_edit, name_edit, field_edit])
def test_an_edit_in_place_between_two_plans_is_judged_as_it_stands(
    edit: Callable[[Proposal], None],
) -> None:
    made = asked(copy.deepcopy(RECORD))
    before = copy.deepcopy(made)
    assert verify_proposal(made)
    edit(made)
    edited = verify_proposal(made)
    assert not edited
    assert edited == verify_proposal(Proposal(**orjson.loads(orjson.dumps(made.wire()))))
    for part, old in zip(editable(made), editable(before), strict=True):
        part.clear()
        part.update(old)
    assert verify_proposal(made) == verify_proposal(before)


def editable(made: Proposal) -> list[Any]:
    classes: Any = made.compiled.manifests.classes
    return [record_in(made).content, classes[0].fields]


def test_an_edited_schema_of_a_class_is_judged_as_it_stands() -> None:
    wire = proposal(ASKED, item(copy.deepcopy(RECORD), "public", "named"))
    wire["compiled"]["manifests"]["classes"][0]["schema"] = {"type": "object"}
    made = Proposal(**wire)
    assert verify_proposal(made)
    schema_edit(made)
    assert not verify_proposal(made)


CHANGES: Final[dict[str, Callable[[Any], Any]]] = {
    "content": lambda _one: "a text",
    "source": lambda one: one.source.model_copy(update={"standing": "led"}),
    "expires_at": lambda _one: datetime(2026, 5, 9, 10, tzinfo=UTC),
    "classification": lambda _one: "other",
}


@pytest.mark.parametrize("field", CHANGES)
def test_a_field_of_an_item_changes_in_a_copy_alone_which_is_judged_as_it_stands(
    field: str,
) -> None:
    made = asked(copy.deepcopy(RECORD))
    assert verify_proposal(made)
    one = record_in(made)
    with pytest.raises(ValidationError, match="frozen"):
        setattr(one, field, CHANGES[field](one))
    with pytest.raises(ValidationError, match="frozen"):
        one.source.standing = "led"
    other = one.model_copy(update={field: CHANGES[field](one)})
    first = made.compiled.manifests.evidence_manifest[0]
    manifests = made.compiled.manifests.model_copy(update={"evidence_manifest": (first, other)})
    changed = made.model_copy(update={"compiled": CompiledContext(manifests=manifests)})
    assert not verify_proposal(changed)
    assert verify_proposal(changed) == verify_proposal(copy.deepcopy(changed))
    assert verify_proposal(made)


def test_a_number_that_is_edited_to_true_is_another_value() -> None:
    """To Python they are equal, and so are contexts that hold one or the other."""
    made = Proposal(**proposal(request("see it"), item({"sender": 1}, standing="named")))
    one, equal = made.compiled.manifests, copy.deepcopy(made.compiled.manifests)
    for manifests in (one, equal):
        content: Any = manifests.evidence_manifest[1].content
        content["sender"] = 1 if manifests is one else True
    assert one == equal
    for manifests in (one, equal, one, equal):
        with seen_in(manifests, None) as (*both, _):
            assert known(both) == known(seen_anew(manifests, None))
    assert known(seen_anew(one, None)) != known(seen_anew(equal, None))


def test_an_edit_that_leaves_no_json_is_read_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    one = manifests_of({"x": "alpha-1"})
    content: Any = one.evidence_manifest[0].content
    added = noted_adds(monkeypatch)
    with seen_in(one, None):
        pass
    content["y"] = object()
    for _ in range(2):
        with seen_in(one, None):
            pass
    assert added == ["e/0"] * 3


def test_no_attribute_of_a_context_leads_to_what_is_kept_of_its_items() -> None:
    made = asked(copy.deepcopy(RECORD))
    verify_proposal(made)
    kept = kept_items._KEPT.get(made.compiled.manifests)
    assert kept is not None
    seen: set[int] = set()
    waiting: list[Any] = [made]
    while waiting:
        one = waiting.pop()
        if id(one) not in seen and not isinstance(one, type | ModuleType | FunctionType):
            seen.add(id(one))
            waiting += gc.get_referents(one)
    assert not seen & {id(kept), id(kept.index)}


COPIES: Final[dict[str, Callable[[Any], Any]]] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda one: pickle.loads(pickle.dumps(one)),  # noqa: S301
    "wire": lambda one: Proposal(**one.wire()),
}


@pytest.mark.parametrize("name", COPIES)
def test_a_copy_is_judged_by_itself(name: str) -> None:
    made = asked(copy.deepcopy(RECORD))
    assert verify_proposal(made)
    copied = COPIES[name](made)
    assert verify_proposal(copied) == verify_proposal(made)
    field_edit(copied)
    text_edit(copied)
    shares = record_in(copied).content is record_in(made).content
    assert not verify_proposal(copied)
    assert bool(verify_proposal(made)) is not shares


@pytest.fixture
def _threads_take_turns_often() -> Iterator[None]:
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


@pytest.mark.usefixtures("_threads_take_turns_often")
def test_threads_that_judge_copy_and_go_on_at_once_get_what_each_gets_alone() -> None:
    start: Any = [item(f"see {word}-{VALUE}") for word in ("a", "b", "c")]
    wires = [proposal(ASKED, *start[:count], item(RECORD, "public", "named")) for count in range(4)]
    made = [Proposal(**wire) for wire in wires]
    alone = [verify_proposal(Proposal(**wire)) for wire in wires]
    assert {type(one) for one in alone} == {Verified}
    wrong: list[Any] = []

    def work(first: int) -> None:
        try:
            for at in range(first, first + 60):
                one = made[at % 4]
                both = one, copy.deepcopy(one) if at % 7 == 0 else one
                wrong.extend(each for each in both if verify_proposal(each) != alone[at % 4])
        except BaseException as error:  # whatever it is, it is one too many
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(at,)) for at in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_the_case_of_these_tests_is_that_of_the_model() -> None:
    wire = proposal(ASKED, item(RECORD, "public", "named"))
    assert answer(wire) == "allow"
