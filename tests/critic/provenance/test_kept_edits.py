"""What is kept of items that are edited in place, copied, or judged by many threads at once."""

import copy
import gc
import pickle
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from types import FunctionType, ModuleType
from typing import Any, Final

import orjson
import pytest
from pydantic import ValidationError

from critic import CompiledContext, Proposal, Verified, verify_proposal
from critic.provenance import kept_items
from critic.provenance.kept_items import seen_in
from tests.critic.provenance.test_kept_items import known, manifests_of, noted_adds
from tests.support.model.facts import Json
from tests.support.seen_values import seen_anew
from tests.support.sightings import VALUE, answer, item, proposal, request


@pytest.fixture(autouse=True)
def _nothing_was_kept_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_items, "_RECENT", kept_items._Recent())


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


def test_an_edit_within_a_list_of_records_is_judged_as_it_stands() -> None:
    made = asked([copy.deepcopy(RECORD)])
    assert verify_proposal(made)
    record_in(made).content[0]["sender"] = "nobody"
    edited = verify_proposal(made)
    assert not edited
    assert edited == verify_proposal(Proposal(**orjson.loads(orjson.dumps(made.wire()))))


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
