"""What may be links in a wide text."""

import pytest

from critic.provenance.links import wide_links_in

DOUBLED = {
    "at https://https://ord_7/b": ["https", "ord_7/b"],
    "https:https://ord_7": ["https", "ord_7"],
    "http://https://ftp://a.example/b": ["https", "ftp", "a.example/b"],
    "https://shop.example://b": ["shop.example", "b"],
    "https://a.example:8080/b": ["a.example:8080/b"],
    "https://a.example: c": ["a.example"],
}


@pytest.mark.parametrize("text", DOUBLED)
def test_a_scheme_before_a_link_does_not_hide_it(text: str) -> None:
    assert [link.key for link, _ in wide_links_in(text)] == DOUBLED[text]
