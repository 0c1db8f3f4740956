"""What a request names: a value as a whole, only as plain words, or only its host or its folder."""

import re
from itertools import pairwise

from tests.support.model.facts import RANKS, Json
from tests.support.model.kinds import (
    AFTER,
    BEFORE,
    FIRM,
    FREE_AFTER,
    FREE_BEFORE,
    Place,
    Url,
    begins_path,
    ends_path,
    even,
    fold,
    has_no_word,
    has_only_words,
    is_escaped,
    is_group,
    is_short_number,
    links_in,
    narrow,
    not_bold,
    parts_in,
    places,
    read_url,
    said,
    small,
    text_of,
    words_of,
)
from tests.support.model.names import is_part_of_name, stands_quoted
from tests.support.model.parting import GAP, WORD, is_change, is_unspaced, parted
from tests.support.model.values import Value, kind_at, stem, words_of_name

QUOTES = "\"'`\u2018\u2019\u201a\u201c\u201d\u201e\u00ab\u00bb"
FUNCTION_WORDS = (
    "a about above after again all also am an and any anybody anyone anything are as at be "
    "because been before being below between both but by can could did do does done each "
    "either else every everybody everyone everything few for from get had has have he her here "
    "hers him his how i if in into is it its just let like many may me might mine more most "
    "much must my no nobody none nor not nothing now of off on once one only or other our ours "
    "out over own please same shall she should so some somebody someone something such than "
    "thanks that the their theirs them then there these they this those to too under until up us "
    "very was we well were what when where which who whom whose why will with would yes you your "
    "yours"
)
BESIDE = rf"[: ()\[\]{{}}<>=*{QUOTES}]"
MARK = rf"(?:#|\u2116|\bn\.?[\xb0\xba]|\b(?:no|nos|nr)\.|\bnumbers?\b|\bids?\b){BESIDE}*"
NUMBER_MARK = MARK + "$"
JOINS = rf"{BESIDE.replace(':', '')}*(?:, ?(?:and|or) |,|;|and|or|&){BESIDE.replace(':', '')}*"
LISTED = rf"(?:(?<!\w)#?[0-9]+{JOINS})+$"
COUNTING = "each more most of other out own same such"
"""Function words of which a number may be the count."""
UNITS = (
    "second minute min hour hr day night week month year time percent euro dollar pound kg piece "
    "item unit copy people person guest adult child children seat"
)
LIST_MARKS = "-*\u2022"
NEAR = 120
LETTERS_BEFORE = r"^[^.]*?[^\x00-\x7f](?=[A-Za-z0-9])"
NO_NAMES = (
    "id ids no nos nr num number numbers key ref name names list value arg to from for of in on at "
    "by the a an text"
)
NO_NOUNS = ("id", "ids", "no", "number", "numbers", "name", "names", "text")


# --- the whole value --------------------------------------------------------------------------


def named_as(p: Json, tool: Json, value: Value, text: str) -> str:
    """Return whether a text by the user or the operator names it: wholly (U), by words (W)."""
    if is_short_number(value.kind, value.value):
        return numbers_it(p, tool, value, text)
    found = places(value.kind, value.value, text)
    if not found and value.kind == "account":
        return "W" if is_group(value.value, text) else ""
    if not found:
        return adjoins(nouns_of(tool, value), value, text)
    said_kind, _ = said(value.kind, value.value)
    if not has_only_words(value.kind, value.value):
        is_name_like = value.kind not in ("url", "address", "account")
        in_names = [is_part_of_name(said_kind, one) for one in found]
        return "W" if is_name_like and all(in_names) else "U"
    nouns = nouns_of(tool, value)
    apart = [one for one in found if not is_part_of_name(said_kind, one)]
    return "U" if any(is_name(value, nouns, one) for one in apart) else "W"


LINK_STOPS = (
    "\x00-\x20\x85\xa0\u1680\u180e\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
    '<>"`()\u2018\u201c\u201d\u201e\xab\xbb'
    "\u3001\u3002\uff01\uff0c\uff0e\uff1a\uff1b\uff1f\uff61\uff64"
    "\u3008\u300a\u300c\u300e\u3010\u3014\u3016\uff08\uff3b\uff5b\uff62"
    "\u3009\u300b\u300d\u300f\u3011\u3015\u3017\uff09\uff3d\uff5d\uff63"
)
SPELLED_LINK = (
    r"(?i)(?:(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{0,19}://|(?<![a-z0-9@./-])www\.)"
    rf"(?:[^{LINK_STOPS}]|\([^{LINK_STOPS}]*\))*"
)


