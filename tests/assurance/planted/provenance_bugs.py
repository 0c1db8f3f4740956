"""Bugs in what provenance sees: the sources, their texts and fields, and what one value is."""

from typing import Final, NamedTuple

from tests.assurance.planted.bug import Bug, Edit, slip


class Files(NamedTuple):
    """Where the parts of provenance are."""

    judge: str = "critic/provenance/origin_judge.py"
    facts: str = "critic/provenance/value_facts.py"
    items: str = "critic/provenance/seen_items.py"
    sources: str = "critic/provenance/seen_sources.py"
    texts: str = "critic/provenance/texts.py"
    boundaries: str = "critic/provenance/boundaries.py"
    folding: str = "critic/provenance/folding.py"
    accounts: str = "critic/provenance/accounts.py"
    kinds: str = "critic/provenance/value_kinds.py"
    addresses: str = "critic/provenance/addresses.py"
    links: str = "critic/provenance/links.py"
    lists: str = "critic/provenance/written_lists.py"
    parts: str = "critic/provenance/item_parts.py"
    fields: str = "critic/provenance/field_trees.py"
    results: str = "critic/session/call_results.py"
    contents: str = "critic/provenance/content_values.py"
    spoken: str = "critic/provenance/spoken_words.py"
    numbers: str = "critic/provenance/short_numbers.py"
    place: str = "critic/provenance/place.py"
    roles: str = "critic/provenance/roles.py"
    words: str = "critic/provenance/tool_words.py"
    worth: str = "critic/provenance/worth.py"


FILES: Final = Files()

_SEEN: Final[tuple[Bug, ...]] = (
    slip(
        "text-is-a-field",
        FILES.parts,
        "what stands in the free text of a record counts as a field of it",
        "        if place is None:\n            yield from _text_parts(current, writer, unmet)\n",
        "        if place is None:\n"
        '            yield from _field_value(name, current, "system", writer)\n',
    ),
    slip(
        "field-only-in-its-place",
        FILES.parts,
        "what an outsider filled is the system's once a tool wraps the record",
        "return {name: writer for name, writer in found.items() if name in self.names}",
        "return NONE_UNMET",
    ),
    slip(
        "field-by-its-very-name",
        FILES.fields,
        "a field that an outsider filled is the system's in another case",
        'return name.casefold().replace("_", "").replace("-", "")',
        "return name",
    ),
    slip(
        "last-of-two-fields",
        FILES.fields,
        "of two fields of a name that lead nowhere, the one that was declared last counts",
        "found[plain] = lesser_writer(writer, found, plain)",
        "found[plain] = writer",
    ),
    slip(
        "long-field",
        FILES.parts,
        "a text of any length in a declared field is a field",
        "_LONGEST_FIELD: Final = 80",
        "_LONGEST_FIELD: Final = 8_000",
    ),
    slip(
        "field-of-two-lines",
        FILES.parts,
        "a text with line breaks in a declared field is a field",
        "len(value) <= _LONGEST_FIELD and _LINE_BREAK.search(value) is None",
        "len(value) <= _LONGEST_FIELD",
    ),
    slip(
        "unpromised-record",
        FILES.results,
        "a text that spells a record is one, though its tool promises none",
        "    if not tool.promises_records:\n        return None\n",
        "",
    ),
    slip(
        "ambient-is-named",
        FILES.items,
        "text that nothing led to counts as text of a source that the request names",
        "    if not asked_for:\n        return source.standing\n",
        "    if not asked_for:\n"
        '        return "named_public" if source.standing == "ambient" else source.standing\n',
    ),
    slip(
        "led-is-reached",
        FILES.items,
        "a source that only untrusted text led to counts as one that the request leads to",
        'asked_for = source.standing in ("named", "reached")\n',
        'asked_for = source.standing in ("named", "reached", "led")\n',
    ),
    slip(
        "web-is-a-member",
        FILES.items,
        "a web page that a member owns is worth what members write",
        'writer = "web" if source.web else',
        'writer = "web" if source.web and not is_member else',
    ),
    slip(
        "expired-gives-authority",
        FILES.items,
        "an item that has expired is worth as much as a fresh one",
        "            count = bisect_right(self._expiries, as_of)\n",
        "            count = 0\n",
    ),
    slip(
        "expired-does-not-contest",
        FILES.sources,
        "an item that has expired says nothing at all",
        "    return Seen(items, with_expired=False, hidden=hidden), every\n",
        "    return (Seen(items, with_expired=False, hidden=hidden),) * 2\n",
    ),
    slip(
        "fields-uncontested",
        FILES.sources,
        "a field is a field, though untrusted text names the same value",
        "if item is not None and rival is None:",
        "if item is not None:",
    ),
    slip(
        "linked-text-contests-not",
        FILES.sources,
        "text that the request leads to contests no field",
        "return self.unread or self._mention((*REACHED, AMBIENT, LED), value, limits)",
        "return self.unread or self._mention((AMBIENT, LED), value, limits)",
    ),
    slip(
        "unread-text-contests-not",
        FILES.sources,
        "an item that was not read whole contests no field",
        "return self.unread or self._mention((*REACHED, AMBIENT, LED), value, limits)",
        "return self._mention((*REACHED, AMBIENT, LED), value, limits)",
    ),
    slip(
        "led-field-is-a-field",
        FILES.sources,
        "a field of a source that only untrusted text led to is as good as any",
        "            (*TRUSTED, AMBIENT),\n"
        "            lambda place, shown: place.field(value, shown),",
        "            (*TRUSTED, AMBIENT, LED),\n"
        "            lambda place, shown: place.field(value, shown),",
    ),
    slip(
        "every-source-links",
        FILES.sources,
        "a value in any system of record connects a tool to the request",
        "return self._says((OF_RECORD[0], *TRUSTED), value)",
        "return self._says((*OF_RECORD, *TRUSTED), value)",
    ),
)

