"""What quotes and lists hold as one name, by every sign of them."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from critic.provenance.folding import mark_lines
from critic.provenance.holders import GAP, ItemText
from critic.provenance.quoted_names import is_part, is_quoted, names_listed, names_said
from evals.manifest import EvidenceItem
from tests.support.effort import examples
from tests.support.model.kinds import Place
from tests.support.model.names import is_part_of_name, stands_quoted
from tests.support.patience import PATIENT
from tests.support.sightings import answer, item, proposal, request

SIGNS = (
    "'`\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u201f\xab\xbb\u2039\u203a\u300c\u300d\u3010\u3011"
)
TEXTS = st.text(f'a7 .,/(\n\u4e2d{SIGNS}"\'"', min_size=1, max_size=24)


def entry(*texts: str, elements: frozenset[int] = frozenset()) -> ItemText:
    return ItemText(EvidenceItem(id="e", classification="r"), texts, elements=elements)


@settings(PATIENT, max_examples=examples(300))
@given(TEXTS, st.integers(0, 23), st.integers(1, 6))
@example("'90s 'a b' x", 6, 1)
@example('"5" a b" a', 4, 1)
@example("\xbba\xab b \xbbc\xab", 4, 1)
@example("\u201da\u201d b \u201dc d\u201d", 9, 1)
def test_engine_and_model_say_the_same_of_every_part_of_a_text(
    text: str, start: int, length: int
) -> None:
    start = min(start, len(text) - 1)
    end = min(start + length, len(text))
    if "\n" in text[start:end]:
        return
    names, place = names_said(entry(text), str), Place(text, start, end)
    for kind in ("path", "text"):
        found = is_part(names, text, start, end, is_path=kind == "path")
        assert found == is_part_of_name(kind, place)
    assert is_quoted(names, text, start, end) == stands_quoted(place)


def test_each_text_of_an_item_has_names_of_its_own() -> None:
    said = entry('a "b', 'c" d', '"e f"')
    assert names_said(said, mark_lines) == {1: ([19], [22])}
    assert names_said(said, mark_lines) is names_said(said, mark_lines)
    assert names_listed(said, mark_lines) == {}


def test_a_short_element_with_a_blank_inside_is_a_name() -> None:
    texts = ["a b", "ab", "a\nb c", "x" * 78 + " x", "x" * 79 + " x", " ab ", "a b"]
    starts = [sum(len(one) + len(GAP) for one in texts[:at]) for at in range(len(texts))]
    found = names_listed(entry(*texts, elements=frozenset(range(6))), str)
    assert found == {13: ([starts[0], starts[3]], [starts[0] + 3, starts[3] + 80])}


LISTINGS = [
    *((["Q3 plan"], "Q3", "note", "ask"), ({"x": ["Q3 plan", "Q3"]}, "Q3", "note", "allow")),
    *(({"x": "the Q3 plan"}, "Q3", "note", "allow"), ([{"x": "Q3 plan"}], "Q3", "note", "allow")),
    *((["/data/Project X"], "/data/Project", "path", "ask"), ([["Q3 plan"]], "Q3", "note", "ask")),
    *((["/data/Project"], "/data/Project", "path", "allow"), (["Q3."], "Q3", "note", "allow")),
    *(('["Q3 plan"]', "Q3", "note", "ask"), ("['Q3 plan', 'Q3']", "Q3", "note", "allow")),
    *(('{"x": "Q3 plan"}', "Q3", "note", "allow"), ("[Q3 plan]", "Q3", "note", "allow")),
    *((["a\nQ3 plan"], "Q3", "note", "allow"), (["Q3 " + "x" * 80], "Q3", "note", "allow")),
    *(({"sender": ["Q3 plan"]}, "Q3", "note", "ask"), (["to a@x.com"], "a@x.com", None, "allow")),
]


@pytest.mark.parametrize(("shown", "value", "kind", "answered"), LISTINGS)
def test_a_part_of_what_a_system_lists_asks(
    shown: object, value: str, kind: str | None, answered: str
) -> None:
    tool = {"arg_roles": {"x": "object"}, "arg_kinds": {"x": kind} if kind else {}}
    told = [request("clean up"), item(shown, "system", "named")]
    assert answer(proposal(*told, args={"x": value}, tool=tool)) == answered
    told[1]["source"]["seq"] = 1
    session = {"id": "s", "turn": 0, "sent": [{"seq": 0, "values": [value]}]}
    assert answer(proposal(*told, args={"x": value}, tool=tool, session=session)) == "refuse"


BELOW = [
    ('the files in "/data/Project X"', "ask"),
    ('the files in "/data/Project"', "allow"),
    ('the files in "/data/Project X" and /data/Project', "allow"),
    ('the files in "rm /data/Project"', "allow"),
    ("the files in \u201edata/Project X\u201d", "refuse"),
    ("the files in '/data/ X'", "ask"),
]


@pytest.mark.parametrize(("said", "answered"), BELOW)
@pytest.mark.parametrize("role", ["locator", "object"])
def test_no_file_lies_below_a_part_of_a_quoted_name(said: str, answered: str, role: str) -> None:
    tool = {
        "arg_roles": {"x": role},
        "arg_kinds": {"x": "path"},
        "approval_mode": "network",
    }
    args = {"x": "/data/Project/a.txt"}
    assert answer(proposal(request(said), args=args, tool=tool)) == answered
    assert answer(proposal(request(said.replace("X", "../X")), args=args, tool=tool)) == answered


def test_a_part_of_a_longer_name_is_one_behind_any_number_of_others() -> None:
    others = " ".join(f"data Project {number}" for number in range(250))
    asked = proposal(
        request(f'delete {others} and "/data/Project X"'),
        args={"x": "/data/Project"},
        tool={"arg_roles": {"x": "object"}, "arg_kinds": {"x": "path"}},
    )
    assert answer(asked) == "ask"