def asked_as(p: Json, tool: Json, value: Value, text: str) -> str:
    """Return whether the user names it: what only a link of the text holds, its maker chose."""
    how = named_as(p, tool, value, text)
    if how != "U" or value.kind == "url" or value.role not in ("recipient", "object", "secret"):
        return how
    ends = ".,;:!?'\"*_~\u2019\u2026"
    left = re.sub(SPELLED_LINK, lambda one: "_" + one[0][len(one[0].rstrip(ends)) :], text)
    return "U" if named_as(p, tool, value, left) == "U" else "W"


LABELS = [stem(one) for one in ["id", "no", "nr", "number", "file", "path"]]
LOOSE = {
    "text": (BEFORE, AFTER),
    "path": (rf"(?<!{WORD})(?<![./:@\\+%~=$*&)}}\]-])", rf"(?!{WORD}|[./:@\\+%~=$*&{{-])"),
}
"""Where a value may begin and end that no joint holds to what is beside it."""


def adjoins(nouns: list[str], value: Value, text: str) -> str:
    """Return whether it would stand in the text if signs beside it were blanks.

    That is so wholly (U) for signs that are no part of it, and by words (W) for others.
    """
    kind, form = said(value.kind, value.value)
    if kind not in LOOSE or form == "":
        return ""
    lines = even(text).replace("\n", " ") if " " in form else even(text)
    plain = not_bold(text) if kind == "path" else small(lines)
    told = without_labels(kind, form, [*nouns, *LABELS], plain)
    words = has_only_words(value.kind, value.value)
    found = places(value.kind, value.value, told)
    is_dull = set(re.split("[ -]", str(narrow("text", value.value)))) <= set(FUNCTION_WORDS.split())
    if found:
        return "W" if is_dull or all(is_part_of_name(kind, one) for one in found) else "U"
    loose = without_signs(kind, form, told, words=words)
    return "W" if places(value.kind, value.value, loose) else ""


def free(kind: str, place: Place, *, at_end: bool) -> bool:
    """Return whether a place is free at one of its ends, of what would hold it to what is there."""
    text, start, end = place
    if kind == "path":
        return ends_path(place) if at_end else begins_path(place)
    return (
        re.compile(FREE_AFTER if at_end else FREE_BEFORE).match(text, end if at_end else start)
        is not None
    )


def blanked(kind: str, sign: str, text: str, *, at_end: bool = False) -> str:
    """Return a text with a blank for each sign that is free at one of its ends."""
    ends = (Place(text, one.start(), one.end()) for one in re.finditer(sign, text))
    for one in reversed([one for one in ends if free(kind, one, at_end=at_end)]):
        text = f"{text[: one.start]} {text[one.end :]}"
    return text


def without_labels(kind: str, form: str, known: list[str], text: str) -> str:
    """Return a text with a blank for labels that are known, and what a path is written with."""
    sought = in_any_quotes(kind, form)
    label = rf"(?<!\S)([(\[{{{QUOTES}]*)({WORD}+)[:=](?={sought})"
    never = ("no",) if not form[0].isdigit() else ()

    def apart(one: re.Match[str]) -> str:
        name = fold(one[2])
        return f"{one[1]} " if stem(name) in known and name not in never else one[0]

    text = re.sub(label, apart, text)
    if kind == "path" and not form.startswith(("/", "~")):
        text = blanked(kind, rf"\./(?={sought})", text)
    is_file = re.search(r"\.[A-Za-z][A-Za-z0-9]{0,9}$", form) is not None
    if kind == "path" and is_file and not form.startswith(("/", "~")):
        text = blanked(kind, f"@(?={sought})", text)
    if kind == "path" and is_file:
        text = blanked(kind, rf"(?<={sought})(?::[0-9]{{1,6}}){{1,2}}", text, at_end=True)
    return text


def in_any_quotes(kind: str, form: str) -> str:
    """Return a pattern of a form that is written with quotes and apostrophes of any shape."""
    alike = {"'": "['\u2018\u2019]", '"': '["\u201c\u201d]'} if kind == "text" else {}
    return "".join(alike.get(char, re.escape(char)) for char in form)


