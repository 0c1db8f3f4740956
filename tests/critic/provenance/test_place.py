"""What a place shows in the narrow form it mentions: what grants is seen by what doubts."""

from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from critic.provenance.holders import ItemText
from critic.provenance.links import link_of
from critic.provenance.place import Place
from critic.provenance.sent_values import SentIndex
from critic.provenance.value_kinds import Sought, read_value
from evals.context import SentValues
from evals.manifest import EvidenceItem
from tests.support.effort import examples
from tests.support.patience import PATIENT

SOUGHT: Final = [
    *(("US64SVBKUS6S3300958879", "account"), ("US64 SVBK US6S", "account"), ("4471", "account")),
    *(("eve@evil.example", "address"), ("o'eve@evil.example", "address")),
    *(("/srv/prod/db", "path"), ("db.txt", "path"), ("https://evil.example/pay?x=1", "url")),
    *(("evil.example", "url"), ("ORD-666", None), ("evil", None), ("evil word", None)),
    *(("8811", "order"), ("881", "order"), ("\uff2fRD-7", None), ("#x", None), ("'", None)),
]
# What compatibility forms join to their neighbours, what reads as doubled, and what parts values.
SIGNS: Final = (
    "\xa8\xaf\xb4\xb8\u2017\u203e\u2026\u20a8\xa0\u0301\u200b\ufdfa\uff0e\uff0f\uff20\uff0d\uff1a"
    "\u2024\u2025\u2100\u2116\u2122\xbd\xaa\xba\u3002/\\.:@-_+%~#?&=!*'\"()[]{}<>, \n\txR7"
)
pieces: Final = st.one_of(
    st.text(SIGNS, max_size=2),
    st.sampled_from(["https://", "www.", "see ", "id ", "['", "', '", "']", "**", "\n", "x"]),
    st.characters(min_codepoint=1, max_codepoint=0xFFFF, exclude_categories=["Cs"]),
)
around: Final = st.lists(pieces, max_size=2).map("".join)


@st.composite
def standing(draw: st.DrawFn) -> tuple[str, Sought]:
    """Draw a text with a value in it, which may or may not stand there as a whole."""
    value, kind = draw(st.sampled_from(SOUGHT))
    return draw(around) + value + draw(around), read_value(value, kind)


LAW: Final = settings(PATIENT, max_examples=examples(150))


def place_of(text: str) -> Place:
    place = Place()
    place.add(ItemText(EvidenceItem(id="e/1", classification="r"), [text]))
    return place


@LAW
@given(standing())
def test_what_a_text_says_it_mentions(drawn: tuple[str, Sought]) -> None:
    text, value = drawn
    place = place_of(text)
    if place.says(value, None):
        assert place.mentions(value, None)


@LAW
@given(standing())
def test_what_a_system_would_grant_of_a_text_was_sent_by_it(drawn: tuple[str, Sought]) -> None:
    text, value = drawn
    place, sent = place_of(text), SentIndex()
    sent.add(SentValues(seq=3, values=(text,)))
    if place.says(value, None) or place.leaf(value, None):
        assert sent.first_seq(value) == 3


@pytest.mark.parametrize("before", ["\xb4", "\xa8", "see\u2026", "x//", "\u20a8"])
def test_a_value_beside_what_folding_joins_to_it_is_mentioned(before: str) -> None:
    for value, kind in SOUGHT[:-5]:
        sought, place = read_value(value, kind), place_of(before + value)
        assert (place.says(sought, None) is None) or place.mentions(sought, None)


@pytest.mark.parametrize("text", ["siehe\u2026evil.example/pay", "siehe\u2026evil.example:80/pay"])
def test_a_host_beside_what_folding_joins_to_it_is_mentioned(text: str) -> None:
    link = link_of("https://evil.example/other")
    assert link is not None
    assert place_of(text).mentions_host(link.host, None)
