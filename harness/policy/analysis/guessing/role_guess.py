"""Guess what the arguments of a tool are, by their names, formats and types.

A role says where a value may come from, so an unknown argument is an `object`, the strictest role
besides those of recipients and secrets.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from evals.capability import Role
from evals.escaping import pointer
from harness.policy.analysis.guessing.guess_tables import (
    GUESSED_TIER_OF,
    IN_AN_EVENT,
    IS_TAKEN,
    KIND_WORDS,
    LOCATOR,
    MEASURES,
    NO_LOCATOR,
    OUTSIDE,
    PEOPLE,
    PLACES,
    ROLE_PATTERNS,
    SEARCH_WORDS,
    TO_PEOPLE,
)
from harness.policy.analysis.guessing.tier_guess import snake_case, words_of

_MOST_LEVELS: Final = 3
_NULL: Final = {"type": "null"}
_BY_NAME: Final[tuple[Role, ...]] = ("recipient", "time", "attribute", "content", "object")
_COMPARED: Final = frozenset({"recipient", "object", "locator"})
_NAMED: Final = _COMPARED | {"content", "secret"}
"""The roles in which the names of members are values, too."""
_SURE: Final = frozenset({"recipient", "secret"})
"""The roles that a member of a record has by its own name, whatever holds it."""
_DEEPEST: Final = 8
_NUMBER_THAT_NAMES: Final = frozenset({"id", "ids", "identifier", "no", "number", "account"})
_RUNS: Final = frozenset({"run", "exec", "execute", "pay", "refund", "charge", "deploy"})
_TITLES: Final = frozenset({"title", "heading", "headline", "caption", "entry"})
_WHERE: Final = ("location", "venue")
_OF_PEOPLE: Final = ("_id", "_name", "_email")


class RoleGuess(NamedTuple):
    """A role, and whether it is only the default for an argument that no table knows."""

    role: Role
    is_unknown: bool = False


class ToolTraits(NamedTuple):
    """The traits of a tool that the roles of its arguments depend on.

    Attributes:
        words: the words of its name.
        things: the same without the first, and without a final s.
        is_read: whether its arguments only say what is read.
        is_web: whether its results come from the web.
    """

    words: frozenset[str]
    things: frozenset[str]
    is_read: bool
    is_web: bool

    @property
    def ends_things(self) -> bool:
        """Whether it destroys what an argument names: `delete_page`."""
        return any(GUESSED_TIER_OF.get(word) == "destructive" for word in self.words - _RUNS)


def traits_of(name: str, *, is_read: bool, is_web: bool) -> ToolTraits:
    """Return the traits of a tool by its name."""
    words = words_of(name)
    things = {*words[1:], *(one.rstrip("s") for one in words[1:])}
    if words[1:] and words[-1] in GUESSED_TIER_OF:
        things.add(words[0])  # note_delete
    return ToolTraits(frozenset(words), frozenset(things), is_read, is_web)


def guess_roles(
    traits: ToolTraits, arguments: Mapping[str, Any]
) -> tuple[dict[str, RoleGuess], dict[str, str]]:
    """Return the roles of arguments, and their kinds where the names tell them.

    Args:
        arguments: the schema of each; true if it is unknown.
    """
    roles: dict[str, RoleGuess] = {}
    kinds: dict[str, str] = {}
    for argument, given in arguments.items():
        schema = _innermost(given)
        guess = _role_of_read if traits.is_read else _role_of_effect
        if (found := guess(traits, snake_case(argument), schema)) is None:
            continue
        roles[argument] = found
        if found.role in _NAMED:
            roles |= dict.fromkeys(_members_of(argument, given), found)
        if found.role not in _SURE and not traits.is_read:
            roles |= _sure_within(traits, (argument,), given)
        if found.role in _COMPARED and (kind := _kind_of(snake_case(argument), schema)):
            kinds[argument] = kind
    return roles, kinds


def _sure_within(traits: ToolTraits, path: tuple[str, ...], given: Any) -> dict[str, RoleGuess]:
    """Return the recipients and secrets in a record, as their names tell: `message.to`."""
    found: dict[str, RoleGuess] = {}
    waiting = [(path, given)]
    while waiting:
        path, given = waiting.pop()
        schema = given if isinstance(given, dict) else {}
        inner = [schema["items"]] if isinstance(schema.get("items"), dict) else []
        choices = schema.get("anyOf")
        waiting += [((*path, "*"), one) for one in inner]
        waiting += [(path, one) for one in choices] if isinstance(choices, list) else []
        members = schema.get("properties")
        for name, member in members.items() if isinstance(members, dict) else ():
            guess = _role_of_effect(traits, snake_case(name), _innermost(member))
            if guess is not None and guess.role in _SURE and name != "*":
                found[pointer(*path, name)] = guess
            elif len(path) < _DEEPEST:
                waiting.append(((*path, name), member))
    return found


def _members_of(argument: str, given: Any) -> list[str]:
    """Return pointers to the members of records, whose names are then no values of the agent."""
    schema: Mapping[str, Any] = given if isinstance(given, dict) else {}
    path = [argument]
    for _ in range(_MOST_LEVELS):
        choices = schema.get("anyOf")
        others = [one for one in choices if one != _NULL] if isinstance(choices, list) else []
        if len(others) == 1 and isinstance(others[0], dict):
            schema = others[0]
        elif isinstance(schema.get("items"), dict):
            schema = schema["items"]
            path.append("*")
        else:
            break
    members = schema.get("properties")
    names = members if isinstance(members, dict) else ()
    return [pointer(*path, name) for name in names if name != "*"]  # which stands for any


def _innermost(given: Any) -> Mapping[str, Any]:
    """Return the schema of a single value, without lists and null."""
    schema: Mapping[str, Any] = given if isinstance(given, dict) else {}
    for _ in range(_MOST_LEVELS):
        choices = schema.get("anyOf")
        others = [one for one in choices if one != _NULL] if isinstance(choices, list) else []
        inner = others[0] if len(others) == 1 else schema.get("items")
        if not isinstance(inner, dict):
            break
        schema = inner
    return schema


def _role_of_read(traits: ToolTraits, name: str, schema: Mapping[str, Any]) -> RoleGuess | None:
    if OUTSIDE.fullmatch(name):
        return RoleGuess("locator")
    if (
        NO_LOCATOR.fullmatch(name)
        or schema.get("type") in ("boolean", "number")
        or "enum" in schema
        or (traits.is_web and SEARCH_WORDS.fullmatch(name))
    ):
        return None
    return RoleGuess("locator") if LOCATOR.fullmatch(name) else None


def _role_of_effect(traits: ToolTraits, name: str, schema: Mapping[str, Any]) -> RoleGuess | None:
    if schema.get("type") == "boolean":
        return None
    if found := _role_by_form(traits, name, schema):
        return RoleGuess(found)
    known = next((role for role in _BY_NAME if ROLE_PATTERNS[role].fullmatch(name)), None)
    if known == "content" and _names_what_ends(traits, name):
        return RoleGuess("object")  # delete_note(note), close_page(title)
    if _is_where_it_goes(traits, name):
        return RoleGuess("recipient")
    if schema.get("type") == "integer" and known is None and MEASURES.fullmatch(name):
        return RoleGuess("attribute")
    return RoleGuess(known) if known else RoleGuess("object", is_unknown=True)


def _names_what_ends(traits: ToolTraits, name: str) -> bool:
    words = {name, name.rpartition("_")[2]}
    return traits.ends_things and not words.isdisjoint({*traits.things, *_TITLES})


def _is_where_it_goes(traits: ToolTraits, name: str) -> bool:
    """Return whether a place is a destination: `ship_it(street)`."""
    if name in _WHERE:
        return traits.things.isdisjoint(IN_AN_EVENT)
    is_taken = not IS_TAKEN.isdisjoint(traits.words)
    return is_taken and PLACES.fullmatch(name) is not None


def _role_by_form(traits: ToolTraits, name: str, schema: Mapping[str, Any]) -> Role | None:
    """Return the role that a format, a type or an unmistakable name gives."""
    if schema.get("format") == "email" or OUTSIDE.fullmatch(name):
        return "recipient"
    if schema.get("format") in ("date", "date-time", "time"):
        return "time"
    if traits.words & TO_PEOPLE and PEOPLE.fullmatch(_without_ending(name)):
        return "recipient"
    plain: tuple[Role, ...] = ("secret", "code", "recipient")
    if found := next((role for role in plain if ROLE_PATTERNS[role].fullmatch(name)), None):
        return found
    names_a_thing = _names_a_thing(traits, name)
    if "enum" in schema or (schema.get("type") == "number" and not names_a_thing):
        return "attribute"
    return "object" if schema.get("type") == "integer" and names_a_thing else None


def _names_a_thing(traits: ToolTraits, name: str) -> bool:
    """Return whether a number names a thing, rather than measures it."""
    if name.rpartition("_")[2] in _NUMBER_THAT_NAMES:
        return True
    if ROLE_PATTERNS["attribute"].fullmatch(name):
        return False
    ended = traits.ends_things and name in traits.things  # delete_row(row)
    return ended or ROLE_PATTERNS["object"].fullmatch(name) is not None


def _without_ending(name: str) -> str:
    for ending in _OF_PEOPLE:
        name = name.removesuffix(ending)
    return name


def _kind_of(name: str, schema: Mapping[str, Any]) -> str | None:
    if schema.get("format") == "email":
        return "address"
    return next((kind for kind, names in KIND_WORDS.items() if names.fullmatch(name)), None)