def without_signs(kind: str, form: str, text: str, *, words: bool) -> str:
    """Return a text with a blank for what may be part of something longer."""
    sought, marks = in_any_quotes(kind, form), "*_" if kind == "path" else "_"
    for mark in marks if kind == "path" or not words else "":
        around = re.finditer(rf"{re.escape(mark)}{sought}{re.escape(mark)}", text)
        marked = [Place(text, one.start(), one.end()) for one in around]
        for one in reversed(marked):
            if free(kind, one, at_end=False) and free(kind, one, at_end=True):
                text = f"{text[: one.start]} {form} {text[one.end :]}"
    if kind == "path" and not form.startswith(("/", "~")):
        text = blanked(kind, f"@(?={sought})", text)
    if kind == "path":
        text = blanked(kind, rf"(?<={sought})(?::[0-9]{{1,6}}){{1,2}}", text, at_end=True)
    if kind == "text" and not words:
        shape = re.sub(r"\\?[0-9]+", "[0-9]+", sought)
        before = rf"(?:(?<=^)|(?<=[ /+]))({shape})[/+](?={sought})"
        behind = rf"(?<={sought})[/+](?={shape}(?:$|[ /+]))"
        listed = re.search("[0-9]", form) is not None
        text = re.sub(behind, " ", re.sub(before, r"\1 ", text)) if listed else text
    if not words:
        text = re.sub(rf"(?<={WORD})[:=](?={sought})", " ", text)
    starts = [one.start() for one in re.finditer(f"(?={sought})", text)]
    ends = {at for start in starts for at in (start, start + len(form))}
    name = len(form) > 1 and all(map(is_unspaced, form))
    beside = {at for at in ends if 0 < at < len(text) and is_beside(text, at, name=name)}
    if kind == "path" and form.startswith(("/", "~")):
        beside |= {at for at in starts if at and is_unspaced(text[at - 1])}
    begun, ended = map(re.compile, LOOSE[kind])
    beside |= {at for at in starts if begun.match(text, at)}
    beside |= {at + len(form) for at in starts if ended.match(text, at + len(form))}
    return " ".join(text[a:b] for a, b in pairwise([0, *sorted(beside), len(text)]))


def is_beside(text: str, at: int, *, name: bool) -> bool:
    both = text[at - 1], text[at]
    return is_change(*both) or (name and all(map(is_unspaced, both)))


def is_name(value: Value, nouns: list[str], place: Place) -> bool:
    """Return whether a plain word is meant as a name where it stands."""
    text, start, end = place
    around = text[start - 1 : start], text[end : end + 1]
    if stands_quoted(place):
        return True
    words = re.split("[ -]", narrow("text", value.value))
    if has_no_word(text[start:end]) or set(words) <= set(FUNCTION_WORDS.split()):
        return around[0] in ("#", "@") and not has_no_word(text[start:end])
    named = rf"[ :({QUOTES}]+"
    before = re.search(rf"({WORD}+){named}(?:(?:named|called|titled){named})?$", text[:start])
    behind = re.match(rf"[ ){QUOTES}]+({WORD}+)", text[end:])
    beside = any(one and stem(fold(one[1])) in nouns for one in (before, behind))
    is_folder = value.kind == "path" and around[1] == "/"
    if beside or is_folder or around[0] in ("#", "@") or is_named_noun(words, nouns):
        return True
    if any(word in FUNCTION_WORDS.split() for word in words):
        return False
    led_to = re.search(rf"(?<!{WORD})(?:to|with) $", fold(text[:start])) is not None
    return (value.role == "recipient" and led_to) or is_capital(place)


def is_capital(place: Place) -> bool:
    """Return whether a word has a capital inside a sentence that is not all in capitals."""
    text, start, end = place
    begun = text[:start].rstrip(LIST_MARKS + " ([{" + QUOTES)
    is_inside = begun != "" and begun[-1] not in ".!?\n"
    beside_it = text[max(0, start - NEAR) : start] + text[end : end + NEAR]
    is_shouted = not any(char != char.upper() for char in beside_it)
    is_shouted |= "-" in text[start:end] and text[start:end].isupper()
    return text[start].isupper() and is_inside and not is_shouted


def is_named_noun(words: list[str], nouns: list[str]) -> bool:
    """Return whether words are a noun with a word beside it that is no function word."""
    last, first = (words[-1], words[:-1]), (words[0], words[1:])
    return any(
        stem(noun) in nouns and not set(rest) <= set(FUNCTION_WORDS.split())
        for noun, rest in (first, last)
    )


