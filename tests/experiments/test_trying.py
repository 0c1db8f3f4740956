"""The measurement of proposals: how edits are chosen, and what other names change."""

from itertools import starmap

import pytest

from harness.what_if.proposing.policy_edits import PolicyEdit
from tests.experiments.sessions.recordings import Recording
from tests.experiments.trying import __main__ as trying
from tests.experiments.trying.__main__ import Learned, choose_edits
from tests.experiments.trying.renaming import rename, rename_calls, rename_keys, rename_tool

MAIL, PAY, BOOK = (PolicyEdit("scope", name) for name in ("mail", "pay", "book"))
EMPTY, NAMES, TIER = (PolicyEdit(kind, "book") for kind in ("empty", "names", "tier"))


def learned(*edits: tuple[PolicyEdit, ...]) -> list[Learned]:
    return list(starmap(Learned, (("shop", f"t{at}", one) for at, one in enumerate(edits))))


def chosen(*edits: tuple[PolicyEdit, ...]) -> list[PolicyEdit]:
    return [edit for _, edit in choose_edits(learned(*edits))]


def test_the_edits_that_let_most_runs_through_for_each_of_them_come_first() -> None:
    assert chosen((MAIL,), (PAY,), (PAY,)) == [PAY, MAIL]
    assert chosen((MAIL, PAY), (BOOK,)) == [BOOK, MAIL, PAY]


def test_a_run_counts_for_every_choice_that_holds_all_it_needs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The pair lets five runs through, each of its edits one, and the third edit two.
    monkeypatch.setattr(trying, "MOST_EDITS", 2)
    pair = (MAIL, PAY)
    assert chosen(pair, pair, pair, (MAIL,), (PAY,), (BOOK,), (BOOK,)) == [MAIL, PAY]


def test_what_fits_no_more_is_left_out_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trying, "MOST_EDITS", 2)
    assert chosen((MAIL,), (PAY, BOOK)) == [MAIL]


def test_a_person_agrees_to_names_and_to_calls_aimed_at_nobody_alone() -> None:
    assert chosen((EMPTY,), (NAMES,), (TIER,), (MAIL, TIER)) == [EMPTY, NAMES]


def test_a_tool_and_the_calls_of_it_get_the_same_other_names() -> None:
    args = {"type": "object", "properties": {"user_email": {}, "title": {}}, "required": ["title"]}
    tool = rename_tool({"name": "send_invoice", "args": args})
    assert tool["name"] == "transmit_invoice"
    assert tool["args"]["required"] == ["heading"]
    call = {"tool": "send_invoice", "args": {"user_email": "send", "title": "x"}, "output": "send"}
    one = Recording("r", "shop", "t", False, 9, {"turns": [{"turn": 0, "calls": [call]}]})
    (turn,) = rename_calls(one).turns
    (renamed,) = turn["calls"]
    assert renamed["tool"] == tool["name"]
    assert renamed["args"] == {"member_mail": "send", "heading": "x"}
    assert renamed["args"].keys() == tool["args"]["properties"].keys()
    assert renamed["output"] == "send"


def test_a_plural_is_renamed_and_an_unknown_word_is_kept() -> None:
    assert rename("list_rental_companies") == "enumerate_hire_firms"
    assert rename("get_zebras") == "fetch_zebras"
    with pytest.raises(ValueError, match="one name"):
        rename_keys({"body": 1, "text": 2, "content": 3})
