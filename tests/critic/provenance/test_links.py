"""What may be links in a wide text."""

import pytest

from critic.provenance.links import links_in, wide_links_in

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
