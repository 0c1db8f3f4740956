"""What sources of one kind show: fields by their narrow forms, texts in both forms, and days.

Rule 1: an index is made when it is first asked for, and reads each entry once.
Rule 2: any groups of digits beside each other may be one number for what doubts. Only those are
        kept that are as long as a number which is looked for, until it is the fifth such length.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import chain
from typing import Final, TypeVar

from critic.provenance.accounts import account_groups_in, by_lines
from critic.provenance.boundaries import ALL_CHANGES, ScriptPattern
from critic.provenance.day_forms import Day, days_in, keys_of
from critic.provenance.folding import narrow, small, wide, wide_links
from critic.provenance.holders import Holders, ItemText, Shown, earlier_of
from critic.provenance.links import all_links_in, hosts_beside, links_in, wide_links_in
from critic.provenance.mailboxes import mailboxes_in
from critic.provenance.texts import NARROW, PATHS, WIDE, Reading, Texts, as_written
from critic.provenance.value_kinds import (
    Sought,
    ValueForm,
    accounts_in,
    addresses_in,
    same_values,
    text_form,
    wide_accounts_in,
    wide_addresses_in,
    wide_form,
)
from critic.provenance.wide_accounts import loose_ibans_in
from critic.provenance.written_lists import leaves, parse_list

_MARKED: Final = r"(?:#|\b(?:ids?|numbers?|no)\b)\W{0,4}([0-9]{1,3})"
_NO_MORE: Final = r"(?!\w|[./:@-]\w)"
_NUMBERED: Final = ScriptPattern(f"{_MARKED}{_NO_MORE}", f"{_MARKED}(?:{_NO_MORE}|{ALL_CHANGES})")

_MOST_LENGTHS: Final = 4

_K = TypeVar("_K")
_Key = tuple[ValueForm, str]


class _Index(Holders[_K]):
    """The entries that hold each key, of a list to which entries are only added."""

    __slots__ = ("_all", "_keys_in", "_read")

    def __init__(
        self, entries: list[ItemText], keys_in: Callable[[ItemText], Iterable[_K]]
    ) -> None:
        super().__init__()
        self._all, self._keys_in, self._read = entries, keys_in, 0

    def first_of(self, key: _K, shown: Shown | None) -> ItemText | None:
        """Return the first entry that counts and holds a key."""
        self.read_new()
        return self.first(key, shown)

    def read_new(self) -> None:
        """Read the entries that were added since the last lookup."""
        for entry in self._all[self._read :]:
            self.add(self._keys_in(entry), entry)
        self._read = len(self._all)


class Place:
    """What sources of one kind show."""

    def __init__(self, before: "Place | None" = None) -> None:
        """Start with nothing, or with what another place shows by then and later."""
        self._before: Final = before
        self._entries: Final[list[ItemText]] = []
        self._texts: dict[Reading, Texts] = {}
        self._indexes: dict[Callable[[ItemText], Iterable[_Key]], _Index[_Key]] = {}
        self._lengths: set[int] = set() if before is None else before._lengths
        self._days = _Index(self._entries, _field_days), _Index(self._entries, _text_days)

    def add(self, entry: ItemText) -> None:
        """Add what an item says."""
        self._entries.append(entry)

    def __len__(self) -> int:
        return len(self._entries) + (0 if self._before is None else len(self._before))

    def shown_entries(self, shown: Shown | None) -> Iterable[ItemText]:
        """Return the entries that count, in the order in which they were added."""
        own = self._entries if shown is None else filter(shown.shows, self._entries)
        return own if self._before is None else chain(self._before.shown_entries(shown), own)

    def texts(self, reading: Reading) -> Texts:
        """Return what is said in texts, read in one way."""
        if reading not in self._texts:
            before = None if self._before is None else self._before.texts(reading)
            self._texts[reading] = Texts(reading, self._entries, before)
        return self._texts[reading]

    def field(self, value: Sought, shown: Shown | None) -> ItemText | None:
        """Return the first entry with a field of this value that the system filled."""
        return self._first(_fields_in, value.form, value.narrow, shown)

    def party(self, value: Sought, shown: Shown | None) -> ItemText | None:
        """Return the first entry with a field of this value that names a party."""
        return self._first(_parties_in, value.form, value.narrow, shown)

    def leaf(self, value: Sought, shown: Shown | None) -> ItemText | None:
        """Return the first entry with a leaf, or a line or an element of one, of this value."""
        return self._first(_leaves_in, value.form, value.narrow, shown)

    def says(self, value: Sought, shown: Shown | None) -> ItemText | None:
        """Return the first entry in whose text the value stands in its narrow form."""
        if value.is_short_number:
            return None
        if value.form in ("text", "path"):
            return self.texts(PATHS if value.is_path else NARROW).entry(value.said, shown)
        keys_in = _all_links if value.names_no_host else _NARROW_IN[value.form]
        return self._first(keys_in, value.form, value.narrow, shown)

    def says_group(self, value: Sought, shown: Shown | None) -> ItemText | None:
        """Return the first entry in whose text a value is a group of a longer number."""
        if value.form != "account":
            return None
        return self._first(_account_groups, "account", value.narrow, shown)

    def mentions(self, value: Sought, shown: Shown | None) -> ItemText | None:
        """Return the first entry in whose text the value stands in its wide form, else a narrow.

        A short number only does where the text says that it is a number of something.
        """
        # Folding may join a value to what stands beside it: what grants is seen by what doubts.
        found = self._mentions_widely(value, shown)
        if found is None and value.form in _FOLDED_APART:
            return self._first(_FOLDED_APART[value.form], value.form, value.narrow, shown)
        return found or self.says(value, shown)

    def _mentions_widely(self, value: Sought, shown: Shown | None) -> ItemText | None:
        if value.is_short_number:
            return self._first(_short_numbers, "text", value.narrow, shown)
        if value.form in ("text", "path"):
            return self.texts(WIDE).entry(value.wide, shown)
        is_account = value.form == "account"
        keys_in = self._accounts_for(len(value.wide)) if is_account else _WIDE_IN[value.form]
        return self._first(keys_in, value.form, value.wide, shown)

    def _accounts_for(self, length: int) -> "_Keys":
        """Return what yields the accounts of a length, or of any if there are too many lengths."""
        if len(self._lengths) < _MOST_LENGTHS:
            self._lengths.add(length)
        return _wide_accounts(length if length in self._lengths else None)

    def mentions_host(self, host: str, shown: Shown | None) -> ItemText | None:
        """Return the first entry in whose text a host stands in its wide form, else a narrow."""
        found = (self._first(one, "url", host, shown) for one in (_wide_hosts, _narrow_hosts))
        return next(filter(None, found), None)

    def says_link(self, key: str, shown: Shown | None) -> ItemText | None:
        """Return the first entry in whose text a link stands in its narrow form."""
        return self._first(_links, "url", key, shown)

    def says_host(self, host: str, shown: Shown | None) -> ItemText | None:
        """Return the first entry in whose text a narrow link begins with a host."""
        return self._first(_hosts, "url", host, shown)

    def day(self, day: Day, shown: Shown | None, *, in_fields: bool) -> ItemText | None:
        """Return the first entry that names a day in a field, or in a text."""
        found = self._days[not in_fields].first_of(day, shown)
        if self._before is None:
            return found
        return earlier_of(found, self._before.day(day, shown, in_fields=in_fields))

    def names_any_day(self, shown: Shown | None) -> bool:
        """Return whether any entry that counts names a day."""
        for index in self._days:
            index.read_new()
        if any(index.holds_any(shown) for index in self._days):
            return True
        return self._before is not None and self._before.names_any_day(shown)

    def _first(
        self,
        keys_in: Callable[[ItemText], Iterable[_Key]],
        form: ValueForm,
        key: str,
        shown: Shown | None,
    ) -> ItemText | None:
        found = self._own_first(keys_in, form, key, shown)
        if self._before is None:
            return found
        return earlier_of(found, self._before._first(keys_in, form, key, shown))

    def _own_first(
        self,
        keys_in: Callable[[ItemText], Iterable[_Key]],
        form: ValueForm,
        key: str,
        shown: Shown | None,
    ) -> ItemText | None:
        if not key or not self._entries:
            return None
        index = self._indexes.get(keys_in)
        if index is None:
            index = self._indexes[keys_in] = _Index(self._entries, keys_in)
        return index.first_of((form, key), shown)


def _fields_in(entry: ItemText) -> Iterator[_Key]:
    return (key for field in entry.fields for key in _values_in_field(field))


def _parties_in(entry: ItemText) -> Iterator[_Key]:
    return (key for field in entry.parties for key in _values_in_field(field))


def _values_in_field(field: str) -> Iterator[_Key]:
    yield from same_values(field)
    listed = mailboxes_in(field)
    # Who two mailboxes in one field are, nobody can say.
    if listed is not None and len(listed.addresses) == 1:
        yield "address", small(listed.addresses[0])


def _leaves_in(entry: ItemText) -> Iterator[_Key]:
    for text in entry.texts:
        for leaf in (text, *text.splitlines(), *map(str, leaves(parse_list(text)))):
            yield "text", text_form(leaf)
            yield "path", leaf


def _short_numbers(entry: ItemText) -> Iterator[_Key]:
    text = entry.text(wide)
    return (("text", one[1]) for one in _NUMBERED.of(text).finditer(text))


def _links(entry: ItemText) -> Iterator[_Key]:
    found = links_in(entry.text(as_written))
    return (("url", link.key) for link, no_host in found if not no_host)


def _all_links(entry: ItemText) -> Iterator[_Key]:
    return (("url", link.key) for link, _ in links_in(entry.text(as_written)))


def _hosts(entry: ItemText) -> Iterator[_Key]:
    text = entry.text(as_written)
    found = [link.host for link, no_host in all_links_in(text) if not no_host]
    return (("url", one) for host in found for one in (host, *hosts_beside(host)))


def _wide_urls(entry: ItemText) -> Iterator[_Key]:
    for link, _ in wide_links_in(entry.text(wide_links)):
        yield "url", link.key
        # What follows a full stop or a bracket may be no part of it.
        yield "url", wide_form(link.key)


def _wide_hosts(entry: ItemText) -> Iterator[_Key]:
    links = wide_links_in(entry.text(wide_links))
    return (("url", link.host.partition(":")[0]) for link, _ in links)


def _narrow_hosts(entry: ItemText) -> Iterator[_Key]:
    return ((form, host.partition(":")[0]) for form, host in _hosts(entry))


def _addresses(entry: ItemText) -> Iterator[_Key]:
    return (("address", one) for one in addresses_in(entry.text(narrow)))


def _wide_addresses(entry: ItemText) -> Iterator[_Key]:
    return (("address", wide_form(one)) for one in wide_addresses_in(entry.text(wide)))


def _accounts(entry: ItemText) -> Iterator[_Key]:
    return (("account", one) for one in accounts_in(entry.text(by_lines)))


def _account_groups(entry: ItemText) -> Iterator[_Key]:
    return (("account", one) for one in account_groups_in(entry.text(by_lines)))


@cache
def _wide_accounts(length: int | None) -> "_Keys":
    """Return what yields the accounts of a length: one function for each, as there is an index."""

    def keys(entry: ItemText) -> Iterator[_Key]:
        text = entry.text(wide)
        lengths = None if length is None else (length,)
        found = chain(wide_accounts_in(text, lengths), loose_ibans_in(text, length))
        return (("account", one) for one in found)

    return keys


def _folded_apart(keys_in: "_Keys") -> "_Keys":
    """Return what reads narrow texts where they differ from the wide ones, which show as much."""

    def keys(entry: ItemText) -> Iterable[_Key]:
        return keys_in(entry) if entry.text(narrow) != entry.text(wide) else ()

    return keys


def _field_days(entry: ItemText) -> Iterator[Day]:
    fields = (*entry.fields, *entry.parties)
    return (day for field in fields for day in keys_of(days_in(wide(field))))


def _text_days(entry: ItemText) -> Iterator[Day]:
    return keys_of(days_in(entry.text(wide_links)))


_Keys = Callable[[ItemText], Iterable[_Key]]
_NARROW_IN: Final[dict[ValueForm, _Keys]] = {
    "url": _links,
    "address": _addresses,
    "account": _accounts,
}
_WIDE_IN: Final[dict[ValueForm, _Keys]] = {
    "url": _wide_urls,
    "address": _wide_addresses,
}
_FOLDED_APART: Final[dict[ValueForm, _Keys]] = {
    "address": _folded_apart(_addresses),
    "account": _folded_apart(_accounts),
}
