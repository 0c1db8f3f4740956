"""Values as provenance compares them: how they are spelled, and where they occur."""

import ast
import json
import re
import unicodedata
from typing import Any

from tests.support.model.facts import (
    Json,
    joined,
    json_type,
    members,
    pointed,
    scalars,
    spelled,
)

Placed = list[tuple[str, Any]]
"""Values with the JSON pointer of each within its step."""

NFKC = unicodedata.ucd_3_2_0.normalize
LONGEST_FIELD = 80

HOST = re.compile(r"(?:[\w-]+\.)+[a-z]{2,}(?=$|[/:?#])")
ADDRESSES = re.compile(
    r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
    r"|(?:https?://|www\.)[^\s<>\"']+"
    r"|\b[A-Z]{2}\d{2}[A-Z0-9]{8,}\b"
)

NO_WORDS = (
    "without get all in for the to a of and by user from city information info update up git "
    "with through"
)
ENDINGS = "ations ation ings ing ions ion ers ies es ed s e"


# --- spelling ---------------------------------------------------------------------------------


def spelling(value: Any) -> str:
    """Return the spelling that all equal values share. What has none was never seen."""
    text = value if isinstance(value, str) else spelled(value)
    text = re.sub("https?://", "", NFKC("NFKC", text).casefold())
    text = re.sub(r"\s+", " ", text).strip(" \"'")
    return text.rstrip("/.")


def host_of(value: str) -> str | None:
    """Return the host that a spelling begins with. An e-mail address has none."""
    found = HOST.match(value)
    return found.group() if found and "@" not in value else None


def hosts_in(text: str) -> list[str]:
    """Return the hosts that a text names, as words of their own."""
    words = re.split(r"[^\w.@:/?#-]+", spelling(text))
    return [host for word in words if (host := host_of(word.strip(".:/?#-")))]


def occurs_in(value: str, text: str, *, longer: bool = False) -> bool:
    """Return whether the text holds the value as a word; `longer`: also inside an address."""
    before, after = (r"(?<!\w)", r"(?!\w)")
    if not longer:
        before, after = before + r"(?<!\w[./:@-])", r"(?!\w|[./:@-]\w)"
    if re.fullmatch("[0-9]{1,3}", value):
        before = r"\bids?\b\W{0,4}"
    return value != "" and bool(re.search(before + re.escape(value) + after, spelling(text)))


# --- the values of an argument ----------------------------------------------------------------


def arguments_with_roles(tool: Json, args: Json) -> list[tuple[str, str, Any]]:
    """Return role, place and value of each argument that is judged."""
    roles = tool.get("arg_roles", {})
    if not roles:
        return [("recipient", joined("args", name), args[name]) for name in sorted(args)]
    found = []
    for name in sorted(roles):
        if name.startswith("/"):
            inside = pointed(args, name, star=True)
            found += [(roles[name], joined("args", *place), value) for place, value in inside]
        elif name in args:
            found.append((roles[name], joined("args", name), args[name]))
    return found


def values_in(place: str, value: Any) -> Placed:
    """Return the scalars of an argument; of a list that is written as a string, its elements."""
    if isinstance(value, (dict, list)):
        inside = [(place + joined(name), item) for name, item in members(value)]
        return [one for at, item in inside for one in values_in(at, item)]
    if value is None or isinstance(value, bool) or value == "":
        return []
    return [(place, one) for one in listed(value)]


def listed(value: Any) -> list[Any]:
    """Return the values in a list that is written as a string; of all else, the value itself."""
    text = value.strip() if isinstance(value, str) else ""
    if not (text.startswith("[") and text.endswith("]")):
        return [value]
    read = read_list(text)
    plain = isinstance(read, list) and all(type(one) in PLAIN for one in scalars(read))
    return [one for _, one in values_in("", read)] if plain else [value]


PLAIN = (str, int, float, bool, type(None))


def read_list(text: str) -> Any:
    """Return the list that the text spells, in JSON or in Python; None if it spells none."""
    for read in (json.loads, ast.literal_eval):
        try:
            return read(text)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            continue
    return None


def addresses_in(place: str, value: Any) -> Placed:
    """Return the addresses, links and account numbers in the texts of an argument, each once."""
    if isinstance(value, (dict, list)):
        inside = [(place + joined(name), item) for name, item in members(value)]
        return [one for at, item in inside for one in addresses_in(at, item)]
    found = ADDRESSES.findall(value) if isinstance(value, str) else []
    return [(place, one) for one in {spelling(one): one for one in found}.values()]


def texts_in(place: str, value: Any) -> Placed:
    """Return the strings of an argument."""
    if isinstance(value, (dict, list)):
        inside = [(place + joined(name), item) for name, item in members(value)]
        return [one for at, item in inside for one in texts_in(at, item)]
    return [(place, value)] if isinstance(value, str) else []


# --- fields and free text of a result ---------------------------------------------------------


def fields_and_texts(
    value: Any, keys: list[str], *, field: bool = False
) -> tuple[list[str], list[str]]:
    """Return the spelled fields of a result, and its free texts."""
    if not isinstance(value, (dict, list)):
        return leaf_of(value, field=field)
    fields: list[str] = []
    texts: list[str] = []
    for name, item in members(value):
        if field and isinstance(name, str):
            own = leaf_of(name, field=True)
            fields, texts = fields + own[0], texts + own[1]
        inner = field or name in keys or (isinstance(value, list) and is_one_word(item))
        inside = fields_and_texts(item, keys, field=inner)
        fields, texts = fields + inside[0], texts + inside[1]
    return fields, texts


def leaf_of(value: Any, *, field: bool) -> tuple[list[str], list[str]]:
    if value is None or isinstance(value, bool):
        return [], []
    text = value if isinstance(value, str) else spelled(value)
    short = len(text) <= LONGEST_FIELD and "\n" not in text and "\r" not in text
    return ([spelling(text)] if spelling(text) else [], []) if field and short else ([], [text])


def is_one_word(value: Any) -> bool:
    if json_type(value) not in ("string", "number"):
        return False
    text = value if isinstance(value, str) else spelled(value)
    return re.fullmatch(r"[\w.@-]{1,40}", text) is not None


# --- words of a name --------------------------------------------------------------------------


def stems_of_name(name: str) -> list[str]:
    """Return the stems of the words of a capability's name that say something."""
    words = re.sub("([A-Z])", r" \1", re.sub("[_./-]", " ", name)).lower().split()
    return [stem(word) for word in words if word not in NO_WORDS.split()]


def stems_of_text(text: str) -> list[str]:
    return [stem(word) for word in re.findall(r"[^\W_]+", spelling(text))]


def stem(word: str) -> str:
    for ending in ENDINGS.split():
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word
