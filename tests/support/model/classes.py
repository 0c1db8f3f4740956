"""The class of a value: who gave it, or where it was seen.

A class is a letter; that of a text carries who wrote it: `m` a member, `p` the public, `w` a web
page. `Z` unreadable, `A` approved, `U` request, `S` operator, `O` made or on a named site, `T`
system of record, `W` plain words of the request, `F` a field that a system filled, `C` one that
other text mentions, `H` of a named host or below a named path, `P` a field that names a party, `CP`
one that other text mentions, `M` text of a designated record, `D` text of a named source, `R` of a
reached one, `X` of any other or only in the wide form, `L` a field of a led record, `N` not seen,
`K` a link that stands nowhere whole.
"""

import re
from collections.abc import Callable
from html import unescape
from posixpath import normpath
from unicodedata import ucd_3_2_0

from tests.support.model.facts import RANKS, Json, same_pair, scalars, unexpired
from tests.support.model.kinds import (
    FIRM,
    exact,
    has_only_words,
    is_short_number,
    is_unreadable,
    mentions,
    narrow,
    places,
    said,
    same_wide,
    shape_of,
    spelling,
    stands,
    text_of,
    wide_value,
)
from tests.support.model.names import is_all, is_part_of_name
from tests.support.model.parting import WORD
from tests.support.model.requests import (
    asked_as,
    is_below,
    lies_below,
    named_as,
    names_bare_host,
    names_host,
    numbers_anywhere,
)
from tests.support.model.sources import LONGEST_FIELD, Leaf, Seen, fresh_by
from tests.support.model.values import (
    TARGETS,
    Value,
    kind_at,
    mailboxes,
    read_list,
    values_in,
)

Shown = list[tuple[Seen, Leaf]]
"""Leaves with the items that hold them."""


def class_of(p: Json, tool: Json, value: Value, seen: list[Seen]) -> str:
    """Return the first class that holds. Expired items among those that were seen only doubt."""
    holds: list[tuple[str, Callable[[], bool]]] = [
        ("Z", lambda: value.role in TARGETS and is_unreadable(value.kind, value.value)),
        ("A", lambda: is_approved(p, tool, value)),
        ("U", lambda: is_requested(p, tool, value, seen)),
        ("S", lambda: "U" in named(p, tool, value, fresh_by(seen, "operator"))),
        ("O", lambda: is_own(p, tool, value, seen)),
        ("T", lambda: vouches(p, value, by_systems(value, seen), [])),
        ("W", lambda: "W" in named(p, tool, value, fresh_by(seen, "user", "operator"))),
        ("W", lambda: vouches(p, value, by_systems(value, seen, in_part=True), [])),
    ]
    kind = next((letter for letter, test in holds if test()), "")
    return kind or class_in_records(p, tool, value, seen)


def class_in_records(p: Json, tool: Json, value: Value, seen: list[Seen]) -> str:
    record = by_systems(value, seen)
    filled, party = fields(value, seen, "F"), fields(value, seen, "P")
    contested = is_contested(tool, value, seen)
    filled_by_system = vouches(p, value, filled, record)
    if filled_by_system and not contested:
        return "F"
    described = [(one, leaf) for one, leaf in designated(p, seen) if says(value, leaf)]
    if vouches(p, value, described, []):
        return "M"
    if filled_by_system:
        return "C"
    if any(names_host(value, text) or lies_below(value, text) for text in request(seen)):
        return "H"
    if vouches(p, value, party, record + filled):
        return "CP" if contested else "P"
    return class_in_texts(p, tool, value, seen)


def class_in_texts(p: Json, tool: Json, value: Value, seen: list[Seen]) -> str:
    said = [(one, leaf) for one, leaf in texts(seen) if one.fresh and says(value, leaf)]
    for letter, standing in (("D", "named"), ("R", "reached")):
        for author in "mpw":
            same = [(a, b) for a, b in said if (a.standing, a.letter_of(b)) == (standing, author)]
            is_echo = author == "m" and value.role == "locator" and not vouches(p, value, same, [])
            if same:
                return letter + ("p" if is_echo else author)
    if any(is_mentioned_by_others(tool, value, leaf.text) for _, leaf in texts(seen)):
        return "X"
    led = [(one, leaf) for one, leaf in leaves(seen) if leaf.field and is_led(one)]
    same = [(one, leaf) for one, leaf in led if is_field_value(value, leaf.text)]
    return "L" if vouches(p, value, same, []) or any(not one.fresh for one, _ in same) else "N"


def is_led(one: Seen) -> bool:
    """Return whether untrusted text led to it, or as little may be said for it: it expired."""
    return one.standing == "led" or not one.fresh


