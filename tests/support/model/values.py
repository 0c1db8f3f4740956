"""The values of a call: which there are, in which role, of which kind; and words of names."""

import ast
import json
import re
from typing import Any, NamedTuple

from tests.support.model.facts import Json, joined, members, scalars
from tests.support.model.kinds import (
    ADDRESS,
    NFKC,
    covered,
    exact,
    fold,
    is_unreadable,
    leads_to,
    shape_of,
    spelling,
)
from tests.support.model.parting import WORD

ROLES = ["recipient", "object", "attribute", "locator", "secret", "code", "content", "time"]
TARGETS = ("recipient", "object", "locator", "secret")

NO_WORDS = (
    "get all in for the to a of and by user from city information info update up git with through"
)
ENDINGS = "ations ation ings ing ions ion es ed s e"


class Value(NamedTuple):
    """A value of a call: its role, where it stands, its kind, and itself."""

    role: str
    place: tuple[str, ...]
    kind: str
    value: Any

    @property
    def path(self) -> str:
        return joined("args", *self.place)


# --- the values of an argument ----------------------------------------------------------------


def values_of(tool: Json, args: Json) -> list[Value]:
    """Return the judged values by name, position and role, names of members before their values."""
    found = []
    for place, leaf, is_name in leaves_at([], args):
        roles = names_roles(tool, place) if is_name else roles_at(tool, place)
        for role in [one for one in ROLES if one in roles]:
            plain = [leaf] if is_name else values_in(leaf, with_names=role in TARGETS)
            read = [listed_at(tool, role, place, one) for one in plain]
            parts = [
                (one and one.targets) or [value] for one, value in zip(read, plain, strict=True)
            ]
            found += [value_at(tool, role, place, one) for each in parts for one in each]
            names = [name for one in read if one for name in one.names]
            found += [value_at(tool, "content", place, one) for one in names]
    return found


# --- mailboxes ----------------------------------------------------------------------------------

NAME = rf"(?:{WORD}|[ .'\u2019&/+@-])*"
QUOTED = rf"(?:{WORD}|[,;:()!# .'\u2019&/+@-])*"


class Mailboxes(NamedTuple):
    """The addresses in a list of mailboxes, and what stands before them."""

    addresses: list[str]
    names: list[str]

    @property
    def targets(self) -> list[str]:
        """Return what may be sent to: a name with an @ in it looks like an address."""
        return self.addresses + [one for one in self.names if "@" in one]


def listed_at(tool: Json, role: str, place: list[str], value: Any) -> Mailboxes | None:
    """Return the mailboxes that a value lists: with names only where the policy says addresses."""
    kind = kind_at(tool, place)
    if role == "content" or (kind != "address" and (role, kind) != ("recipient", None)):
        return None
    found = mailboxes(value)
    return found if found and (kind == "address" or not found.names) else None


def mailboxes(value: Any) -> Mailboxes | None:
    """Return the mailboxes that a text lists; nothing where any part of it is something else."""
    if not isinstance(value, str):
        return None
    found = Mailboxes([], [])
    for piece in re.split(r' *[,;] *(?=(?:[^"]*"[^"]*")*[^"]*$)', value.strip(" ")):
        alone = re.fullmatch(ADDRESS, piece)
        named = re.fullmatch(f'(?:"({QUOTED})" *|({NAME}))<({ADDRESS})>', piece)
        if not alone and not named:
            return None
        found.addresses.append(piece if alone or not named else named[3])
        name = (named[1] or named[2] or "").strip(" ") if named and not alone else ""
        if not re.fullmatch(QUOTED if named and named[1] else NAME, NFKC("NFKC", name)):
            return None
        found.names.extend([name] if name else [])
    return found


def names_roles(tool: Json, place: list[str]) -> list[str]:
    """Return the roles of the name of a member, of targets and content: the policy's has none."""
    if is_named_by_policy(tool, place) or place[-1] == "":
        return []
    return [role for role in roles_at(tool, place[:-1]) if role in (*TARGETS, "content")]


def is_named_by_policy(tool: Json, place: list[str]) -> bool:
    """Return whether a role or a kind names this member: then its name is the policy's."""
    named = [*tool.get("arg_roles", {}), *tool.get("arg_kinds", {})]
    return any(joined(*above, place[-1]) in named for above in respelled(tool, place[:-1]))


def respelled(tool: Json, place: list[str]) -> list[list[str]]:
    """Return a place with the names that the policy has for its members, in whichever letters."""
    ways = [way_of(name) for name in (*tool.get("arg_roles", {}), *tool.get("arg_kinds", {}))]
    places: list[list[str]] = [[]]
    for key in place:
        found = []
        for above in places:
            next_ones = [way[len(above)] for way in ways if goes_below(way, above)]
            alike = [one for one in next_ones if one is not None and letters(one) == letters(key)]
            names = [key] if key in alike else dict.fromkeys(alike) or [key]
            found += [[*above, name] for name in names]
        places = found
    return places


