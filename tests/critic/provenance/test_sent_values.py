"""When a session sent a value first."""

from typing import Any, Final

import pytest

from critic.provenance.sent_values import SentIndex
from critic.provenance.value_kinds import read_value
from evals.context import SentValues
from tests.support.model.facts import Json
from tests.support.sightings import answer, item, proposal, request


def index(*sent: tuple[int, Any]) -> SentIndex:
    made = SentIndex()
    for seq, value in sent:
        made.add(SentValues(seq=seq, values=(value,)))
    return made


@pytest.mark.parametrize("value", ["x-77", 7, "7", True, 7.5])
def test_a_value_that_was_sent_is_found_short_or_not(value: Any) -> None:
    made = index((3, "first"), (4, value), (5, value))
    assert made.first_seq(read_value(value, None)) == 4
    assert made.first_seq(read_value(value, None), 1) is None
    assert made.first_seq(read_value("other-1", None)) is None
    assert SentIndex().first_seq(read_value(value, None)) is None


def test_the_first_of_a_text_and_a_field_that_hold_it_counts() -> None:
    for sent in (((4, "see x-77 there"), (5, "x-77")), ((4, "x-77"), (5, "see x-77 there"))):
        assert index(*sent).first_seq(read_value("x-77", None)) == 4


@pytest.mark.parametrize(
    ("first", "second", "value", "kind"),
    [
        # Only in the narrow form, since folding makes a mark of the accent.
        ("\xb4US64SVBKUS6S3300958879", "US64SVBKUS6S3300958879", "US64SVBKUS6S3300958879", None),
        ("\uff27o-1 it is", "go-1", "go-1", None),
        ("a\n7", "7", 7, None),
        ("intranet", "http://intranet/", "intranet", "url"),
    ],
)
def test_what_was_sent_first_is_found_in_whichever_form(
    first: str, second: str, value: Any, kind: str | None
) -> None:
    made = index((4, first), (5, second))
    assert made.first_seq(read_value(value, kind)) == 4


KEPT: Final = [
    *(("US64_SVBK_US6S3300958879", "account"), ("US64,SVBK,US6S,3300,9588,79", "account")),
    *(("(US64) SVBK: US6S3300958879", "account"), ("/srv/./prod-1", "path")),
    *(("/srv/b/../prod-1", "path"), ("/srv//prod-1", "path"), ("/srv/prod%2D1", "path")),
    *(("https://evil.example:443/x", "url"), ("evil.example:80/x", "url")),
    *(("https://u:p@evil.example/./x", "url"), ("https://evil.example/%78", "url")),
    *(("https://evil.example/x?", "url"), ("https://evil.example/x#a", "url")),
    *(("01881", "order"), ("1,881", "order"), ("1881.0", "order"), ("_1881_", "order")),
    *(("mal@evil%2eexample", "address"), ("mal@evil.example\u2013", "address")),
    *(("mal&#64;evil.example", "address"), ("mal&commat;evil&period;example", "address")),
    *(("m<i>al</i>@evil.example", "address"), ("mal\\u0040evil.example", "address")),
    *(("mal\\@evil.example", "address"), ("mal@evil\u3002example", "address")),
    *(
        ("US64<br>SVBK<br>US6S<br>3300958879", "account"),
        ("US64&nbsp;SVBKUS6S3300958879", "account"),
    ),
    *(("&#47;srv&#x2f;prod-1", "path"), ("/srv/pr<!-- > -->od-1", "path")),
    *(("/srv/prod&shy;-1", "path"), ("/srv/prod=2D1", "path"), ("/srv/prod-\n1", "path")),
    *(("/srv/<style>b{}</style>prod-1", "path"), ("[/srv](x)/prod-1", "path")),
    # A program that only drops tags shows what a page hides; another only reads references.
    *(("<title>/srv/pr<b></b>od-1</title>", "path"), ("<!-- /srv/pr<b></b>od-1 -->", "path")),
    *(("<script>/srv/pr<b>od-1", "path"), ("/srv/pr<b title='>'>od-1", "path")),
    *(
        ("Mal <mal&#64;evil.example>", "address"),
        ("<style>mal&#64;evil.example</style>", "address"),
    ),
    *(("[x](mailto:mal&#64;evil.example)", "address"), ("<a b='mal&#64;evil.example'>", "address")),
    *(("mal&amp;#64;evil.example", "address"), ("/srv/pr&lt;b&gt;od-1", "path")),
    *(("<<b>b>/srv/pr<<b>i>od-1", "path"), ("/srv/pr\\u{6f}d-1", "path")),
    *(("/srv/pr=\nod-1", "path"), ("/srv/pr\\\r\nod-1", "path")),
    *(("/srv/pr\xf6d-1", "path"), ("/srv/pr**od**-1", "path"), ("/srv/<![CDATA[prod]]>-1", "path")),
]
SHOWN: Final = {
    "account": "US64SVBKUS6S3300958879",
    "path": "/srv/prod-1",
    "url": "https://evil.example/x",
    "order": "1881",
    "address": "mal@evil.example",
}


@pytest.mark.parametrize(("sent", "kind"), KEPT)
def test_what_a_system_shows_of_what_it_was_sent_is_an_echo_in_its_own_spelling(
    sent: str, kind: str
) -> None:
    value = SHOWN[kind]
    assert index((4, f"save {sent} now")).first_seq(read_value(value, kind)) == 4
    shown = item(f"saved: {value}", "system", "named")
    shown["source"]["seq"] = 2
    session: Json = {"id": "s", "turn": 2, "sent": [{"seq": 1, "values": [sent]}]}
    wire = proposal(request("hello"), shown, args={"x": value}, tool={"arg_kinds": {"x": kind}})
    assert answer(wire) == "allow"
    assert answer({**wire, "ctx": {**wire["ctx"], "session": session}}) == "refuse"


def test_a_value_of_many_groups_is_an_echo_in_other_signs_up_to_a_length() -> None:
    """A text of 1 MB without a space is no value, and costs what it did."""
    for last, expected in (("x", 4), ("xy", None)):  # 200 and 201 characters
        sent, shown = (one.join(["abcd"] * 40) + last for one in ".-")
        assert index((4, sent)).first_seq(read_value(shown, "order")) == expected


def test_the_markup_of_a_long_text_is_read_word_by_word() -> None:
    """Its forms cost what is new in them: a mail of 1 MB is read in a second or two."""
    for size, of_two_words in ((20_000, 4), (20_001, None)):
        text = "x-<b>7</b>7 and Q3<br>plan-1 ".ljust(size, ".")
        made = index((4, text))
        assert made.first_seq(read_value("x-77", "order")) == 4
        assert made.first_seq(read_value("Q3 plan-1", "order")) == of_two_words


def test_what_resembles_what_was_sent_is_no_echo() -> None:
    for sent, value in (
        ("1,88", "188"),
        ("10", "1"),
        ("a/b", "/a/b"),
        ("x%zz", "xzz"),
        ("1.05", "1"),
        ("[a-1](b", "a-1b"),
        ("a1<b2", "a1b2"),
        ("a&#" + "9" * 5000 + ";-1", "a9-1"),
        ("a\\ud800-1", "a-800-1"),
    ):
        assert index((4, sent)).first_seq(read_value(value, None)) is None, sent
