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
    scalars,
    spelled,
)

Path = list[str]
"""Names and positions that lead from the args to a value."""

ROLES = ["recipient", "object", "attribute", "locator", "secret", "code", "content", "time"]

WORD = r"[\w\u0300-\u036f\xad\u200b-\u200f\u2060-\u2064\ufeff]"
"""A character of a word. Marks and characters without a width change the word they stand in."""

NFKC = unicodedata.ucd_3_2_0.normalize
LONGEST_FIELD = 80

HOST = re.compile(r"(?:[\w-]+\.)+[a-z]{2,}(?=$|[/:?#])")
FILE_ENDINGS = "md|mov|py|zip"
FILE_NAME = re.compile(rf"(?!www\.)[\w.-]*\.(?:{FILE_ENDINGS})")
ADDRESSES = re.compile(
    r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
    r"|(?:[hH][tT]{2}[pP][sS]?://|\b[wW]{3}\.)[^\s<>\"'`|\\^{}()\[\]]*\w"
    r"|\b[A-Z]{2}\d{2}[A-Z0-9]{8,}\b"
)

NO_WORDS = (
    "get all in for the to a of and by user from city information info update up git with through"
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
    """Return the host that a spelling begins with. E-mail addresses and phrases have none."""
    found = HOST.match(value)
    if not found or "@" in value or " " in value or FILE_NAME.fullmatch(value):
        return None
    return found.group()


def hosts_in(text: str) -> list[str]:
    """Return the hosts that a text names, as words of their own."""
    words = re.findall(r"[.:/-]*([\w@](?:[\w.@:/-]*[\w@])?/?)", spelling(f"{text} x"))
    return [host for word in words if (host := host_of(word))]


def occurs_in(value: str, text: str, *, longer: bool = False) -> bool:
    """Return whether the text holds the value as a word; `longer`: also inside an address."""
    before, after = f"(?<!{WORD})", f"(?!{WORD})"
    if not longer:
        before, after = before + f"(?<!{WORD}[./:@-])", f"(?!{WORD}|[./:@-]{WORD})"
    if re.fullmatch("[0-9]{1,3}", value):
        before = r"\bids?\b\W{0,4}"
    return value != "" and bool(re.search(before + re.escape(value) + after, spelling(text)))


# --- the values of an argument ----------------------------------------------------------------


def scalars_with_roles(tool: Json, args: Json) -> list[tuple[str, str, Any]]:
    """Return role, place and scalar, by name and position, then by role; unjudged ones left out."""
    return [
        (role, joined("args", *place), value)
        for place, value in scalars_at([], args)
        for role in ROLES
        if role in roles_at(tool, place)
    ]


def scalars_at(place: Path, value: Any) -> list[tuple[Path, Any]]:
    """Return the scalars of a value, each with its way from the args: names and positions."""
    if not isinstance(value, (dict, list)):
        return [(place, value)]
    return [one for name, item in members(value) for one in scalars_at([*place, str(name)], item)]


def roles_at(tool: Json, place: Path) -> list[str]:
    roles = tool.get("arg_roles", {})
    return [roles[name] for name in roles if covers(name, place)] if roles else ["recipient"]


def covers(name: str, place: Path) -> bool:
    """Return whether a name, or a JSON pointer with `*` for any segment, leads to or above it."""
    parts = [part.replace("~1", "/").replace("~0", "~") for part in name.split("/")[1:]]
    if not name.startswith("/"):
        return place[:1] == [name]
    return len(parts) <= len(place) and all(
        part in ("*", other) for part, other in zip(parts, place, strict=False)
    )


def values_in(value: Any) -> list[Any]:
    """Return the values in a scalar: of a list that is written as a string, its elements."""
    if value is None or isinstance(value, bool) or value == "":
        return []
    text = value.strip() if isinstance(value, str) else ""
    if not (text.startswith("[") and text.endswith("]")):
        return [value]
    read = read_list(text)
    plain = isinstance(read, list) and all(type(one) in PLAIN for one in scalars(read))
    inside = scalars(read) if plain else [value]
    return [one for one in inside if one is not None and one != "" and not isinstance(one, bool)]


def once(values: list[Any]) -> list[Any]:
    """Return the values, of those with one spelling the first."""
    first: dict[str, Any] = {}
    for value in values:
        first.setdefault(spelling(value), value)
    return list(first.values())


PLAIN = (str, int, float, bool, type(None))


def read_list(text: str) -> Any:
    """Return the list that the text spells, in JSON or in Python; None if it spells none."""
    for read in (json.loads, read_python):
        try:
            return read(text)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            continue
    return None


def read_python(text: str) -> Any:
    """Return the value of a literal as Python writes it: with the numbers of JSON, and no raw tabs.

    Raises:
        ValueError: Python does not write the literal so.
        SyntaxError: the text is not Python.
    """
    for node in ast.walk(ast.parse(text, mode="eval")):
        if isinstance(node, ast.Constant):
            written = ast.get_source_segment(text, node) or ""
            if "\t" in written:
                raise ValueError
            if type(node.value) in (int, float):
                json.loads(written)
    return ast.literal_eval(text)


def addresses_in(value: Any) -> list[str]:
    """Return the addresses, links and account numbers in a text."""
    found = ADDRESSES.findall(NFKC("NFKC", value)) if isinstance(value, str) else []
    return [one.strip("+-.") for one in found]


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
        inner = field or name in keys or (isinstance(value, list) and is_one_word(item))
        found = [fields_and_texts(item, keys, field=inner)]
        if name in keys and isinstance(item, dict):
            found += [leaf_of(key, field=True) for key in item]
        fields += [one for own, _ in found for one in own]
        texts += [one for _, own in found for one in own]
    return fields, texts


def leaf_of(value: Any, *, field: bool) -> tuple[list[str], list[str]]:
    if value is None or isinstance(value, bool):
        return [], []
    text = value if isinstance(value, str) else spelled(value)
    short = len(text) <= LONGEST_FIELD and text.splitlines() in ([], [text])
    return ([spelling(text)] if spelling(text) else [], []) if field and short else ([], [text])


def is_one_word(value: Any) -> bool:
    if json_type(value) not in ("string", "number"):
        return False
    text = value if isinstance(value, str) else spelled(value)
    return re.fullmatch(f"(?:{WORD}|[.@-]){{1,40}}", text) is not None


# --- words of a name --------------------------------------------------------------------------


def stems_of_name(name: str) -> list[str]:
    """Return the stems of the words of a capability's name that say something."""
    spaced = re.sub("([A-Z]+)", r" \1", re.sub("([A-Z][a-z])", r" \1", name))
    words = re.sub("[_./-]", " ", spaced).lower().split()
    return [stem(word) for word in words if word not in NO_WORDS.split()]


def stems_of_text(text: str) -> list[str]:
    return [stem(word) for word in re.findall(f"(?:(?!_){WORD})+", spelling(text))]


def stem(word: str) -> str:
    for ending in ENDINGS.split():
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word