def numbers_it(p: Json, tool: Json, value: Value, text: str) -> str:
    """Return whether the text says of what the short number is the number (U), or may say it (W).

    What is read without a question is named, or is not.
    """
    number, nouns = re.escape(narrow("text", value.value)), nouns_of(tool, value)
    others, told = other_nouns(p, nouns), parted(even(text))
    may_ask = value.role != "locator" and value.kind not in FIRM
    answers = [""]
    for one in re.finditer(f"{FREE_BEFORE}{number}{FREE_AFTER}", told):
        before = told[: one.start()].replace(GAP, "")
        line = before + told[one.start() :].replace(GAP, "")
        place = Place(line, len(before), len(before + one[0]))
        if is_numbered(fold(before.replace("\n", " ")), nouns, others):
            answers.append("W" if is_other_count(nouns, place) else "U")
        elif may_ask and is_beside_noun(others, place):
            answers.append("W")
    rows = re.finditer(f"{FREE_BEFORE}[0-9]+(?:/+[0-9]+)+/*{FREE_AFTER}", told)
    for one in rows if may_ask else ():
        before = fold(told[: one.start()].replace(GAP, "").replace("\n", " "))
        if narrow("text", value.value) in one[0].split("/") and is_numbered(before, nouns, others):
            answers.append("W")
    return max(answers, key=("", "W", "U").index)


def numbers_anywhere(tool: Json, value: Value, text: str) -> bool:
    """Return whether the text of others says of what the short number is the number."""
    number, nouns = re.escape(narrow("text", value.value)), nouns_of(tool, value)
    for told in (parted(even(text)), words_of(text)):
        for one in re.finditer(f"{FREE_BEFORE}{number}{FREE_AFTER}", told):
            before = told[: one.start()].replace(GAP, "").replace("\n", " ")
            if is_numbered(fold(before), nouns, []):
                return True
    return False


def is_other_count(nouns: list[str], place: Place) -> bool:
    """Return whether a number is part of a name, counts what follows, or begins a sentence."""
    before, behind = place.text[: place.start], place.text[place.end :]
    counted = re.match(rf" +({WORD}+)", behind)
    word = fold(counted[1]) if counted else "to"
    dull = [one for one in FUNCTION_WORDS.split() if one not in COUNTING.split()]
    may_follow = word in dull or word in ("today", "tomorrow") or word.isdigit()
    is_listed = re.search(LISTED, fold(before.replace("\n", " "))) is not None
    is_answer = re.search(rf"(?:\A|[.!?\n])[ ({QUOTES}]*No\.[ \n]?$", before) is not None
    is_count = is_listed and not may_follow and stem(word) not in nouns
    is_other = is_marker_or_part(place) or has_unit(nouns, behind)
    return is_answer or is_count or is_other or is_part_of_name("text", place)


def is_marker_or_part(place: Place) -> bool:
    """Return whether a number begins a line of a list, or is a part of one with commas."""
    before, behind = place.text[: place.start], place.text[place.end :]
    begins = re.search(r"(?:\A|\n)[ (]*$", before) is not None and place.end - place.start < 3
    if begins and re.match(r"[.)]+ +[^ \n]", behind):
        return True
    of_three = re.fullmatch("[0-9]{3}", place.text[place.start : place.end]) is not None
    joined = re.search(r"(?<![0-9,])[0-9]{1,3}(?:,[0-9]{3})*,$", before) if of_three else None
    several = re.search(rf"[sS][: ({QUOTES}]*(?:#?[0-9]{{1,3}},)*$", before)
    return several is None and (joined or re.match(r",[0-9]{3}(?![0-9])", behind)) is not None


def has_unit(nouns: list[str], behind: str) -> bool:
    """Return whether a unit or the sign of a currency stands behind a number."""
    word = re.match(rf"[ \n]+({WORD}+)", behind)
    counted = stem(fold(word[1])) if word else ""
    is_unit = counted in map(stem, UNITS.split()) and counted not in nouns
    return is_unit or re.match(" ?[%\u2030\u20ac$\xa3\xa5\u20b9]", behind) is not None


def is_beside_noun(others: list[str], place: Place) -> bool:
    """Return whether a number is behind a noun with a capital, or beside letters of no space."""
    before, behind = place.text[: place.start], place.text[place.end :]
    if any(map(is_unspaced, before[-1:] + behind[:1])):
        return True
    numbers = "(?:#?[0-9]{1,12}(?: ?[,;&] ?(?:and |or )?| and | or ))*"
    noun = re.search(rf"((?:(?![0-9_]){WORD})+):?[ ({QUOTES}]+{numbers}$", before[-NEAR:])
    if noun is None:
        return False
    word, start = fold(noun[1]), len(before) - len(before[-NEAR:]) + noun.start(1)
    is_dull = word in FUNCTION_WORDS.split() or word in NO_NAMES.split() or stem(word) in others
    return not is_dull and is_capital(Place(place.text, start, start + len(noun[1])))


