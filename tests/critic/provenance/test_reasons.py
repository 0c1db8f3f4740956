"""Every word of a reason: the role, the value in its brackets, the item, and what helps."""

from datetime import datetime

import pytest

from critic.provenance.day_forms import Day
from critic.provenance.origins import DaySighting, Sighting
from critic.provenance.reasons import (
    day_reason,
    empty_reason,
    many_reason,
    title_reason,
    tool_reason,
    unread_day_reason,
    value_reason,
)
from evals.capability import Role
from evals.manifest import EvidenceItem
from tests.support.model.facts import Json

SOURCE: Json = {"author": "public", "standing": "ambient"}


def item(**more: object) -> EvidenceItem:
    return EvidenceItem.model_validate({"id": "e", "classification": "r", **more})


def quoted(value: str) -> str:
    """Return how a value is written in a reason, brackets included."""
    reason = value_reason("recipient", value, Sighting("unseen"), None, None)
    return reason.removeprefix("recipient ").removesuffix(
        " was not seen in the request or in any result: name it in the request"
    )


@pytest.mark.parametrize(
    ("role", "words"),
    [
        ("recipient", "recipient"),
        ("object", "object"),
        ("attribute", "detail"),
        ("locator", "address to read"),
        ("secret", "secret"),
        ("code", "one-time code"),
        ("content", "address in content"),
    ],
)
def test_a_role_is_named_in_words(role: Role, words: str) -> None:
    reason = value_reason(role, 7.0, Sighting("field", item()), None, "needs approval")
    assert reason == f"{words} [7] appears only as a field of e: needs approval"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("x" * 59, "[" + "x" * 59 + "]"),
        ("x" * 60, "[" + "x" * 60 + "]"),
        ("x" * 61, "[" + "x" * 60 + "...]"),
        ("x" * 99, "[" + "x" * 60 + "...]"),
        ("a[b]c", "[a\\u005bb\\u005dc]"),
        ("", "[]"),
    ],
)
def test_a_value_stands_in_brackets_and_is_cut_after_sixty_characters(
    value: str, shown: str
) -> None:
    assert quoted(value) == shown


@pytest.mark.parametrize(
    ("sighting", "where"),
    [
        (Sighting("own"), "is known only from what this session did, or by its host"),
        (Sighting("field", item(source=SOURCE)), "appears only as a field of e (not requested)"),
        (Sighting("led_field", item()), "appears only as a field of e"),
        (
            Sighting("contested", item(), item(id="f", subject="look x")),
            "is a field of e that f [look x] mentions too",
        ),
        (Sighting("party", item()), "appears only as a field of e"),
        (
            Sighting("contested_party", item(), item(id="f")),
            "is a field of e that f mentions too",
        ),
        (Sighting("words", item()), "is only a word in e"),
        (Sighting("host", item()), "is another place than the one that e names"),
        (
            Sighting("new_link"),
            "is a link that was not seen in the request or in any result",
        ),
        (
            Sighting("new_link", item()),
            "is a link to a host that e names, with more behind it",
        ),
        (Sighting("unreadable"), "can be read in more than one way"),
        (
            Sighting("unseen", rival=item()),
            "stands in the request only written in other characters",
        ),
        (Sighting("designated", item()), "appears only in the text of e"),
        (Sighting("untrusted", item()), "appears only in the text of e"),
        (Sighting("untrusted"), "appears only in the text of no item"),
    ],
)
def test_a_reason_says_where_a_value_was_seen(sighting: Sighting, where: str) -> None:
    assert value_reason("object", "v", sighting, None, "help") == f"object [v] {where}: help"


@pytest.mark.parametrize(
    ("author", "standing", "words"),
    [
        *(("user", "named", ""), ("operator", "ambient", "")),
        *(("public", "named", " (which the request names)"),),
        *(("member", "reached", " (linked from one that the request names)"),),
        *(("system", "led", " (reached only through untrusted text)"),),
        *(("system", "ambient", " (not requested)"),),
    ],
)
def test_an_item_is_named_with_its_standing_unless_user_or_operator_wrote_it(
    author: str, standing: str, words: str
) -> None:
    seen = item(source={"author": author, "standing": standing})
    reason = value_reason("object", "v", Sighting("untrusted", seen), None, "help")
    assert reason == f"object [v] appears only in the text of e{words}: help"


