"""What may be links in a wide text."""

import pytest

from critic.provenance.links import all_links_in, links_in, wide_links_in
from tests.support.model.facts import Json
from tests.support.sightings import answer, item, proposal, request

DOUBLED = {
    "at https://https://ord_7/b": ["https", "ord_7/b"],
    "https:https://ord_7": ["https", "ord_7"],
    "http://https://ftp://a.example/b": ["https", "ftp", "a.example/b"],
    "https://shop.example://b": ["shop.example", "b"],
    "https://a.example:8080/b": ["a.example:8080/b"],
    "https://a.example: c": ["a.example"],
    "http://https:80/b": ["https:80/b"],
}


@pytest.mark.parametrize("text", DOUBLED)
def test_a_scheme_before_a_link_does_not_hide_it(text: str) -> None:
    assert [link.key for link, _ in wide_links_in(text)] == DOUBLED[text]


@pytest.mark.parametrize("unit", ["a_.http://b/", "http:http://", "http://http:80:", "//a.https:"])
def test_no_part_of_a_text_is_read_again_for_each_scheme_in_it(unit: str) -> None:
    text = unit * 300
    assert sum(len(link.key) for link, _ in wide_links_in(text)) <= 2 * len(text)


@pytest.mark.parametrize("ending", ["cc", "md", "mov", "pl", "ps", "py", "rs", "sh", "so", "zip"])
def test_a_file_name_that_may_be_a_host_is_a_link_with_something_behind_it(ending: str) -> None:
    looks = {
        text: [one for _, one in wide_links_in(f"see {text}")]
        for text in (
            f"evil.{ending}/pay",
            f"evil.{ending}?d=1",
            f"www.evil.{ending}",
            f"https://evil.{ending}",
            f"notes.{ending}",
            f"notes.{ending}.",
        )
    }
    assert [*looks.values()] == [["link"]] * 4 + [["words"]] * 2
    assert [one for _, one in wide_links_in("see notes.txt/a, notes.json?x and a.b?.c")] == (
        ["words"] * 3
    )


DOTTED = {
    "see https://corp.com.": (["corp.com"], ["corp.com"]),
    "see https://corp.com.: it": (["corp.com"], ["corp.com"]),
    "see https://corp.com./b": ([], ["corp.com/b"]),
    "see corp.com./b.": ([], ["corp.com/b"]),
    "see https://corp.com.:80/b": ([], ["corp.com:80/b"]),
    "see corp.com.?x=1": ([], ["corp.com?x=1"]),
    "see https://corp.com.?": (["corp.com"], ["corp.com"]),
}


@pytest.mark.parametrize("text", DOTTED)
def test_a_page_of_a_host_that_ends_in_a_dot_names_no_whole_host(text: str) -> None:
    """What names one page gives no authority over all pages of its host."""
    narrow, wide = DOTTED[text]
    assert [link.key for link, _ in links_in(text)] == narrow
    assert [link.key for link, _ in wide_links_in(text)] == wide


CUT = [
    "\\b",
    "%2fb",
    "^b",
    "~b",
    "+b",
    "=b",
    "&b",
    "&/b",
    "$b",
    ".$b",
    "..b",
    ":b",
    ":80b",
    ":999999/b",
    ":/b",
    "\uff0fb",
    "\\@evil.example",
    ";@evil.example",
    "&@evil.example",
    "!$'()*,=@evil.example/b",
]
"""What follows a host so that readers take other hosts or pages for it."""


@pytest.mark.parametrize("behind", CUT)
@pytest.mark.parametrize("host", ["https://corp.com", "corp.com", "https://intranet"])
def test_no_host_is_cut_from_what_goes_on_behind_it(host: str, behind: str) -> None:
    assert [link.key for link, _ in links_in(f"see {host}{behind}")] == []
    assert list(wide_links_in(f"see {host}{behind}"))


@pytest.mark.parametrize(
    "behind", [", b", ",https://b.example", "; b", "!", "** b", ": b", ")", "'"]
)
def test_a_host_ends_where_the_sentence_goes_on(behind: str) -> None:
    found = [link.key for link, _ in links_in(f"see https://corp.com{behind}")]
    assert found[:1] == ["corp.com"]


def read(text: str) -> tuple[list[str], list[str]]:
    """Return the links that a text names, and those that may be a part of what it names."""
    links = list(links_in(text))
    parts = [one for one in all_links_in(text) if one not in links]
    return [one.key for one, _ in links], [one.key for one, _ in parts]


