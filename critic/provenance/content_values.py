"""The addresses, links and account numbers in a text that a call sends.

Rule 1: they are found in the wide form of the text, as a reader would find them. Only what stands
        in the text in its narrow form, too, can be granted by anything.
Rule 2: an address or account number is judged by the longest of its parts that was seen, of those
        that end at a separator, so that a word behind it hides nothing.
"""

import re
from collections.abc import Hashable, Iterable, Iterator
from typing import Final, NamedTuple, TypeVar

from critic.provenance.folding import narrow, unescape_breaks, wide, wide_links
from critic.provenance.host_names import may_be_file
from critic.provenance.links import (
    WebLink,
    all_links_in,
    wide_link_of,
    wide_links_in,
)
from critic.provenance.value_kinds import (
    Sought,
    account_parts,
    address_parts,
    addresses_in,
    wide_form,
)
from critic.provenance.wide_accounts import find_wide_accounts

MOST_VALUES: Final = 10_000
"""How many values of one plan are judged. Each of them takes tens of microseconds."""
_AS_LINK: Final = "https://"
_DIGIT: Final = re.compile("[0-9]")
_IN_LINK: Final = re.compile(r"[.:/\\]")
"""The signs of which each link has one."""
_Found = TypeVar("_Found", bound=Hashable)


class ContentValue(NamedTuple):
    """An address, a link or an account number in content.

    Attributes:
        shown: how it is shown to a person.
        parts: what it is looked for as: of a link the worst counts, else the longest that was
            seen, which stands before the shorter ones.
        link: the wide form of a link.
        is_link_alone: whether a reader takes it for a link wherever it stands.
    """

    shown: str
    parts: tuple[Sought, ...]
    link: WebLink | None = None
    is_link_alone: bool = False

    @property
    def host(self) -> str:
        """The host of a link, without its port."""
        return self.link.host.partition(":")[0] if self.link else ""


def content_values(text: str) -> Iterator[ContentValue]:
    """Yield what is judged in a text, each once: of a kind, one more than is judged of a plan."""
    folded = wide(text)
    if "@" in folded:
        yield from _addresses(narrow(text), folded)
    if _DIGIT.search(folded):
        yield from _accounts(narrow(text), folded)
    yield from _links(text)


def _addresses(small: str, folded: str) -> Iterator[ContentValue]:
    addresses = {part for one in addresses_in(small) for part in _ends(one)}
    for parts in _first_of(address_parts(folded)):
        forms = (
            Sought("address", one if one in addresses else "", wide_form(one)) for one in parts
        )
        yield ContentValue(parts[0], tuple(forms))


def _accounts(small: str, folded: str) -> Iterator[ContentValue]:
    numbers = _first_of(account_parts(folded))
    accounts = find_wide_accounts(small, {one for parts in numbers for one in parts})
    for parts in numbers:
        forms = (Sought("account", one if one in accounts else "", one) for one in parts[::-1])
        yield ContentValue(parts[-1], tuple(forms))


def _first_of(found: Iterable[_Found]) -> Iterable[_Found]:
    """Return the first of what was found, each once: with more of them a call is refused."""
    once = dict[_Found, None]()
    for one in found:
        once[one] = None
        if len(once) > MOST_VALUES:
            break
    return once


def _ends(address: str) -> Iterator[str]:
    return (part for parts in address_parts(address) for part in parts)


def _links(text: str) -> Iterator[ContentValue]:
    folded, exact = wide_links(text), dict[str, list[WebLink]]()
    if not _IN_LINK.search(folded):
        return
    plain = unescape_breaks(text)
    for link, _ in all_links_in(plain):
        wide_link = wide_link_of(wide_links(_AS_LINK + link.key))
        if wide_link is not None:
            exact.setdefault(wide_link.key, []).append(link)
    for link, looks in _first_of(wide_links_in(folded)):
        if looks == "words":
            continue
        forms = [
            Sought("url", one.key, link.key, link=one, names_no_host=may_be_file(one.key))
            for one in exact.get(link.key, ())
        ]
        parts = tuple(dict.fromkeys(forms)) or (Sought("url", "", link.key),)
        yield ContentValue(link.key, parts, link, looks == "link")
