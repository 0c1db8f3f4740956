"""Bugs that give a value, a page or a yes more authority than the request or a person gave it."""

from typing import Final

from tests.assurance.planted.bug import Bug, Edit, slip
from tests.assurance.planted.provenance_bugs import FILES

_LEDGER: Final = "critic/session/ledger.py"
_RENDERED: Final = "critic/provenance/rendered_texts.py"
_STANDING: Final = "critic/provenance/standing.py"
_VALUES: Final = "critic/session/session_values.py"

_WHO_FILLED_IT: Final[tuple[Bug, ...]] = (
    slip(
        "element-is-a-field",
        FILES.parts,
        "a short element of any list is a field that the system filled",
        "open_values.extend((one, type(one) is str, writer) for one in reversed(current))",
        'yield from (ItemPart("system", str(one), "/") for one in current)',
    ),
    slip(
        "record-of-any-shape",
        FILES.results,
        "a record that does not satisfy the schema of its class has the fields of it",
        "return None if tables.declares(name) and not tables.is_record(name, value) else value",
        "return value",
    ),
    slip(
        "broken-record-keeps-its-author",
        FILES.results,
        "a text that is no record of its class is worth what its system says, whoever filled it",
        "return content, tool.default_class, tables.narrows(name)",
        "return content, tool.default_class, False",
    ),
    slip(
        "error-of-its-tool",
        FILES.results,
        "the text of an error is worth what its tool says",
        'made.append((result.error, FAILED_CLASS, "public"))',
        "made.append((result.error, FAILED_CLASS, author))",
    ),
    slip(
        "failed-call-says-as-much",
        FILES.results,
        "what a failed call returned is worth what a completed one returns",
        '        if result.status != "completed":\n'
        '            return result.output, FAILED_CLASS, "public"\n',
        "",
    ),
    slip(
        "party-is-the-system",
        FILES.fields,
        "what a party chose is worth what the system of record says",
        '    if writer == "party" and author == "system":\n        return "public"\n',
        "",
    ),
    slip(
        "party-fills-a-field",
        FILES.parts,
        "a field that names a party counts as one that the system filled",
        'yield from (ItemPart(writer, part.text, name or "/")',
        'yield from (ItemPart("system", part.text, name or "/")',
    ),
    slip(
        "one-field-designates",
        FILES.sources,
        "two values of one field that the request names make a record the user's reference",
        "len(fields) > 1 and len(values) > 1",
        "len(fields) > 0 and len(values) > 1",
    ),
    slip(
        "one-value-designates-twice",
        FILES.sources,
        "a value that stands in two fields of a record designates it",
        "len(fields) > 1 and len(values) > 1",
        "len(fields) > 1",
    ),
    slip(
        "better-of-contested-party",
        FILES.worth,
        "whoever writes a value into a field of a party makes it worth more than its text",
        'return max(worth_of(role, "contested", spec), worth_of(role, other, spec))',
        'return min(worth_of(role, "contested", spec), worth_of(role, other, spec))',
    ),
    slip(
        "word-in-a-record",
        FILES.sources,
        "a word in a longer text of a system of record is a value of it",
        "            if whole:\n",
        "            if value.is_short_number:\n",
    ),
)