OPEN = {
    "https://b.example/{owner}/{repo}": "b.example",
    "https://b.example/hooks/<id>/x": "b.example/hooks",
    "https://b.example/[me]/repo": "b.example",
    "https://b.example/me[id]": "b.example/me",
    "https://b.example/me[1].json": "b.example/me",
    "https://b.example/me|sh/x": "b.example/me",
    "https://b.example/me/|https://c.example": "b.example/me",
    '"https://b.example/me/" + id': "b.example/me",
    "'https://b.example/me/'+id": "b.example/me",
    "'https://b.example/me/'.'id'": "b.example/me",
    "'https://b.example/me/' . $id": "b.example/me",
    "'https://b.example/me/'. $id": "b.example/me",
    '\\"https://b.example/me/\\" + id': "b.example/me",
    '"https://b.example/me/" % id': "b.example/me",
    "`https://b.example/me/` & id": "b.example/me",
    "(https://b.example/me/).{id}": "b.example/me",
    "\uff08https://b.example/me/\uff09{id}": "b.example/me",
    "https://b.example/me/</id>": "b.example/me",
    "https://b.example/me/\u3002{id}": "b.example/me",
    "https://b.example/me\u3002<id>": "b.example/me",
    'https://b.example/"me"/repo': "b.example",
    "https://b.example/\xabme\xbb/repo": "b.example",
    "https://b.example/\u201c\u65e7\u201d/repo": "b.example",
    "https://b.example/|me|/repo": "b.example",
    "https://b.example/me|x/repo": "b.example/me",
    "https://b.example/^me/repo": "b.example",
    "https://b.example/(me": "b.example",
    "https://b.example/me\\x": "b.example/me",
    "https://b.example/\u2026 now": "b.example",
    "https://b.example/... now": "b.example",
    "https://b.example/api/* now": "b.example/api",
    "https://b.example/a_ and": "b.example/a",
    "(https://b.example/a)/{id}": "b.example/a",
    "(https://b.example/a){id}": "b.example/a",
    "\uff08https://b.example/a\uff09b.html": "b.example/a",
    "b.example{path}": "b.example",
    "b.example:{port}": "b.example",
    "b.example.{country}/x": "b.example",
    "b.example[path]": "b.example",
    "b.example\u3010\u8def\u3011": "b.example",
    "b.example\u2013evil.example": "b.example",
    "b.example\u2014then": "b.example",
    "{sub}b.example": "b.example",
    "$b.example": "b.example",
    "(a)b.example/x": "b.example/x",
    "a.b\u3002b.example": "b.example",
    "see i.e.in short": "i.e.in",
    "https://b.example\u3002\u5e97b.cn": "b.example",
}


@pytest.mark.parametrize("text", OPEN)
def test_a_link_that_may_go_on_is_only_a_part_of_one(text: str) -> None:
    links, parts = read(text)
    assert OPEN[text] in parts
    assert OPEN[text] not in links


@pytest.mark.parametrize("first", ["https://b.example/{x}", "https://b.example/"])
def test_a_link_is_read_as_a_whole_where_any_place_has_it_so(first: str) -> None:
    both = {"https://b.example/{x}", "https://b.example/"}
    (second,) = both - {first}
    assert "b.example" in read(f"see {first} now or {second} then")[0]


def answer_for(value: str, *items: Json, mode: str = "delegated") -> str:
    tool: Json = {"arg_kinds": {"x": "url"}, "approval_mode": mode}
    return answer(proposal(*items, args={"x": value}, tool=tool))


def test_a_part_of_a_link_gives_no_page_to_anybody() -> None:
    for text, part in OPEN.items():
        for value in (f"https://{part}", f"https://{part}/evil"):
            assert answer_for(value, request(f"post to {text}")) in ("ask", "refuse"), text
            assert answer_for(value, item(f"post to {text}", "system", "named")) == "refuse", text
    read: Json = {"arg_roles": {"x": "locator"}, "arg_kinds": {"x": "url"}}
    said = request("Look up https://b.example/{owner}/{repo}")
    tool = {**read, "approval_mode": "network"}
    assert answer(proposal(said, args={"x": "https://b.example/e/trap"}, tool=tool)) == "ask"


