"""Bugs in what provenance sees: the sources, their texts and fields, and what one value is."""

from typing import Final, NamedTuple

from tests.assurance.planted.bug import Bug, slip


class Files(NamedTuple):
    """Where the parts of provenance are."""

    judge: str = "critic/provenance/origin_judge.py"
    facts: str = "critic/provenance/value_facts.py"
    items: str = "critic/provenance/seen_items.py"
    sources: str = "critic/provenance/seen_sources.py"
    texts: str = "critic/provenance/texts.py"
    values: str = "critic/provenance/value_forms.py"
    roles: str = "critic/provenance/roles.py"
    words: str = "critic/provenance/tool_words.py"
    worth: str = "critic/provenance/worth.py"


FILES: Final = Files()

_SEEN: Final[tuple[Bug, ...]] = (
    slip(
        "text-is-a-field",
        FILES.values,
        "what stands in the free text of a result counts as a field of a record",
        "(found.fields if short else found.texts).append(value)",
        "(found.fields if _is_short(value) else found.texts).append(value)",
    ),
    slip(
        "long-field",
        FILES.values,
        "a text of any length under a record field is a field",
        "_LONGEST_FIELD: Final = 80",
        "_LONGEST_FIELD: Final = 8_000",
    ),
    slip(
        "field-of-two-lines",
        FILES.values,
        "a text with line breaks under a record field is a field",
        "len(value) <= _LONGEST_FIELD and _LINE_BREAK.search(value) is None",
        "len(value) <= _LONGEST_FIELD",
    ),
    slip(
        "sentence-in-a-list",
        FILES.values,
        "an element of a list with spaces in it is a field",
        '_ONE_WORD: Final = re.compile(f"(?:{WORD}|[.@-]){{1,40}}")',
        '_ONE_WORD: Final = re.compile(f"(?:{WORD}|[ .@-]){{1,40}}")',
    ),
    slip(
        "ambient-is-named",
        FILES.items,
        "text that nothing led to counts as text of a source that the request names",
        '    if not asked_for:\n        return source.standing\n    return f"{source.standing}_',
        "    return f\"{'named' if source.standing == 'ambient' else source.standing}_",
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
        "'web' if source.web else source.author}",
        "'web' if source.web and source.author == 'public' else source.author}",
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
        'yield Sighting("contested" if rival else "field", item, rival)',
        'yield Sighting("field", item, rival)',
    ),
    slip(
        "linked-text-contests-not",
        FILES.sources,
        "text that the request leads to contests no field",
        "self._find_first((*_REACHED, AMBIENT, LED), value, _look_in_text)",
        "self._find_first((AMBIENT, LED), value, _look_in_text)",
    ),
    slip(
        "led-field-is-a-field",
        FILES.sources,
        "a field of a source that only untrusted text led to is as good as any",
        "self._find_first((*_TRUSTED, AMBIENT), value, _look_in_fields)",
        "self._find_first((*_TRUSTED, AMBIENT, LED), value, _look_in_fields)",
    ),
    slip(
        "every-source-links",
        FILES.sources,
        "a value in any system of record connects a tool to the request",
        "return self._says((OF_RECORD[0], *_TRUSTED), value)",
        "return self._says((*OF_RECORD, *_TRUSTED), value)",
    ),
)

_STANDS: Final[tuple[Bug, ...]] = (
    slip(
        "three-digits-anywhere",
        FILES.texts,
        "a number of three digits or fewer counts wherever it stands",
        "        if is_short_number(value):\n            return self._ids.first(value, shown)\n",
        "",
    ),
    slip(
        "three-digits-of-any-word",
        FILES.texts,
        "any word before a short number calls it an id",
        "ids?+(?!{WORD})(?:{_NO_WORD}){{0,4}}+",
        "{WORD}++(?:{_NO_WORD}){{0,4}}+",
    ),
    slip(
        "part-of-an-address",
        FILES.texts,
        "a value that is part of a longer one stands in any text",
        "_GENEROUS if generous else _STRICT",
        "_GENEROUS",
    ),
    slip(
        "end-of-a-word",
        FILES.texts,
        "a value may end in the middle of a word",
        "            and self._reading.ends.match(text, at + len(value)) is not None\n",
        "",
    ),
    slip(
        "one-word-of-it",
        FILES.texts,
        "a value stands where its rarest word does",
        "            text.startswith(value, at)\n            and ",
        "            ",
    ),
    slip(
        "case-counts",
        FILES.values,
        "a value in other letters is another value, so untrusted text does not contest it",
        "text.lower() if text.isascii()",
        "text if text.isascii()",
    ),
    slip(
        "forms-count",
        FILES.values,
        "a value in full-width letters is another value",
        "_compatible(_fold_case(_compatible(text)))",
        "_fold_case(text)",
    ),
    slip(
        "scheme-counts",
        FILES.values,
        "a link with its scheme is another value than the same without",
        '_SPACE.sub(" ", _SCHEME.sub("", folded))',
        '_SPACE.sub(" ", folded)',
    ),
    slip(
        "slash-counts",
        FILES.values,
        "a link with a slash at its end is another value than the same without",
        'strip(_QUOTES).rstrip("/.")',
        "strip(_QUOTES)",
    ),
    slip(
        "list-as-text-unread",
        FILES.values,
        "a list that is written as a text is one value",
        "    listed = _parse_list(value)\n",
        "    listed = None\n",
    ),
    slip(
        "numbers-are-no-values",
        FILES.values,
        "a number in an argument is not judged",
        "        if type(value) is int or type(value) is float:\n            yield value\n",
        "",
    ),
    slip(
        "host-of-a-mail",
        FILES.values,
        "an e-mail address has the host that follows its @",
        '    if "@" in value or " " in value:\n        return None\n',
        '    value = value.rpartition("@")[2]\n    if " " in value:\n        return None\n',
    ),
    slip(
        "links-are-no-addresses",
        FILES.values,
        "of the addresses in content only those with an @ are judged",
        r'    rf"|(?:[Hh][Tt][Tt][Pp][Ss]?://|(?<!{WORD})[Ww][Ww][Ww]\.){_IN_LINK}*{WORD}"' + "\n",
        "",
    ),
    slip(
        "accounts-are-no-addresses",
        FILES.values,
        "account numbers in content are not judged",
        r"[A-Z]{{2}}[0-9]{{2}}[A-Z0-9]{{8,}}+",
        r"[A-Z]{{2}}[0-9]{{2}}[A-Z0-9]{{80,}}+",
    ),
)

PROVENANCE_BUGS: Final[tuple[Bug, ...]] = (*_SEEN, *_STANDS)
