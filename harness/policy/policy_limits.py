"""The limits of a policy: the number of tools, their names, and the lengths of those.

Checks, lint and diff compare names with names. Their numbers are limited here, far above what teams
write, so that no product of two of them blocks a process. Schemas have their own limits
(`evals.schema_budget`); only their patterns and names are limited here.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

from evals.escaping import escape_name
from evals.schema_keywords import every_object
from harness.policy.positions import Parts

MAX_ENTRIES: Final = {"tool": 10_000, "class": 5_000, "evidence": 10_000, "guessed": 100_000}
"""How many tools, classes, pieces of evidence and guesses there may be."""

MAX_NAMES: Final = 1_000
"""How many entries any other list or table of a policy may have: arguments, bindings, fields."""

_MAX_NAME: Final = 1_000
"""How many characters a name, or a text other than content, may have."""

_MAX_SEGMENTS: Final = 64
"""How many segments a JSON pointer may have: no value is nested deeper."""

_MAX_PATTERN: Final = 10_000
"""How many characters a pattern or a name in a schema may have."""

MAX_KEY_PARTS: Final = 20
"""How many parts a key of TOML may have, with dots between them."""

_SCHEMAS: Final = frozenset({"args_schema", "content_schema", "schema", "output_schemas"})
_FREE: Final = frozenset({"content", "example", "snapshot"})
"""Where any JSON may stand: the limits of a document are enough for it."""

_NAME: Final = r"(?:[A-Za-z0-9_-]++|\"(?:\\.|[^\"\\\n])*+\"|'[^'\n]*+')"
_LONG_KEY: Final = re.compile(
    r'"""(?:\\.|[^\\])*?"""(?:"{0,2})'
    r"|'''.*?'''(?:'{0,2})"
    r"|#[^\n]*+"
    rf"|(?P<key>{_NAME}(?:[ \t]*+\.[ \t]*+{_NAME}){{{MAX_KEY_PARTS},}}+)"
    rf"|{_NAME}",
    re.DOTALL,
)


def long_key_at(text: str) -> int | None:
    """Return the position of a key with too many parts in a TOML text, if any.

    The time of the reader grows with the square of the parts. Only lines with so many dots are
    searched.
    """
    if all(line.count(".") < MAX_KEY_PARTS for line in text.split("\n")):
        return None
    found = (match.start() for match in _LONG_KEY.finditer(text) if match["key"] is not None)
    return next(found, None)


def too_large(value: Any) -> Iterator[tuple[Parts, str]]:
    """Yield each place of a parsed policy that exceeds a limit, and the fix."""
    waiting: list[tuple[Parts, Any]] = [((), value)]
    while waiting:
        path, current = waiting.pop()
        if isinstance(current, str):
            yield from _long_text(path, current)
        if not isinstance(current, dict | list):
            continue
        yield from _many_entries(path, current)
        for key, inner in current.items() if isinstance(current, dict) else enumerate(current):
            place = (*path, key)
            if isinstance(key, str):
                yield from _long_text(path, key)
            if key in _SCHEMAS:
                yield from _long_patterns(place, inner)
            elif key not in _FREE:
                waiting.append((place, inner))


def _many_entries(path: Parts, value: dict[str, Any] | list[Any]) -> Iterator[tuple[Parts, str]]:
    most = MAX_ENTRIES.get(str(path[0]), MAX_NAMES) if len(path) == 1 else MAX_NAMES
    if len(value) > most:
        yield path, f"{len(value):,} entries, and the limit is {most:,}: split the policy"


def _long_text(path: Parts, text: str) -> Iterator[tuple[Parts, str]]:
    if len(text) > _MAX_NAME:
        yield path, f"{len(text):,} characters, and the limit is {_MAX_NAME:,}: shorten it"
    elif text.startswith("/") and text.count("/") > _MAX_SEGMENTS:
        segments = text.count("/")
        yield (
            path,
            f"a pointer of {segments} segments, and the limit is {_MAX_SEGMENTS}: shorten it",
        )


def _long_patterns(path: Parts, schema: Any) -> Iterator[tuple[Parts, str]]:
    for part in every_object(schema):
        for text in (part.get("pattern"), *part):
            if isinstance(text, str) and len(text) > _MAX_PATTERN:
                message = f"{escape_name(text[:20])}... has {len(text):,} characters"
                yield path, f"{message}, and the limit is {_MAX_PATTERN:,}: shorten it"