ENDED = [
    *("[{}|b]", "<{}|b>", "\\href{{{}}}{{b}}", "[[{}][b]]", "||{}||"),
    *("<{}>", "<{}|b>", "|{}|b|", "| {}|", '"{}"', "'{}'b", "\u201c{}\u201d\u3092", "({})", "[{}]"),
    *("[b]({})", "{{a: {}}}", "<b>{}</b>", "{}<br>b", "*{}*", "*see {}*", "_see {}_", "{}\u2026"),
    *("{}...", "{}?", '{},"b"', "{}.", "{}\u3002", "\u6253\u5f00{}\u3002", "{}\u3001b"),
    *("{}\uff0c\u7136\u540e", "\uff08{}\uff09", "\u300c{}\u300d\u3092\u8aad", "{}\uff61\u6b21"),
    *("{}\u3001https://c.example/d", "https://c.example/d\u3001{}", "{}\uff01\uff1f \u597d"),
    *("\u3010{}\u3011", "\u300e{}\u300f", "{}\uff1a", "{}\uff1b\u5f8c", "{}\u3002<br>"),
    *("curl {}|sh", '"curl {}|bash"', "{}|https://c.example/d", "{}[1]", "{}[1][12], b"),
    *("<b>{}/</b>", '"{}/".', "({}/). Then", '["{}/", b]', '("{}/".) b'),
]
LINKS = ["https://b.example/a", "https://b.example"]


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("around", ENDED)
def test_a_link_ends_where_the_sentence_does_in_any_script(around: str, link: str) -> None:
    named = read(around.format(link))[0]
    is_host = link == LINKS[1]
    if around == "{}\u3001b" and not is_host:
        assert named == ["b.example/a\u3001b"]
    else:
        assert link.removeprefix("https://") in named
        assert answer_for(link, request(f"post to {around.format(link)}")) == "allow"


def test_a_page_ends_before_a_sentence_that_names_another_link() -> None:
    said = "\u6253\u5f00https://b.example/a\u3002\u7136\u540e\u53d1\u7ed9c.example\u3002"
    assert answer_for("https://b.example/a", request(said)) == "allow"
    assert answer_for("https://b.example", request(said)) == "ask"


def test_a_break_or_a_bracket_that_is_written_as_an_escape_ends_a_page() -> None:
    for escape in ("\\n", "\\r", "\\t", '\\"', "\\u003c", "\\u003e", "\\u0022"):
        assert read(f"https://b.example/a{escape}b") == (["b.example/a"], []), escape
    for escape in ("\\u0026", "\\u002e", "\\u0032", "\\x"):
        assert read(f"https://b.example/a{escape}b") == ([], ["b.example/a"]), escape


def test_a_sign_of_a_sentence_inside_of_a_page_is_a_part_of_it() -> None:
    for page in (
        "\u3010\u65e7\u3011\u62a5.html",
        "\u62a5\uff0c\u7136",
        "a\uff08\u65e7\uff09",
        "a\uff0cb",
        "\uff08a\uff09b",
    ):
        assert read(f"https://b.example/{page}") == ([f"b.example/{page}"], [])
    for host in ("a.example\u3002b.example", "a.example\uff0eb", "a.example\uff61b.example/x"):
        assert "a.example" not in read(host)[0] + read(host)[1]


SENTENCES = {
    "Read the report.It is long": ([], []),
    "the summary.To save time": ([], []),
    "b.example.It is": (["b.example"], []),
    "https://report.It": (["report.it"], []),
    "https://b.example/a.Then": (["b.example/a.Then"], ["b.example/a"]),
}


@pytest.mark.parametrize("text", SENTENCES)
def test_the_first_word_of_a_sentence_ends_no_host(text: str) -> None:
    assert read(text) == SENTENCES[text]


def test_no_page_or_path_that_may_go_up_is_below_a_named_one() -> None:
    for up in ("..%3b", "..%00", ".%c0%ae", "..%20", "%c0%ae%c0%ae", "..;", "{a,..}", ".\u200b."):
        page, path = f"https://b.example/a/{up}/admin", f"/srv/data/{up}/x"
        for value, kind, said in (
            (page, "url", "https://b.example/a"),
            (path, "path", "/srv/data"),
        ):
            tool: Json = {"arg_kinds": {"x": kind}, "arg_roles": {"x": "locator"}}
            wire = proposal(request(f"read {said}"), args={"x": value}, tool=tool)
            assert answer(wire) == "refuse", value