_WHAT_IT_NAMES: Final[tuple[Bug, ...]] = (
    slip(
        "dots-in-a-path",
        FILES.kinds,
        "a path that goes up again from a named folder is below it",
        '"" in inner or may_go_up(inner):',
        '"" in inner:',
    ),
    slip(
        "dots-in-a-link",
        FILES.links,
        "a link that goes up again from a named page is below it",
        'if "" in segments or may_go_up(segments):',
        'if "" in segments:',
    ),
    slip(
        "escapes-in-a-link",
        FILES.links,
        "a link whose slashes and dots are written otherwise is read as it stands",
        'if "\\\\" in text or has_escapes(text):',
        'if "\\\\" in text:',
    ),
    slip(
        "unreadable-target",
        FILES.facts,
        "a target that programs read in two ways is compared as it stands",
        "if not value.is_readable and asked.role not in _LENIENT_ROLES:",
        "if not value.is_readable and asked.role in _LENIENT_ROLES:",
    ),
    slip(
        "names-of-members-unjudged",
        FILES.roles,
        "the names of members in a target are not judged",
        "for name in sorted(members) if named and path else ():",
        "for name in sorted(members) if named and not path else ():",
    ),
    slip(
        "words-are-names",
        FILES.sources,
        "any word of the request names a target",
        'return _UNSPOKEN if entry is None else Spoken("words", entry.item)',
        'return _UNSPOKEN if entry is None else Spoken("request", entry.item)',
    ),
    slip(
        "function-words-are-names",
        FILES.spoken,
        "a word such as `the` or `please` is a name where it has a capital",
        "    if not PLAIN_WORDS.isdisjoint(words):\n        return False\n",
        "",
    ),
    slip(
        "page-of-a-named-host",
        FILES.sources,
        "every page of a host that the request names is one that it names",
        'return Spoken("host", host.item, is_bare and not value.link.has_query)',
        'return Spoken("request", host.item)',
    ),
    slip(
        "query-below-a-page",
        FILES.sources,
        "a page below a named one is named whatever its query says",
        "pages = () if value.link.has_query else value.link.parents()",
        "pages = value.link.parents()",
    ),
    slip(
        "below-a-folder-at-any-tier",
        FILES.facts,
        "what lies below a named folder may be destroyed, though the request only names the folder",
        'has_depth = asked.role == "locator" or asked.rank <= _NETWORK',
        "has_depth = True",
    ),
    slip(
        "word-names-a-source",
        _STANDING,
        "a search for one word of the request is a source that the request names",
        'is_phrase = spoken == "words" and " " in value.narrow',
        'is_phrase = spoken == "words"',
    ),
    slip(
        "host-names-a-source",
        _STANDING,
        "a page is named because the request names another page of its host",
        'if (spoken == "request" or is_phrase)',
        'if (spoken in ("request", "host") or is_phrase)',
    ),
    slip(
        "led-page-is-reached",
        _STANDING,
        "a page that only untrusted text led to counts as one that the request leads to",
        'return "led" if origin in ("untrusted", "led_field") else "ambient"',
        'return "reached" if origin in ("untrusted", "led_field") else "ambient"',
    ),
    slip(
        "host-with-any-query",
        FILES.facts,
        "a link to a named host may carry anything out in its query",
        'if is_seen or (seen.origin == "host" and not has_query):',
        'if is_seen or seen.origin == "host":',
    ),
    slip(
        "new-link-in-content",
        FILES.worth,
        "a link that stands nowhere may be passed on in content",
        '"reached_member", "led_field", "unseen"),',
        '"reached_member", "led_field", "unseen", "new_link"),',
    ),
    slip(
        "host-in-others-text",
        FILES.facts,
        "a new page of a host that only untrusted text names is as good as one of any host",
        "return max([(self._worth(asked, new), new), *others], key=_level)",
        "return self._worth(asked, new), new",
    ),
    slip(
        "best-part-of-a-number",
        FILES.facts,
        "a word behind an account number hides it",
        "return next(seen, found[0])",
        "return found[0]",
    ),
    slip(
        "unread-day",
        FILES.judge,
        "a day in a spelling that nobody reads is not judged",
        "if not days and not self._facts.is_approved(asked, value.sought):",
        "if not days and self._facts.is_approved(asked, value.sought):",
    ),
    slip(
        "empty-call",
        FILES.judge,
        "a call without any of its recipients and objects is not doubted",
        "if not any(one.asked.role in _GIVEN_TO for one in values):",
        "if not all(one.asked.role in _GIVEN_TO for one in values):",
    ),
    slip(
        "title-of-others",
        FILES.judge,
        "an effect without a target may carry a title that only others wrote",
        "if item is not None and asked_for.isdisjoint(meaning_stems(narrow(text))):",
        "if item is None and asked_for.isdisjoint(meaning_stems(narrow(text))):",
    ),
)