def is_numbered(before: str, nouns: list[str], others: list[str]) -> bool:
    """Return whether a number behind this text is that of a noun, or of no other noun's."""
    rest = before
    while (less := re.sub(f"(?:{NUMBER_MARK}|{LISTED})", "", rest)) != rest:
        rest = less
    marked = re.search(f"{NUMBER_MARK}|{MARK}(?:{LISTED})", before) is not None
    last = re.search(rf"(\w+){BESIDE}*$", rest)
    word = stem(last[1]) if last else ""
    return word in nouns or (marked and word not in others)


def nouns_of(tool: Json, value: Value) -> list[str]:
    """Return the stems of what the argument and its kind are called, else of the tool's name."""
    words = words_of_name(value.place[0])
    words += [] if value.kind in FIRM else words_of_name(value.kind)
    words = [word for word in words if word not in NO_NOUNS]
    return [stem(word) for word in words or words_of_name(tool["capability_id"])]


def other_nouns(p: Json, nouns: list[str]) -> list[str]:
    """Return the nouns of all other arguments and kinds of the policy."""
    found = []
    for tool in p["compiled"]["manifests"]["tool_manifest"]:
        names = [*tool.get("arg_roles", {}), *tool.get("arg_kinds", {})]
        kinds = [one for one in tool.get("arg_kinds", {}).values() if one not in FIRM]
        found += [word for name in (*names, *kinds) for word in words_of_name(name)]
    return [stem(word) for word in found if word not in NO_NOUNS and stem(word) not in nouns]


# --- what lies below, and the host --------------------------------------------------------------


MOST_SEGMENTS = 64
"""Of a path that names something below another; what stands before the first slash is one."""


def is_below(tool: Json, value: Value, text: str) -> bool:
    """Return whether it lies below what is named as a whole, and the effect is not too great.

    Of what is a link by the policy's word any effect is below it, of a mere shape as of a path.
    """
    mild = RANKS.index(tool["approval_mode"]) <= RANKS.index("network")
    is_page = kind_at(tool, list(value.place)) == "url"
    is_mild = mild or is_page or value.role == "locator"
    return is_mild and lies_below(value, text, as_whole=True)


def lies_below(value: Value, text: str, *, as_whole: bool = False) -> bool:
    """Return whether it lies below a named page or path, or below a part of a quoted name."""
    if value.kind == "path":
        return lies_below_path(value, text, as_whole=as_whole)
    url = read_url(text_of(value.value)) if value.kind == "url" else None
    return url is not None and any(is_page_below(url, one) for one in links_in(text))


def is_page_below(url: Url, named: Url) -> bool:
    depth = len(named.path)
    return (
        url.host == named.host
        and (named.query, url.query) == (None, None)
        and 0 < depth < len(url.path) < MOST_SEGMENTS
        and url.path[:depth] == named.path
    )


def lies_below_path(value: Value, text: str, *, as_whole: bool) -> bool:
    if is_escaped(text_of(value.value)):
        return False
    segments = str(narrow("path", value.value)).split("/")
    above = ["/".join(segments[:count]) for count in range(1, len(segments))]
    return len(segments) <= MOST_SEGMENTS and any(
        names_folder(folder, text, as_whole=as_whole)
        for folder in above
        if folder and not is_short_number("path", folder)
    )


def names_folder(folder: str, text: str, *, as_whole: bool) -> bool:
    """Return whether a text names a folder: a plain word, or one segment, has a slash behind."""
    found = places("path", folder, text)
    if as_whole:
        found = [one for one in found if not is_part_of_name("path", one)]
    needs_slash = has_only_words("path", folder) or "/" not in folder
    return any(not needs_slash or one.text[one.end : one.end + 1] == "/" for one in found)


def names_host(value: Value, text: str) -> bool:
    url = read_url(text_of(value.value)) if value.kind == "url" else None
    hosts = [one.host for one in (*links_in(text), *parts_in(text))]
    behind = [host[at.end() :] for host in hosts for at in re.finditer(LETTERS_BEFORE, host)]
    return url is not None and url.host in [*hosts, *behind]


def names_bare_host(value: Value, text: str) -> bool:
    """Return whether the text names the host without a path, and the value carries no query."""
    url = read_url(text_of(value.value)) if value.kind == "url" else None
    return (
        url is not None
        and url.query is None
        and (url.host, (), None) in [(one.host, one.path, one.query) for one in links_in(text)]
    )
