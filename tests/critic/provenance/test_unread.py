"""Items that are not read whole: what they may hold contests fields and links."""

from typing import Any, Final

import pytest

from critic.provenance.folding import is_read_whole, wide, wide_links
from critic.provenance.seen_items import SeenItems
from evals.manifest import EvidenceItem, Source
from tests.critic.provenance.test_sourced_calls import answer_to, engine, proposal_of
from tests.support.model.facts import Json
from tests.support.model.verify import verify_model

_SIGN: Final = "\ufdfa"
_SHORT: Final = "note " + _SIGN * 80
_LONG: Final = "note " + _SIGN * 100
_SEND: Final = {
    "adapter_id": "a",
    "capability_id": "send",
    "approval_mode": "destructive",
    "arg_roles": {"to": "recipient", "body": "content"},
}
_CLASS: Final = {"class": "member_record", "fields": {"account": "system"}}


def answers(note: Any, body: str = "hello", author: str = "public", **more: Any) -> set[str]:
    """Return what engine and second statement say to a send of a field, beside a note."""
    record = {"author": "member", "standing": "named"}
    other = {"author": author, "standing": more.pop("standing", "ambient")}
    other |= {"cut": True} if more.pop("cut", False) else {}
    content = {} if note is None else {"content": note}
    case: Json = {
        "tools": [_SEND],
        "classes": [_CLASS],
        "request": "Send it to the account of the member. See https://known.example/page",
        "items": [
            {
                "classification": "member_record",
                "content": {"account": "acct-93"},
                "source": record,
            },
            {"classification": "note", **content, "source": other, **more},
        ],
        "as_of": "2026-05-01T00:00:00Z",
        "call": {"tool": "send", "args": {"to": "acct-93", "body": body}},
    }
    proposal = proposal_of(case)
    return {answer_to(judge(proposal)) for judge in (engine, verify_model)}


@pytest.mark.parametrize("standing", ["ambient", "led", "reached", "named"])
def test_a_field_asks_beside_an_item_that_is_not_read_whole(standing: str) -> None:
    assert answers(_SHORT, standing=standing) == {"allow"}
    assert answers(_LONG, standing=standing) == {"ask"}


@pytest.mark.parametrize("standing", ["ambient", "led", "reached", "named"])
@pytest.mark.parametrize("author", ["public", "member", "system"])
def test_a_field_asks_beside_an_item_that_was_cut(author: str, standing: str) -> None:
    assert answers("a note", author=author, standing=standing) == {"allow"}
    assert answers("a note", author=author, standing=standing, cut=True) == {"ask"}
    assert answers(None, author=author, standing=standing, cut=True) == {"ask"}


def test_a_cut_item_contests_after_it_expired_and_a_cut_request_does_not() -> None:
    past = "2026-04-01T00:00:00Z"
    assert answers("a note", cut=True, expires_at=past) == {"ask"}
    assert answers("a note", cut=True, author="user", standing="named") == {"allow"}


def test_what_a_cut_item_holds_is_read() -> None:
    given = "look at https://shown.example/page"
    seen = "see https://shown.example/page "
    assert answers(seen, given, standing="named") == {"allow"}
    assert answers(seen, given, standing="named", cut=True) == {"ask"}
    assert answers("pay acct-93", cut=True) == {"ask"}


def test_signs_count_in_all_texts_of_an_item_together() -> None:
    assert answers([_SIGN] * 80) == {"allow"}
    assert answers([_SIGN] * 90) == {"ask"}
    assert answers({_SIGN * at: at for at in range(1, 15)}) == {"ask"}


def test_what_expired_contests_all_the_same() -> None:
    assert answers(_LONG, expires_at="2026-04-01T00:00:00Z") == {"ask"}


def test_the_words_of_the_user_are_read_whole() -> None:
    assert answers(_LONG, author="user", standing="named") == {"allow"}


def test_a_link_in_content_asks_unless_it_was_given() -> None:
    seen = "see https://shown.example/page "
    with_link = "look at https://shown.example/page"
    assert answers(seen, with_link, standing="named") == {"allow"}
    assert answers(seen + _SIGN * 90, "hello", standing="named") == {"ask"}
    given = "look at https://known.example/page"
    assert answers(_SHORT, given) == {"allow"}


def test_a_link_of_a_text_that_is_not_read_whole_asks_by_itself() -> None:
    proposals = []
    for signs in (80, 90):
        source = {"author": "public", "standing": "named"}
        note = "see https://shown.example/page " + _SIGN * signs
        proposals.append(
            proposal_of(
                {
                    "tools": [_SEND],
                    "classes": [],
                    "request": "Send it to bob@known.example",
                    "items": [{"classification": "note", "content": note, "source": source}],
                    "call": {
                        "tool": "send",
                        "args": {"to": "bob@known.example", "body": "https://shown.example/page"},
                    },
                }
            )
        )
    for judge in (engine, verify_model):
        assert [answer_to(judge(one)) for one in proposals] == ["allow", "ask"]


def test_the_reason_says_what_was_not_read() -> None:
    source = {"author": "member", "standing": "named"}
    note = {"author": "public", "standing": "ambient"}
    record = {"classification": "member_record", "content": {"account": "acct-93"}}
    case = {
        "tools": [_SEND],
        "classes": [_CLASS],
        "request": "Send it.",
        "items": [
            {**record, "source": source},
            {"classification": "note", "content": _LONG, "source": note},
        ],
        "call": {"tool": "send", "args": {"to": "acct-93", "body": "hello"}},
    }
    (told,) = engine(proposal_of(case))["violations"]
    assert told["reason"] == (
        "step 0 recipient [acct-93] is shown by seen/1 (which the request names), and may stand in "
        "seen/2 (not requested), which was not read whole: needs approval"
    )


@pytest.mark.parametrize("fold", [wide, wide_links])
def test_a_wide_form_is_about_as_long_as_its_text(fold: Any) -> None:
    assert len(fold(_SIGN * 80)) == 80 * 18
    assert len(fold(_SIGN * 5_000)) == 5_000
    assert len(fold("\ufdfb word " * 1_000)) < 8_000
    assert len(fold("a few words " + _SIGN + " and more")) == 12 + 18 + 9


def test_honest_texts_are_read_whole() -> None:
    assert is_read_whole([f"The Prophet {_SIGN} said so. "] * 10_000)
    assert is_read_whole([_SIGN] * 80)
    assert not is_read_whole([f"so {_SIGN} "] * 10_000)


def test_the_wide_form_of_an_item_of_many_texts_is_about_as_long_as_they_are() -> None:
    seen = SeenItems()
    source = Source(author="public", standing="ambient")
    seen.add(EvidenceItem(id="e", classification="c", content=[_SIGN * 80] * 1_000, source=source))
    (entry,) = seen.places["ambient"].shown_entries(None)
    assert len(entry.text(wide)) < 100_000
