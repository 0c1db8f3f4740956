"""Read a policy from TOML or JSON: all of it, or every mistake with its line.

Rule 1: nothing is loaded in part. A text with one mistake is refused as a whole.
Rule 2: all mistakes are reported at once, each with its line, its place and the fix.
Rule 3: the strict rules for JSON hold here too, also for TOML: no byte-order mark, duplicate key,
        lone surrogate, deep nesting, or text over the size limit.
"""

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from evals.escaping import escape_line, pointer
from harness.policy import positions
from harness.policy.envelopes import Policy
from harness.policy.faults import faults_in, is_of_the_other_form, word_fault
from harness.policy.policy_limits import MAX_KEY_PARTS, long_key_at, too_large
from harness.policy.positions import MAX_LEVELS
from harness.wire import MAX_DOCUMENT_BYTES, InvalidInput, Problem, build, parse_json

Syntax = Literal["toml", "json"]

_MOST_FAULTS: Final = 1000
"""How many mistakes of one text are listed; a count of all of them is in the message."""

_LINE: Final = re.compile(r"at line (\d+)")
_TABLE: Final = re.compile(r"^[ \t]*+(\[\[?)([A-Za-z0-9_]{1,40})\]", re.MULTILINE)
_MANY_DIGITS: Final = re.compile(r"\d[\d_]{4000}")


class PolicyFault(NamedTuple):
    """One mistake in the text of a policy.

    Attributes:
        line: from 1.
        path: JSON pointer to the place, "" for the text as a whole.
        message: the mistake and the fix; one line, safe to print.
    """

    line: int
    path: str
    message: str


def fault_text(fault: PolicyFault) -> str:
    """Return the line, the place and the mistake on one line, safe to print."""
    place = f" {escape_line(fault.path)}" if fault.path else ""
    return f"line {fault.line}{place}: {fault.message}"


class InvalidText(InvalidInput):
    """A text by a person is invalid.

    Attributes:
        faults: every mistake, by line, at most 1,000.
    """

    def __init__(self, faults: Iterable[PolicyFault]) -> None:
        found = sorted(faults)
        self.faults: tuple[PolicyFault, ...] = tuple(found[:_MOST_FAULTS])
        problems = [Problem(path, f"line {line}: {what}") for line, path, what in self.faults]
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        super().__init__(problems[0].path, problems[0].message + more, problems)


class InvalidPolicy(InvalidText):
    """The text is not a policy. See `InvalidText` for its faults."""


class TextPlaces:
    """The positions of the keys and elements of a text, found on first use."""

    def __init__(self, text: str, syntax: Syntax) -> None:
        """Take a text that was already read."""
        self._text, self._syntax = text, syntax

    @cached_property
    def lines(self) -> Mapping[str, int]:
        """The line of each key and element, by JSON pointer."""
        find = positions.json_lines if self._syntax == "json" else positions.toml_lines
        return find(self._text)

    def line_of(self, path: str) -> int:
        """Return the line of a place, or of the nearest place around it."""
        return positions.line_of(self.lines, path)


@dataclass(frozen=True)
class PolicyDocument:
    """A policy, with the lines of its text by JSON pointer.

    `open_places` are the places in `policy.guessed` that are marked as open, rather than guessed.

    The lines are found on first use: that takes a third of the time of reading, and only
    explanations need them.
    """

    policy: Policy
    _places: TextPlaces = field(repr=False, compare=False)
    open_places: frozenset[str] = frozenset()

    @property
    def open_tiers(self) -> frozenset[str]:
        """Return the tools whose tier nobody has decided yet, by name."""
        return frozenset(
            tool.called
            for at, tool in enumerate(self.policy.tool)
            if f"/tool/{at}/approval_mode" in self.open_places
        )

    @property
    def lines(self) -> Mapping[str, int]:
        """Return the line of each key and element of the text, by JSON pointer."""
        return self._places.lines

    def line_of(self, path: str) -> int:
        """Return the line of a place, or of the nearest place around it."""
        return self._places.line_of(path)