_WHAT_A_SESSION_ADDS: Final[tuple[Bug, ...]] = (
    Bug(
        "own-of-another-kind",
        "what a session made as a note is its own as a file as well",
        (
            Edit(
                FILES.facts,
                "        yield own.kind, read_value",
                '        yield "", read_value',
            ),
            Edit(
                FILES.facts,
                "key = asked.kind or value.form, value.exact",
                'key = "", value.exact',
            ),
        ),
    ),
    slip(
        "made-by-a-failed-call",
        _LEDGER,
        "what a call was to make is the session's own though it failed, as where it existed",
        'if tool is None or not gives_authority or result.status != "completed":',
        "if tool is None or not gives_authority:",
    ),
    Bug(
        "yes-for-any-tool",
        "a value that a person approved for one tool is approved for every tool",
        (
            Edit(
                FILES.facts,
                "key = (one.role, pair, form, spelled)",
                'key = (one.role, ("", ""), form, spelled)',
            ),
            Edit(
                FILES.facts,
                "key = (asked.role, asked.pair, value.form, value.narrow)",
                'key = (asked.role, ("", ""), value.form, value.narrow)',
            ),
        ),
    ),
    Bug(
        "yes-in-any-role",
        "a value that a person approved to be read is approved to be paid",
        (
            Edit(
                FILES.facts,
                "key = (one.role, pair, form, spelled)",
                'key = ("object", pair, form, spelled)',
            ),
            Edit(
                FILES.facts,
                "key = (asked.role, asked.pair, value.form, value.narrow)",
                'key = ("object", asked.pair, value.form, value.narrow)',
            ),
        ),
    ),
    slip(
        "echo-vouches",
        FILES.sources,
        "a value that the session sent itself counts as shown by the system that shows it again",
        "return seq is not None and seq < limit",
        "return seq is not None",
    ),
    slip(
        "nothing-is-sent",
        _LEDGER,
        "what a call writes is not kept as sent",
        'if tool is not None and tool.capability.approval_mode == "read_only":\n',
        'if tool is not None and tool.capability.approval_mode != "read_only":\n',
    ),
    slip(
        "echo-without-its-markup",
        _RENDERED,
        "a value that was sent with a tag in it counts as a system's word where that is gone",
        "_TAG.sub(gap, text)",
        "text",
    ),
    slip(
        "echo-in-a-tag",
        _RENDERED,
        "a reference within a tag counts as a system's word where nothing drops the tag",
        "    yield _unescape(text)\n",
        "",
    ),
    slip(
        "echo-escaped-twice",
        _RENDERED,
        "what was escaped twice counts as a system's word where it is read twice",
        "for one in once if _LEFT.search(one) for",
        "for one in () if _LEFT.search(one) for",
    ),
    slip(
        "echo-behind-a-quoted-bracket",
        _RENDERED,
        "a tag ends at the first bracket, also within a quoted attribute",
        '(_QUOTING_TAG.sub("", text), _without_hidden(text))',
        "(_without_hidden(text),)",
    ),
    slip(
        "echo-of-a-line-that-goes-on",
        _RENDERED,
        "a line that a mail or a string goes on with counts as two",
        'r"|[=\\\\]\\r?\\n"',
        'r""',
    ),
    slip(
        "echo-of-a-reference",
        _RENDERED,
        "a value that was sent with a reference of HTML counts as the word of whoever reads it",
        'unescape(_LONG_CODE.sub("", text))',
        '_LONG_CODE.sub("", text)',
    ),
    slip(
        "echo-of-an-escape",
        _RENDERED,
        "a value that was sent with an escape counts as the word of a system that reads it",
        "_ESCAPE.sub(_read_escape, text)",
        "text",
    ),
    slip(
        "reader-vouches",
        "critic/session/call_results.py",
        "what a reader made of an outsider's text is the word of a system",
        "    if tool.is_derived:\n        return None\n",
        "",
    ),
    slip(
        "waived-with-other-targets",
        FILES.judge,
        "a yes to a call holds for a call with further targets",
        "return keys <= frozenset().union(*forms) and all(keys & form for form in forms)",
        "return all(keys & form for form in forms)",
    ),
    slip(
        "waived-with-fewer-targets",
        FILES.judge,
        "a yes to a call on two targets holds for a call on one of them",
        "return keys <= frozenset().union(*forms) and all(keys & form for form in forms)",
        "return keys <= frozenset().union(*forms)",
    ),
    slip(
        "link-names-what-it-holds",
        "critic/provenance/seen_sources.py",
        "what whoever made a link put into it counts as said by the user",
        'if value.form == "url" or limits.role not in _ACTED_ON:',
        'if value.form != "" or limits.role not in _ACTED_ON:',
    ),
    slip(
        "link-ends-at-a-quote",
        "critic/provenance/unlinked_texts.py",
        "what stands behind a quote in a link counts as said by the user",
        '_OF_LINK: Final = rf"[^{LINK_SPACES}<>\\"`()',
        '_OF_LINK: Final = rf"[^{LINK_SPACES}<>\\"\'|`()',
    ),
    slip(
        "no-to-one-spelling",
        _VALUES,
        "what a person denied is asked again in other letters",
        "sorted({plain_form(one.sought) for one in aims})",
        "sorted({one.sought.narrow for one in aims})",
    ),
)

AUTHORITY_BUGS: Final[tuple[Bug, ...]] = (
    *_WHO_FILLED_IT,
    *_WHAT_IT_NAMES,
    *_WHAT_A_SESSION_ADDS,
)