def test_a_day_is_written_with_all_its_digits() -> None:
    day = Day(99, 5, 9)
    seen = DaySighting("untrusted", item())
    assert day_reason(day, seen, "help") == "day 0099-05-09 appears only in e: help"
    other = DaySighting("elsewhere", item())
    assert day_reason(day, other, "help") == (
        "day 0099-05-09 appears only in e, and the request names another day: help"
    )


def test_what_expired_is_to_be_read_again() -> None:
    seen = Sighting("unseen", stale=item(expires_at="2026-05-09T16:15:50Z"))
    times = (("2026-05-09T18:00:00Z", "16:15:50Z"), ("2026-05-10T00:00:00Z", None), (None, None))
    for as_of, shown in times:
        said = shown or "2026-05-09T16:15:50Z"
        moment = datetime.fromisoformat(as_of) if as_of else None
        assert value_reason("object", "v", seen, moment, None) == (
            f"object [v] was seen in e, which expired at {said}: read it again"
        )


def test_what_expired_at_no_known_time_is_to_be_read_again_or_needs_what_helps() -> None:
    seen = Sighting("unseen", stale=item())
    for help_, said in ((None, "read it again"), ("needs approval", "needs approval")):
        assert value_reason("object", "v", seen, None, help_) == (
            f"object [v] was seen in e, which expired: {said}"
        )


def test_what_was_not_read_whole_is_named_with_what_shows_the_value_if_anything_does() -> None:
    for shown, said in ((None, ""), (item(), "is shown by e, and ")):
        seen = Sighting("contested", shown, item(id="f"), is_unread=True)
        assert value_reason("object", "v", seen, None, "help") == (
            f"object [v] {said}may stand in f, which was not read whole: help"
        )


def test_too_many_values_are_counted() -> None:
    assert many_reason(10_000, None) == (
        "has values beyond the 10,000 of a plan that are judged: split the call"
    )


def test_a_search_for_words_of_the_request_is_called_one() -> None:
    for subject, words in (
        ("search refund mail", "found by a search for words of the request"),
        ("search refund", "which the request names"),
        ("read bill.txt of today", "which the request names"),
        ("search new mail", "linked from one that the request names"),
    ):
        standing = "reached" if "linked" in words else "named"
        seen = item(source={**SOURCE, "standing": standing}, subject=subject)
        reason = value_reason("object", "v", Sighting("named_public", seen), None, "help")
        assert reason == f"object [v] appears only in the text of e [{subject}] ({words}): help"


def test_a_target_that_is_not_readable_is_to_be_written_plainly() -> None:
    assert value_reason("object", "a/..", Sighting("unreadable"), None, None) == (
        "object [a/..] can be read in more than one way:"
        " write it in full, without dots, doubled slashes or escapes"
    )


@pytest.mark.parametrize(
    ("role", "value"),
    [
        ("recipient", "Bob <bob@x.example>"),
        ("recipient", "the team"),
        ("attribute", "bob@x"),
        ("recipient", 7.0),
    ],
)
def test_what_is_no_address_is_said_to_be_none(role: Role, value: str | float) -> None:
    said = value_reason(role, value, Sighting("unreadable"), None, None)
    assert said.endswith(
        " is no e-mail address: write the address alone, as in name@example.com"
    ), said
    asked = value_reason(role, value, Sighting("unreadable"), None, "help")
    assert asked.endswith(" is no e-mail address: help")


@pytest.mark.parametrize("value", ["a//b@c", "a\\b@c", "..", "a\0@b", "https://a@b"])
def test_what_may_be_a_path_is_not_said_to_be_no_address(value: str) -> None:
    said = value_reason("recipient", value, Sighting("unreadable"), None, None)
    assert "can be read in more than one way: write it in full" in said


def test_what_is_missing_or_cannot_be_read_asks() -> None:
    assert empty_reason("help") == "no recipient or object is given: help"
    assert unread_day_reason("soon", "help") == "day [soon] cannot be read as a day: help"
    assert title_reason("a b", item(), "help") == "text [a b] appears only in e: help"
    assert day_reason(Day(None, 5, 9), DaySighting("untrusted", item()), "help") == (
        "day 05-09 appears only in e: help"
    )


def test_a_tool_is_called_and_not_requested() -> None:
    assert tool_reason("a.b", "help") == "calls a.b, which is not requested: help"
    assert tool_reason("a.b", None) == (
        "calls a.b, which is not requested, with no value from the request"
        " or a source that it names: ask for it in the request"
    )