def read_policy(path: Path | str, *, has_time: bool = True) -> Policy:
    """Read a policy from a file.

    Raises:
        InvalidPolicy: the file does not hold a policy.
        OSError: the file cannot be read.
    """
    return read_document(path, has_time=has_time).policy


def read_document(path: Path | str, *, has_time: bool = True) -> PolicyDocument:
    """Read a policy from a file, with its lines. See `parse_policy`.

    Raises:
        InvalidPolicy: the file does not hold a policy.
        OSError: the file cannot be read.
    """
    with Path(path).open("rb") as file:
        data = file.read(MAX_DOCUMENT_BYTES + 1)
    return parse_policy(data, syntax=syntax_of(str(path)), has_time=has_time)


def syntax_of(name: str) -> Syntax | None:
    """Return the syntax by the name of a file; None if it tells none."""
    known: dict[str, Syntax] = {".toml": "toml", ".json": "json"}
    return known.get(Path(name).suffix.lower())


def parse_policy(
    data: bytes,
    *,
    syntax: Syntax | None = None,
    has_time: bool = True,
    max_bytes: int = MAX_DOCUMENT_BYTES,
) -> PolicyDocument:
    """Parse the bytes of a policy.

    Args:
        syntax: JSON if the text begins with a brace, else TOML, unless given.
        has_time: whether the policy is used with an `as_of` or a clock. Without one, nothing can
            expire after a number of seconds.

    Raises:
        InvalidPolicy: they are not a policy.
    """
    text, syntax, value, places = parse_text(data, syntax, max_bytes)
    if large := [(pointer(*path), what) for path, what in islice(too_large(value), _MOST_FAULTS)]:
        raise InvalidPolicy(PolicyFault(places.line_of(path), path, what) for path, what in large)
    marks = positions.toml_marks(text) if syntax == "toml" else {}
    if marks:
        _add_guesses(value, marks)
    policy = _build_policy(value, places.line_of, has_time=has_time)
    return PolicyDocument(
        policy, places, frozenset(path for path, is_open in marks.items() if is_open)
    )


class ParsedText(NamedTuple):
    """A text in TOML or JSON, its value, and the positions of its parts."""

    text: str
    syntax: Syntax
    value: Any
    places: TextPlaces


def parse_text(data: bytes, syntax: Syntax | None, max_bytes: int) -> ParsedText:
    """Parse the bytes of any text that a person writes.

    Raises:
        InvalidPolicy: they are neither TOML nor JSON, or nested too deeply.
    """
    text = _decode_text(data, max_bytes)
    if syntax is None:
        syntax = "json" if text.lstrip().startswith("{") else "toml"
    value = _json(data, max_bytes) if syntax == "json" else _toml(text)
    places = TextPlaces(text, syntax)
    if too_deep := _too_deep(value):
        message = f"nested deeper than {MAX_LEVELS} levels: flatten it"
        raise InvalidPolicy([PolicyFault(places.line_of(too_deep), too_deep, message)])
    return ParsedText(text, syntax, value, places)


def _add_guesses(value: dict[str, Any], marks: Mapping[str, bool]) -> None:
    """Add the marked places to the guesses of a parsed policy, unless they are not a list."""
    known = value.get("guessed", [])
    if isinstance(known, list):
        seen = {path for path in known if isinstance(path, str)}
        value["guessed"] = [*known, *(path for path in marks if path not in seen)]


def _decode_text(data: bytes, max_bytes: int) -> str:
    if len(data) > max_bytes:
        raise _refuse_policy(f"over the limit of {max_bytes} bytes: split it")
    if data.startswith(b"\xef\xbb\xbf"):
        raise _refuse_policy("starts with a byte-order mark: save it as UTF-8 without one")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _refuse_policy("not UTF-8: save it as UTF-8", line) from None
    if not text.strip():
        raise _refuse_policy("empty: `critic init` writes a policy to begin with")
    return text


