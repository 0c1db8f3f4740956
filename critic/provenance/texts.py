"""Where a value stands in what was seen: an index of texts, to which texts are only added.

Rule 1: a value stands in a text as a whole, between the boundaries of its kind. A token of a text
        is words that a sign joins. A path begins behind a blank, a bracket or a quote that opens,
        and ends before a blank, with marks of a sentence and what closes before it.
Rule 2: adding a text costs its length, when it is first looked at. Looking up a value of one token
        costs the same in any index. A longer one is tried where its rarest token occurs; once that
        took as many tries as the texts are long, in a table of all runs of so many tokens, which
        reads each text once.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from heapq import merge
from itertools import islice
from typing import Final, NamedTuple

from critic.provenance.boundaries import (
    ALL_CHANGES,
    CHANGES,
    FIRST_OF_PAIRS,
    JOINT,
    LAST_OF_PAIRS,
    NO_CHANGE,
    NO_JOINT_BEHIND,
    STOPS,
    STRICT_JOINT,
    ScriptPattern,
    begins_of,
    ends_of,
    token_of,
)
from critic.provenance.folding import QUOTES, WORD, narrow, wide
from critic.provenance.holders import (
    Holders,
    ItemText,
    Number,
    Shown,
    TextForm,
    earlier_of,
    first_of,
    in_order,
)
from critic.provenance.windows import Windows
from evals.manifest import EvidenceItem

_BOLD: Final = re.compile(
    rf"(?<!{WORD})(?<![*/.\\])\*\*([^\s*/](?:[^\n*]{{0,200}}[^\s*/])?)\*\*(?!{WORD}|[*/.\\]{WORD})"
)
_QUOTES: Final = f"{QUOTES}\u2039\u203a"
_OPENING: Final = f"[{_QUOTES}(\\[<{FIRST_OF_PAIRS}]"
_CLOSING: Final = f"[{_QUOTES})\\]}}>{LAST_OF_PAIRS}]"
_STOP: Final = "[.,:;!?]"
_OPENED: Final = (
    rf"(?<=(?<!\S){_OPENING})|(?<=(?<!\S){_OPENING}{{2}})|(?<=[=,;|(\[{{][{_QUOTES}])|(?<=[\"']:[\"'])"
    r"|(?<=\]\()|(?<=>)(?=~?/[^<>\s]*+</)"
)
_NO_TAG: Final = f"(?!(?<=<)/{WORD}++>)"
_LABELLED: Final = "|".join(rf"(?<=(?<!\S)[A-Za-z_-]{{{count}}}=)" for count in range(1, 17))
_LED: Final = rf"(?:(?<=\|)|(?<=>)(?<![^\s0-9/-]>)|{_LABELLED})(?=~?/)"
_LED_BESIDE: Final = f"{_LED}|(?<=[{STOPS}{FIRST_OF_PAIRS}])(?=~?/)"
_LISTED: Final = rf"(?=[,;](?:~?/|\.{{1,2}}/|[{_QUOTES}])|\||</|<br\b)"
_CLOSED: Final = (
    rf"{_STOP}{{0,2}}{_CLOSING}{{1,4}}(?:{_STOP}{{0,3}}(?!\S)|(?=[,:;][{_QUOTES}0-9\[{{(/~]|\||</))"
    rf"|[{_QUOTES}](?=[,:;]|/?>)|['\u2019]s(?!\w)"
)
_ENDED_BESIDE: Final = (
    rf"[{STOPS}{LAST_OF_PAIRS}]{{1,4}}+(?![A-Za-z0-9._~$%/\\\[({{-]){NO_JOINT_BEHIND}"
)
_MOST_OCCURRENCES: Final = 200


def as_written(text: str) -> str:
    """Return a text as it is, but for what makes it bold: the form in which paths are compared."""
    return _BOLD.sub(_without_stars, text) if "**" in text else text


def _without_stars(bold: re.Match[str]) -> str:
    return f"  {bold[1]}  "


class Reading(NamedTuple):
    """How texts are read: their form, what a token is, where a value may begin and end."""

    form: TextForm
    token: ScriptPattern
    begins: ScriptPattern
    ends: ScriptPattern


def _make_reading(form: TextForm, changes: str, joint: str, also_begins: str = "(?!)") -> Reading:
    both = NO_CHANGE, changes
    return Reading(
        form,
        ScriptPattern(*(token_of(one, joint) for one in both)),
        ScriptPattern(*(f"(?:{begins_of(one, joint)}|{also_begins})" for one in both)),
        ScriptPattern(*(ends_of(one, joint) for one in both)),
    )


def _path_ends(*also: str) -> str:
    closed = "|".join((_LISTED, _CLOSED, *also))
    return rf"(?:(?:/{_STOP}?|{_STOP}{{0,3}})(?!\S)|/?(?:{closed})|/(?=[,;]))"


NARROW: Final = _make_reading(narrow, CHANGES, STRICT_JOINT)
WIDE: Final = _make_reading(wide, ALL_CHANGES, JOINT, rf"(?<!{WORD})(?=/)")
"""Behind a sign that joins words, `host:/srv/x`, a path from the root may begin all the same."""
PATHS: Final = Reading(
    as_written,
    ScriptPattern(f"{WORD}++", f"{WORD}++"),
    ScriptPattern(*(rf"{_NO_TAG}(?:(?<!\S)|{_OPENED}|{one})" for one in (_LED, _LED_BESIDE))),
    ScriptPattern(_path_ends(), _path_ends(_ENDED_BESIDE)),
)


class Texts:
    """Texts of evidence in one form, each with its item."""

    __slots__ = (
        *("_all", "_before", "_entries", "_held", "_longest", "_read", "_reading"),
        *("_tries_left", "_windows"),
    )

    def __init__(
        self, reading: Reading, entries: list[ItemText], before: "Texts | None" = None
    ) -> None:
        """Start an index of entries, to which others may be added later.

        Args:
            before: the index of others, which count as well.
        """
        self._reading: Final = reading
        self._before: Final = before
        self._all = entries
        self._read = 0
        self._entries: list[ItemText] = []
        self._held = Holders[str]()
        self._longest = self._tries_left = 0
        self._windows = Windows(*reading)

    def _read_new(self) -> None:
        """Read the entries that were added since the last lookup."""
        for entry in self._all[self._read :]:
            text = entry.text(self._reading.form)
            if text:
                in_order(self._entries, entry)
                self._tries_left += len(text)
                self._longest = max(self._longest, len(text))
                self._windows.add(entry)
                self._held.add(self._reading.token.of(text).findall(text), entry)
        self._read = len(self._all)

    def find(self, value: str) -> EvidenceItem | None:
        """Return an item in whose text a value stands, the first if several do."""
        entry = self.entry(value)
        return None if entry is None else entry.item

    def entry(self, value: str, shown: Shown | None = None) -> ItemText | None:
        """Return the first entry that counts in whose text a value in this form stands."""
        found = self._own_entry(value, shown)
        return (
            found if self._before is None else earlier_of(found, self._before.entry(value, shown))
        )

    def _own_entry(self, value: str, shown: Shown | None) -> ItemText | None:
        self._read_new()
        if not value or len(value) > self._longest:
            return None
        tokens = self._tokens_of(value)
        if not tokens:
            return self._first_standing(self._shown_entries(shown), value, tokens)
        held = min((self._held.entries_of(token, shown) for token, _ in tokens), key=len)
        if not held or (tokens[0][0] == value and self._reading is not PATHS):
            return first_of(held, shown)
        return self._phrase(held, value, tokens, shown)

    def occurrences(self, value: str, shown: Shown | None = None) -> Iterator[tuple[ItemText, int]]:
        """Yield where a value stands, entry by entry: of many tries the first ones."""
        for entry, at in islice(self._tries(value, shown), _MOST_OCCURRENCES):
            if self._stands(entry.text(self._reading.form), value, at):
                yield entry, at

    def _tries(self, value: str, shown: Shown | None) -> Iterator[tuple[ItemText, int]]:
        """Yield where a value may stand, in the order of the entries."""
        own = self._own_tries(value, shown)
        if self._before is None:
            return own
        return merge(self._before._tries(value, shown), own, key=_number_of_try)

    def _own_tries(self, value: str, shown: Shown | None) -> Iterator[tuple[ItemText, int]]:
        self._read_new()
        if len(value) > self._longest:
            return
        tokens = self._tokens_of(value)
        if tokens:
            held = min((self._held.entries_of(token, shown) for token, _ in tokens), key=len)
            entries = held if shown is None else filter(shown.shows, held)
            yield from ((one, at) for one in entries for at in self._token_places(one, tokens))
        else:
            shown_ones = self._shown_entries(shown)
            yield from ((one, at) for one in shown_ones for at in self._found_at(one, value))

    def _tokens_of(self, value: str) -> list[tuple[str, int]]:
        return [*self._spans(value)]

    def _shown_entries(self, shown: Shown | None) -> Iterable[ItemText]:
        return self._entries if shown is None else filter(shown.shows, self._entries)

    def _phrase(
        self,
        held: Sequence[ItemText],
        value: str,
        tokens: list[tuple[str, int]],
        shown: Shown | None,
    ) -> ItemText | None:
        """Find a value of more than one token, whose rarest one these texts hold."""
        possible = held if shown is None else filter(shown.shows, held)
        if self._tries_left > 0:
            return self._first_standing(possible, value, tokens)
        if not self._windows.is_worth_a_table(value, tokens):
            return self._search(possible, value)
        found = self._windows.find(value, shown)
        # A window is found by a number, and another run of tokens may have the same.
        if found is None or found[0].text(self._reading.form).startswith(value, found[1]):
            return found and found[0]
        return self._first_standing(possible, value, tokens)

    def _search(self, entries: Iterable[ItemText], value: str) -> ItemText | None:
        """Find a value by reading texts from end to end, in one pass each."""
        return next((one for one in entries if self._stands_in(one, value)), None)

    def _stands_in(self, one: ItemText, value: str) -> bool:
        # To compile a pattern of a value costs more than to read a long text.
        text = one.text(self._reading.form)
        return any(self._stands(text, value, at) for at in self._found_at(one, value))

    def _first_standing(
        self, entries: Iterable[ItemText], value: str, tokens: list[tuple[str, int]]
    ) -> ItemText | None:
        for entry in entries:
            self._tries_left -= 1
            text = entry.text(self._reading.form)
            if any(self._stands(text, value, at) for at in self._candidates(entry, value, tokens)):
                return entry
        return None

    def _candidates(
        self, one: ItemText, value: str, tokens: list[tuple[str, int]]
    ) -> Iterator[int]:
        """Yield the offsets at which the value may stand in a text."""
        form = self._reading.form
        if tokens and form in one.tried:
            yield from self._token_places(one, tokens)
            return
        # Most texts are tried once, which is not worth a table.
        one.tried.add(form)
        yield from self._found_at(one, value)

    def _found_at(self, one: ItemText, value: str) -> Iterator[int]:
        text = one.text(self._reading.form)
        at = text.find(value)
        while at >= 0:
            yield at
            at = text.find(value, at + 1)

    def _token_places(self, one: ItemText, tokens: list[tuple[str, int]]) -> Iterator[int]:
        """Yield the offsets at which a value of these tokens may stand, by its rarest token."""
        places = one.places(self._reading.form, self._spans)
        known = ((places.get(token, []), within) for token, within in tokens)
        offsets, within = min(known, key=lambda pair: len(pair[0]))
        self._tries_left -= len(offsets)
        yield from (offset - within for offset in offsets)

    def _spans(self, text: str) -> Iterator[tuple[str, int]]:
        return ((match[0], match.start()) for match in self._reading.token.of(text).finditer(text))

    def _stands(self, text: str, value: str, at: int) -> bool:
        return (
            at >= 0
            and text.startswith(value, at)
            and self._reading.begins.of(text).match(text, at) is not None
            and self._reading.ends.of(text).match(text, at + len(value)) is not None
        )


def _number_of_try(one: tuple[ItemText, int]) -> Number:
    return one[0].number