# --- what was seen ----------------------------------------------------------------------------


def request(seen: list[Seen]) -> list[str]:
    return [leaf.text for one in fresh_by(seen, "user") for leaf in one.leaves]


def leaves(seen: list[Seen]) -> Shown:
    return [(one, leaf) for one, leaf in leaves_of(seen) if one.author not in ("user", "operator")]


def leaves_of(seen: list[Seen]) -> Shown:
    return [
        (one, leaf)
        for one in seen
        for leaf in one.leaves
        if one.author not in ("user", "operator") or not one.fresh
    ]


def texts(seen: list[Seen]) -> Shown:
    """Return what members, the public and web pages wrote outside declared fields.

    Of an expired item it is all that it shows outside of them.
    """
    found = leaves_of(seen)
    return [
        (one, leaf) for one, leaf in found if is_free_text(leaf) or not (one.fresh or leaf.field)
    ]


def is_free_text(leaf: Leaf) -> bool:
    return not leaf.field and leaf.writer in ("member", "public")


def by_systems(value: Value, seen: list[Seen], *, in_part: bool = False) -> Shown:
    """Return what systems of record wrote that holds the value, or a longer name with it."""
    written = [
        (one, leaf)
        for one, leaf in leaves(seen)
        if one.author == "system" and leaf.writer == "system"
    ]
    looked = is_part_of_listed if in_part else is_recorded
    return [(one, leaf) for one, leaf in written if looked(value, leaf)]


def is_part_of_listed(value: Value, leaf: Leaf) -> bool:
    """Return whether a value stands in a text, but only in elements of lists that are longer."""
    name_like = value.kind in ("text", "path") or value.kind not in FIRM
    if not name_like or has_only_words(value.kind, value.value) or not says(value, leaf):
        return False
    kind, found = said(value.kind, value.value)[0], places(value.kind, value.value, leaf.text)
    is_name = leaf.listed and len(leaf.text) <= LONGEST_FIELD and " " in leaf.text.strip()
    if is_name and leaf.text.splitlines() == [leaf.text]:
        return not any(is_all(kind, one, 0, len(one.text)) for one in found)
    is_list = isinstance(read_list(leaf.text.strip()), list)
    return is_list and all(is_part_of_name(kind, one) for one in found)


def is_recorded(value: Value, leaf: Leaf) -> bool:
    """Return whether a system's text holds it: plain words as a leaf, a line or an element.

    No bare word or number names a host: a link stands where it is one.
    """
    if value.kind == "url" or said(value.kind, value.value)[0] == "path":
        return is_part(value, leaf.text) if is_any_text(value) else says_whole(value, leaf)
    if is_same(value, leaf.text):
        return True
    return is_part(value, leaf.text) if is_any_text(value) else says_whole(value, leaf)


def says_whole(value: Value, leaf: Leaf) -> bool:
    return says(value, leaf) and not is_part_of_listed(value, leaf)


def is_any_text(value: Value) -> bool:
    """Return whether any text may hold it, and mean nothing by it."""
    kind, inside = value.kind, value.value
    return has_only_words(kind, inside) or (kind != "url" and is_short_number(kind, inside))


def is_part(value: Value, text: str) -> bool:
    """Return whether a line of a text is the value, or an element of the list that it spells."""
    return any(is_same(value, part) for part in [*text.splitlines(), *values_in(text)])


def fields(value: Value, seen: list[Seen], letter: str) -> Shown:
    """Return the fields that hold the value: those that a system filled (F), or of a party (P)."""
    return [
        (one, leaf)
        for one, leaf in leaves(seen)
        if leaf.field and not is_led(one) and is_field_value(value, leaf.text)
        if filled_by(one, leaf) == letter
    ]


def filled_by(one: Seen, leaf: Leaf) -> str:
    if leaf.writer == "system":
        return "T" if one.author == "system" else "F"
    return "F" if one.author == "member" else "P"


def vouches(p: Json, value: Value, shown: Shown, better: Shown) -> bool:
    """Return whether a fresh item shows it, and one showed it before the session sent it."""
    sent = [
        one["seq"]
        for one in p["ctx"].get("session", {}).get("sent", [])
        if any(is_sent(value, text_of(other)) for leaf in one["values"] for other in scalars(leaf))
    ]
    seqs = [one.seq for one, _ in shown + better if one.seq is not None]
    first = not sent or any(seq < min(sent) for seq in seqs)
    return first and any(one.fresh for one, _ in shown)