def _refuse_policy(message: str, line: int = 1) -> InvalidPolicy:
    return InvalidPolicy([PolicyFault(line, "", message)])


def _json(data: bytes, max_bytes: int) -> Any:
    try:
        return parse_json(data, max_bytes)
    except InvalidInput as error:
        line = _LINE.search(error.message)
        raise _refuse_policy(error.message, int(line[1]) if line else 1) from None


def _toml(text: str) -> Any:
    if (start := long_key_at(text)) is not None:
        message = f"a key of over {MAX_KEY_PARTS} parts, which is the limit: flatten it"
        raise _refuse_policy(message, text.count("\n", 0, start) + 1)
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise _refuse_policy("not valid TOML: nested too deeply") from None
    except tomllib.TOMLDecodeError as error:
        line = _LINE.search(str(error))
        last = text.count("\n", 0, len(text.rstrip())) + 1
        if (unknown := _unknown_table(text)) is not None:
            raise _refuse_policy(*unknown) from None
        message = f"not valid TOML: {escape_line(str(error))[:300]}"
        raise _refuse_policy(message, int(line[1]) if line else last) from None
    except ValueError:  # a number of too many digits
        digits = _MANY_DIGITS.search(text)
        line_number = text.count("\n", 0, digits.start()) + 1 if digits else 1
        raise _refuse_policy("not valid TOML: a number of too many digits", line_number) from None


def _unknown_table(text: str) -> tuple[str, int] | None:
    """Return the error for an unknown table, with its line: it may be misspelt.

    Tables below a misspelt one look as if they were given twice.
    """
    known = [field.alias or name for name, field in Policy.model_fields.items()]
    for found in _TABLE.finditer(text):
        if found[2] not in known and (near := get_close_matches(found[2], known, 1, 0.6)):
            meant = f"{found[1]}{near[0]}{']' * len(found[1])}"
            said = f"unknown table {found[1]}{found[2]}{']' * len(found[1])}: did you mean {meant}?"
            return said, text.count("\n", 0, found.start()) + 1
    return None


def _too_deep(value: Any) -> str:
    """Return the pointer to a place that is too deep, or nothing."""
    waiting: list[tuple[tuple[str | int, ...], Any]] = [((), value)]
    while waiting:
        path, current = waiting.pop()
        if len(path) > MAX_LEVELS:
            return pointer(*path)
        if isinstance(current, dict):
            waiting += [((*path, key), inner) for key, inner in current.items()]
        elif isinstance(current, list):
            waiting += [((*path, index), inner) for index, inner in enumerate(current)]
    return ""


def _build_policy(value: Any, line_of: Callable[[str], int], *, has_time: bool) -> Policy:
    value_at = partial(_value_at, value)
    faults = [*faults_in(value, line_of, has_time=has_time)]
    if isinstance(value, dict) and "shell" in value:
        from harness.policy.shell_faults import faults_of_shell  # noqa: PLC0415 - few have it

        faults += faults_of_shell(value, line_of)
    found = [(pointer(*path), what) for path, what in faults]
    try:
        policy = build(Policy, value)
    except InvalidInput as error:
        found += [
            (path, word_fault(message, value_at(path), path))
            for path, message in error.problems
            if not is_of_the_other_form(message, path, value_at)
            if not any(_is_at_or_below(place, path) for place, _ in found)
        ]
        found = found or [(error.path, error.message)]
    if found:
        raise InvalidPolicy(PolicyFault(line_of(path), path, what) for path, what in found)
    return policy


def _is_at_or_below(place: str, path: str) -> bool:
    return place == path or place.startswith(f"{path}/")


def _value_at(value: Any, path: str) -> Any:
    for part in path.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, list):
            value = value[int(name)] if name.isdecimal() and int(name) < len(value) else None
        else:
            value = value.get(name) if isinstance(value, dict) else None
    return value
