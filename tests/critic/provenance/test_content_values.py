"""The addresses, links and account numbers in content, and what each is looked for as."""

import pytest

from critic.provenance.addresses import wide_addresses_in
from critic.provenance.content_values import content_values
from tests.support.model.facts import Json
from tests.support.sightings import answer, item, proposal, request

FOUND = {
    "mail ada@x.example": [("ada@x.example", "ada@x.example", False)],
    "mail \uff41da@x.example": [("ada@x.example", "", False)],
    "pay US64SVBKUS6S3300958879": [("us64svbkus6s3300958879", "us64svbkus6s3300958879", False)],
    "pay \uff35\uff3364SVBKUS6S3300958879": [("us64svbkus6s3300958879", "", False)],
    "see http://intranet/page": [("intranet/page", "intranet/page", False)],
    "see https://a.example/b": [("a.example/b", "a.example/b", False)],
    "see https://notes.md/b": [("notes.md/b", "notes.md/b", True)],
    "see https://a\uff0eexample/b": [("a.example/b", "", False)],
    "see http://\u2474/x": [],
    "see \u2474 https://\u2474/x or https://a.example": [("a.example", "a.example", False)],
}


@pytest.mark.parametrize("text", FOUND)
def test_what_does_not_stand_in_its_narrow_form_is_looked_for_as_nothing(text: str) -> None:
    found = [
        (value.shown, part.narrow, part.names_no_host)
        for value in content_values(text)
        for part in value.parts
    ]
    assert found == FOUND[text]


def told(text: str) -> list[tuple[object, ...]]:
    """Return what is judged in a text: how it is shown, what it is looked for as, and its host."""
    return [
        (one.shown, [(part.form, part.narrow, part.wide) for part in one.parts], one.host)
        for one in content_values(text)
    ]


def test_the_longest_part_of_a_number_or_an_address_comes_first_and_is_shown() -> None:
    numbers = ["de893704004now", "de8937040044"]
    assert told("pay DE89 3704 004 now") == [
        ("de893704004now", [("account", one, one) for one in numbers[:1]], "")
    ]
    numbers = ["de89370400440532now", "de89370400440532", "de8937040044"]
    assert told("pay DE89 3704 0044 0532 now") == [
        (numbers[0], [("account", one, one) for one in numbers], "")
    ]
    addresses = ["mia@corp.example.thanks", "mia@corp.example"]
    assert told("ask MIA@corp.example.Thanks") == [
        (addresses[0], [("address", one, one) for one in addresses], "")
    ]


def test_a_link_is_looked_for_in_each_of_its_narrow_forms_and_has_a_host() -> None:
    pages = [
        ("url", "a.example:80/B", "a.example:80/b"),
        ("url", "a.example:80/b", "a.example:80/b"),
    ]
    assert told("http://A.example:80/B or a.example:80/b") == [
        ("a.example:80/b", pages, "a.example")
    ]
    assert told("http:\\\\b.example\\c") == [
        ("b.example/c", [("url", "", "b.example/c")], "b.example")
    ]
    for found in content_values("https://a.example/B"):
        assert [part.link for part in found.parts] == [("a.example", "/B", "")]


def test_what_looks_like_a_host_is_a_link_only_where_it_was_seen_as_one() -> None:
    found = content_values("see a.example, b.uk, c.photography, notes.md and https://notes.md")
    assert [(one.shown, one.is_link_alone) for one in found] == [
        ("a.example", True),
        ("b.uk", False),
        ("notes.md", True),
    ]


@pytest.mark.parametrize("ending", ["xn--p1ai", "xn--fiqs8s", "XN--P1AI", "xn--90ais", "xn--a-b"])
@pytest.mark.parametrize("around", ["{}", "see {}.", "({})", "a, {} and b", "\u89c1 {}\u3002"])
def test_an_ending_of_another_script_makes_a_link_as_it_is_written_for_computers(
    ending: str, around: str
) -> None:
    host = f"pay.{ending}"
    found = [one for one in content_values(around.format(host)) if one.is_link_alone]
    assert [one.shown for one in found] == [host.lower()]
    content: Json = {"arg_roles": {"x": "content"}}
    items = request("write it down"), item(f"use {host} now")
    wire = proposal(*items, args={"x": around.format(host)}, tool=content)
    assert answer(wire) == "refuse"


HIDDEN = {
    "a@1.2.3.4.5.6.7.8.9.10.11.12.x.example": "a@1.2.3.4.5.6.7.8.9.10.11.12.x.example",
    "a@[1.2.3.4]": "a@[1.2.3.4]",
    "a@[ipv6:fe80::1]": "a@[ipv6:fe80::1]",
    "1.2.3.4/pay": "1.2.3.4/pay",
    "1.2.3.4/24/pay": "1.2.3.4/24/pay",
    "1.2.3.4/245": "1.2.3.4/245",
    "1.2.3.4:80/24": "1.2.3.4:80/24",
    "1.2.3.4/24?pay": "1.2.3.4/24?pay",
    "1.2.3.4:8080/pay": "1.2.3.4:8080/pay",
    "DE89_3704_0044_0532_0130_00": "de89370400440532013000",
    "DE89,3704,0044,0532,0130,00": "de89370400440532013000",
    "DE89: 3704: 0044: 0532: 0130: 00": "de89370400440532013000",
    "(DE89)370400440532013000": "de89370400440532013000",
}


@pytest.mark.parametrize("text", HIDDEN)
def test_what_is_written_to_be_overlooked_is_judged(text: str) -> None:
    assert HIDDEN[text] in [part.wide for one in content_values(text) for part in one.parts]
    content: Json = {"arg_roles": {"x": "content"}}
    for shown in dict.fromkeys((text, HIDDEN[text])):
        items = request("write it down"), item(f"use {shown} now")
        wire = proposal(*items, args={"x": f"use {text}"}, tool=content)
        assert answer(wire) == "refuse", shown


def test_only_a_number_in_brackets_takes_the_place_of_a_host() -> None:
    for text in ("array@[3]", "user@[server]", "a@[x:y]", "a@[]", "a@[ipv6:]"):
        assert [*wide_addresses_in(text)] == [], text
        assert [*content_values(text)] == [], text
    assert [*wide_addresses_in("a@[127.1] b@[::1%eth0]")] == ["a@[127.1]", "b@[::1%eth0]"]


def test_a_number_with_points_and_no_page_is_no_link() -> None:
    for text in (
        "1.2.3.4",
        "1.2.3.4:80",
        "1.2.3/4",
        "see 1.2.3.4.5/6",
        "10.0.0.0/24",
        "version 1.2.3.4/5.",
    ):
        assert [*content_values(text)] == []


@pytest.mark.parametrize(
    "pattern", ["u{0}@h.example ", "https://h{0}.example/ ", "DE89 3704 0044 0532 {0:04} 00; "]
)
def test_no_more_values_of_a_text_are_found_than_a_plan_may_have(
    pattern: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "".join(map(pattern.format, (*range(9), *range(9))))
    assert len([*content_values(text)]) == 9
    monkeypatch.setattr("critic.provenance.content_values.MOST_VALUES", 4)
    assert len([*content_values(text)]) == 5