def is_sent(value: Value, text: str) -> bool:
    return any(is_sent_as(value, form) for form in shown_forms(text))


def is_sent_as(value: Value, text: str) -> bool:
    alike = same_wide(value.value, text) and (wide_value(text) != "" or is_same(value, text))
    return alike or is_mentioned(value, text) or is_part(value, text)


def shown_forms(text: str) -> list[str]:
    """Return a text as it was sent, and all that a system may show for it."""
    return [form for read in (text, *readings(text)) for form in kept_forms(read)]


HIDING = "(?:script|style|template|head|title)(?![A-Za-z-])"


def readings(text: str) -> list[str]:
    """Return what programs show of a text with markup or escapes: pages, mails, and plain tools."""
    no_data = text.replace("<![CDATA[", "").replace("]]>", "")
    page = re.sub(rf"(?is)<(?:!--|{HIDING}).*?(?:-->|</{HIDING}[^<>]*>?|\Z)", "", no_data)
    quoting = "<[A-Za-z](?:[^<>\"']|\"[^\"]{0,1000}\"|'[^']{0,1000}'){0,100}>"
    drawn = (page, re.sub(quoting, "", text))
    dropping = [without_tags(one, gap) for one in drawn for gap in ("", " ")]
    once = [unescaped_text(text), *map(unescaped_text, dropping)]
    twice = [unescaped_text(without_tags(one, gap)) for one in once for gap in ("", " ")]
    found = []
    for words in dict.fromkeys((*once, *twice)):
        bare = re.sub("[*_`~]", "", words)
        apart = ucd_3_2_0.normalize("NFKD", words)
        plain = "".join(one for one in apart if not ucd_3_2_0.combining(one)).replace("\u3002", ".")
        found += [
            words,
            bare,
            plain,
            *([re.sub("[\r\n\t]", "", bare)] if len(text) <= 1000 else []),
        ]
    return found


def without_tags(text: str, gap: str) -> str:
    """Return a text without tags, and with the words of links alone."""
    return re.sub(r"!?\[([^\[\]]*)\]\([^()]*\)", r"\1", re.sub("<[^<>]*>", gap, text))


def unescaped_text(text: str) -> str:
    """Return a text with its references and escapes read."""
    words = unescape(re.sub("&#[0-9]{8,};?", "", text))
    escape = (
        r"\\u[0-9A-Fa-f]{4}|\\u\{[0-9A-Fa-f]{1,5}\}|\\x[0-9A-Fa-f]{2}|=[2-7][0-9A-Fa-f]|[=\\]\r?\n"
    )
    words = re.sub(escape, lambda one: letter(one[0]), words)
    return re.sub(r"\\(?=[^A-Za-z0-9\s])", "", words)


def letter(escape: str) -> str:
    """Return what an escape of a string or a mail stands for."""
    digits = escape.strip("\\ux={}\r\n")
    code = int(digits, 16) if digits else 0xD800
    return "" if 0xD800 <= code < 0xE000 else chr(code)


def kept_forms(text: str) -> list[str]:
    """Return a text, and as a system may show what it keeps of it."""
    plain = re.sub("%([2-7][0-9A-Fa-f])", lambda one: chr(int(one[1], 16)), text)
    for unread in (r"(?<![0-9A-Za-z.,_-])0+(?=[0-9])", "(?<=[0-9]),(?=[0-9]{3}(?![0-9]))"):
        plain = re.sub(unread, "", plain)
    plain = re.sub(r"(?<=[0-9])\.0+(?![0-9.])", "", plain)
    kept = "".join(as_kept(one) for one in re.split(r"(\s+)", plain))
    return [text, kept, re.sub(rf" *(?:(?! )(?!{WORD}).|_)+ *", "-", kept, flags=re.DOTALL)]


def as_kept(word: str) -> str:
    """Return a path or a link without its user, its usual port, dots and what stays at home."""
    word = re.sub(r"(?<=[A-Za-z0-9]):(443|80)(?=[/?#]|$)", "", word)
    scheme, mark, rest = word.rpartition("://")
    if mark:
        rest = rest.partition("#")[0].removesuffix("?")
        rest = re.sub("^[^/?]*@", "", rest)
    return scheme + mark + (normpath(rest) if "/" in rest else rest)


def designated(p: Json, seen: list[Seen]) -> Shown:
    """Return the texts of members' records of which the request names two declared fields.

    One value in both is one word of the request, and designates nothing.
    """
    found = []
    for one in fresh_by(seen, "member"):
        for record in dict.fromkeys(leaf.record for leaf in one.leaves):
            inside = [leaf for leaf in one.leaves if leaf.record == record]
            named = [leaf for leaf in inside if is_named_field(p, leaf, seen)]
            values = {narrow(shape_of(leaf.text), leaf.text) for leaf in named}
            if min(len({leaf.field for leaf in named}), len(values)) > 1 and not one.web:
                found += [(one, leaf) for leaf in inside if is_member_text(leaf)]
    return found