def way_of(name: str) -> list[str | None]:
    """Return the segments of a name or a pointer: nothing stands for any segment."""
    if not name.startswith("/"):
        return [name]
    parts = [part.replace("~1", "/").replace("~0", "~") for part in name.split("/")[1:]]
    return [None if part == "*" else part for part in parts]


def goes_below(way: list[str | None], place: list[str]) -> bool:
    """Return whether a way leads to some member of a place."""
    above = zip(way, place, strict=False)
    return len(way) > len(place) and all(one in (None, other) for one, other in above)


def letters(name: str) -> str:
    return re.sub("[_-]", "", name.casefold())


def kind_at(tool: Json, place: list[str]) -> Any:
    """Return the kind that the policy gives a place."""
    table = tool.get("arg_kinds", {})
    return next(filter(None, (covered(table, one) for one in respelled(tool, place))), None)


def leaves_at(place: list[str], value: Any) -> list[tuple[list[str], Any, bool]]:
    """Return the scalars of a value with the way to each, and the names of members inside."""
    if not isinstance(value, (dict, list)):
        return [(place, value, False)]
    inside = members(value)
    named = isinstance(value, dict) and place
    found: list[tuple[list[str], Any, bool]] = []
    found += [([*place, str(name)], name, True) for name, _ in inside] if named else []
    for name, item in inside:
        found += leaves_at([*place, str(name)], item)
    return found


def roles_at(tool: Json, place: list[str]) -> list[str]:
    roles = tool.get("arg_roles", {})
    places = respelled(tool, place)
    found = [roles[name] for name in roles if any(leads_to(name, one) for one in places)]
    return found if roles else ["recipient"]


def value_at(tool: Json, role: str, place: list[str], value: Any) -> Value:
    """Return the value with the kind that the policy gives, else the one of its shape.

    What is no account is a text, and so is an attribute or a code that cannot be read as its kind.
    """
    kind: str = kind_at(tool, place) or shape_of(value)
    is_target = role in TARGETS and kind != "account"
    kind = "text" if not is_target and is_unreadable(kind, value) else kind
    return Value(role, tuple(place), kind, value)


def values_in(value: Any, *, with_names: bool = False) -> list[Any]:
    """Return the values in a scalar: of a list that is written as a string, its elements.

    With the names of members in it, and with what is true or false, if it is so asked.
    """
    text = value.strip() if isinstance(value, str) else ""
    inside = [value]
    if text.startswith("[") and text.endswith("]"):
        read = read_list(text)
        if isinstance(read, list) and all(type(one) in PLAIN for one in scalars(read)):
            inside = [
                leaf for _, leaf, is_name in leaves_at([""], read) if with_names or not is_name
            ]
    kept = [one for one in inside if one is not None and one != ""]
    return [one for one in kept if with_names or not isinstance(one, bool)]


def once(values: list[Value]) -> list[Value]:
    """Return the values of each scalar, of those with one spelling the first."""
    first: dict[tuple[object, ...], Value] = {}
    for one in values:
        form = exact(one.kind, one.value), spelling(one.kind, one.value)
        first.setdefault((one.role, one.place, one.kind, form), one)
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


# --- words of a name --------------------------------------------------------------------------


def words_of_name(name: str) -> list[str]:
    spaced = re.sub("([A-Z]+)", r" \1", re.sub("([A-Z][a-z])", r" \1", name))
    return re.sub("[_./-]", " ", spaced).lower().split()


def stems_of_name(name: str) -> list[str]:
    """Return the stems of the words of a capability's name that say something."""
    return [stem(word) for word in words_of_name(name) if word not in NO_WORDS.split()]


def stems_of_text(text: str) -> list[str]:
    return [stem(word) for word in re.findall(f"(?:(?!_){WORD})+", fold(text))]


def had_e(kept: str) -> bool:
    """Return whether three letters are what is left of a word with an e, as of `noted`."""
    vowels = [char in "aeiou" for char in kept]
    middle = len(kept) == 3 and (vowels[1] or kept[1] == "y")
    return middle and not vowels[0] and not vowels[2] and kept[2] not in "wxy"


def stem(word: str) -> str:
    """Return what is left of a word without its ending; a plural is no other word."""
    for ending in ENDINGS.split():
        kept = word[: -len(ending)]
        least = 3 if ending in ("ings", "ing", "es", "ed", "s") else 4
        if word.endswith(ending) and len(kept) >= least and not (ending == "s" and kept[-1] == "s"):
            word = kept + "e" if ending != "s" and had_e(kept) else kept
            break
    return word[:-1] + "i" if word.endswith("y") else word