_STANDS: Final[tuple[Bug, ...]] = (
    slip(
        "three-digits-anywhere",
        FILES.place,
        "a number of three digits or fewer counts wherever it stands",
        "        if value.is_short_number:\n            return None\n",
        "",
    ),
    slip(
        "three-digits-of-any-word",
        FILES.numbers,
        "any word before a short number of the request calls it an id",
        "        if is_meant and _is_no_count(entry, value, at, nouns):\n",
        "        if True:\n",
    ),
    Bug(
        "part-of-an-address",
        "a value that is part of a longer one stands in any text",
        (
            Edit(FILES.boundaries, "|{joint}(?!{_NUMBERED}){word}", ""),
            Edit(
                FILES.boundaries,
                '"(?:(?<!{WORD})(?<!{WORD}{joint}){_BEHIND_TWO',
                '"(?:(?<!{WORD}){_BEHIND_TWO',
            ),
        ),
    ),
    slip(
        "mark-behind-a-joint",
        FILES.boundaries,
        "a value that begins with a mark stands in the middle of a longer one",
        '"(?:(?<!{WORD})(?<!{WORD}{joint}){_BEHIND_TWO',
        '"(?:(?<!{WORD}){_BEHIND_TWO',
    ),
    slip(
        "joint-behind-another-script",
        FILES.boundaries,
        "a part of a file name with letters of two scripts is a value",
        "_CHANGE[0] + NO_JOINT_BEHIND",
        "_CHANGE[0]",
    ),
    slip(
        "hidden-by-another-script",
        FILES.addresses,
        "a letter of another script behind an address in a text hides what it contests",
        "_address_of(ALL_CHANGES)",
        "ADDRESS",
    ),
    slip(
        "end-of-a-word",
        FILES.texts,
        "a value may end in the middle of a word",
        "            and self._reading.ends.of(text).match(text, at + len(value)) is not None\n",
        "",
    ),
    slip(
        "one-word-of-it",
        FILES.texts,
        "a value stands where its rarest word does",
        "            and text.startswith(value, at)\n",
        "",
    ),
    slip(
        "case-counts",
        FILES.folding,
        "a value in other letters is another value, so untrusted text does not contest it",
        "folded = text.lower() if text.isascii() else _folded_widely(text)\n"
        '    return _SPACE.sub(" ", _SLASHES',
        "folded = text if text.isascii() else _folded_widely(text)\n"
        '    return _SPACE.sub(" ", _SLASHES',
    ),
    slip(
        "forms-count",
        FILES.folding,
        "a value in full-width letters is not taken for the same by a reader",
        'return compatible(compatible(_WIDTHLESS.sub("", text)).translate(_FOLDED))',
        'return _WIDTHLESS.sub("", text).translate(_FOLDED)',
    ),
    slip(
        "scheme-counts",
        FILES.folding,
        "in doubt, a link with its scheme is another value than the same without",
        '_SLASHES.sub("/", _SCHEME.sub("", folded))',
        '_SLASHES.sub("/", folded)',
    ),
    slip(
        "slash-counts",
        FILES.links,
        "a link with a slash at its end is another value than the same without",
        'page.rstrip("/")',
        "page",
    ),
    slip(
        "list-as-text-unread",
        FILES.lists,
        "a list that is written as a text is one value",
        "    listed = parse_list(value)\n",
        "    listed = None\n",
    ),
    slip(
        "numbers-are-no-values",
        FILES.lists,
        "a number in an argument is not judged",
        "if type(value) is int or type(value) is float or (every and type(value) is bool):",
        "if every and type(value) is bool:",
    ),
    slip(
        "host-of-a-mail",
        FILES.links,
        "an e-mail address has the host that follows its @",
        'rf"|(?<!{WORD})(?<![@-])(?<!',
        'rf"|(?<!{WORD})(?<![-])(?<!',
    ),
    slip(
        "links-are-no-addresses",
        FILES.contents,
        "of the addresses in content only those with an @ are judged",
        "    yield from _links(text)\n",
        "    yield from ()\n",
    ),
    slip(
        "accounts-are-no-addresses",
        FILES.accounts,
        "account numbers in content are not judged",
        "[A-Za-z]{2}[0-9]{2}[A-Za-z0-9]{8,30}",
        "[A-Za-z]{2}[0-9]{2}[A-Za-z0-9]{80,90}",
    ),
)

PROVENANCE_BUGS: Final[tuple[Bug, ...]] = (*_SEEN, *_STANDS)