def is_member_text(leaf: Leaf) -> bool:
    return not leaf.field and leaf.writer == "member"


def is_named_field(p: Json, leaf: Leaf, seen: list[Seen]) -> bool:
    value = Value("object", (leaf.field,), shape_of(leaf.text), leaf.text)
    nobody = {"capability_id": leaf.field}
    return leaf.field != "" and "U" in named(p, nobody, value, fresh_by(seen, "user"))


def is_contested(tool: Json, value: Value, seen: list[Seen]) -> bool:
    """Return whether text of a source that is not named mentions a field's value too."""
    return not all(one.whole for one in seen) or any(
        is_mentioned_by_others(tool, value, leaf.text)
        for one, leaf in texts(seen)
        if one.standing != "named" or not one.fresh
    )


# --- whether one holds the other --------------------------------------------------------------


def is_same(value: Value, other: object) -> bool:
    """Return whether they name one thing."""
    return spelling(value.kind, value.value) == spelling(value.kind, other)


def says(value: Value, leaf: Leaf) -> bool:
    return is_in(value, leaf.text)


def is_in(value: Value, text: str) -> bool:
    """Return whether a text holds it as a whole. Short numbers say nothing in a text."""
    return not is_short_number(value.kind, value.value) and stands(value.kind, value.value, text)


def is_mentioned(value: Value, text: str) -> bool:
    """Return whether a text holds it in its wide form, or in the narrow one that would grant it."""
    return mentions(value.value, text, value.kind) or is_in(value, text)


def is_mentioned_by_others(tool: Json, value: Value, text: str) -> bool:
    """Return whether a text mentions it; a short number behind the noun of its argument, too."""
    if is_short_number(value.kind, value.value):
        return numbers_anywhere(tool, value, text)
    return is_mentioned(value, text)


def holds(value: Value, leaf: Leaf) -> bool:
    return is_field_value(value, leaf.text) if leaf.field else says(value, leaf)


def is_field_value(value: Value, text: str) -> bool:
    """Return whether a field holds it: as all of it, or as the address of a mailbox."""
    read = mailboxes(text) if value.kind == "address" else None
    alone = read.addresses if read and len(read.addresses) == 1 else []
    return is_same(value, text) or any(is_same(value, one) for one in alone)


def named(p: Json, tool: Json, value: Value, seen: list[Seen]) -> list[str]:
    return [
        (asked_as if one.author == "user" else named_as)(p, tool, value, leaf.text)
        for one in seen
        for leaf in one.leaves
    ]


def is_requested(p: Json, tool: Json, value: Value, seen: list[Seen]) -> bool:
    below = any(is_below(tool, value, text) for text in request(seen))
    return below or "U" in named(p, tool, value, fresh_by(seen, "user"))


def is_approved(p: Json, tool: Json, value: Value) -> bool:
    """Return whether a person said yes to it in this role, to this tool, at this tier or above."""
    return any(
        is_same(value, other)
        for one in p["ctx"].get("session", {}).get("approved", [])
        if one["role"] == value.role and same_pair(one["tool"], tool) and unexpired(p, one)
        if RANKS.index(tool["approval_mode"]) <= RANKS.index(one["approval_mode"])
        for leaf in scalars(one["value"])
        for other in [leaf, *values_in(leaf), *approved_addresses(value.role, leaf)]
    )


def approved_addresses(role: str, leaf: object) -> list[str]:
    """Return the addresses of the mailboxes that an approved recipient lists."""
    read = [mailboxes(one) for one in values_in(leaf)] if role == "recipient" else []
    return [address for one in read if one and not one.names for address in one.addresses]


def is_own(p: Json, tool: Json, value: Value, seen: list[Seen]) -> bool:
    """Return whether the session made it, or it is to be read on a site that is named as such."""
    if value.role == "locator" and any(names_bare_host(value, text) for text in request(seen)):
        return True
    made = p["ctx"].get("session", {}).get("own", [])
    kind = kind_at(tool, list(value.place)) or value.kind
    return value.role in ("object", "attribute", "locator") and any(
        one["kind"] == kind and exact(value.kind, value.value) == exact(value.kind, leaf)
        for one in made
        for leaf in scalars(one["value"])
        if not isinstance(leaf, bool)
    )
