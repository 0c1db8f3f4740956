"""Read a case from its file, TOML or JSON: the whole of it, or every mistake with its line."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, time
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, NamedTuple, get_args

from evals.escaping import escape_line, escape_name, pointer
from evals.pointers import values_at
from evals.timestamps import format_time
from harness.case_files.session_case import ASKING, SessionCase, complete_events
from harness.cases import MISFIT, Case, Command, Must
from harness.expected_rulings import BECAUSE, ExpectedRuling, ExpectedViolation
from harness.guard.session_events import (
    AnswerEvent,
    CallsEvent,
    CloseEvent,
    OpenEvent,
    ReadyEvent,
    RequestedCall,
    ResultEvent,
    SaidEvent,
    SessionPlanEvent,
    event_of,
)
from harness.policy.faults import Tables, unknown_keys, word_fault
from harness.policy.policy_reading import (
    InvalidPolicy,
    InvalidText,
    PolicyFault,
    Syntax,
    TextPlaces,
    parse_text,
    syntax_of,
)
from harness.policy.positions import Parts
from harness.wire import MAX_DOCUMENT_BYTES, InvalidInput, Problem, build, parse_json

_COMMANDS: Final = (*get_args(Command), "session")
_OF_CASES: Final[Tables] = (
    ((), Case),
    (("must",), Must),
    (("must", "violations", "*"), ExpectedViolation),
)
_OF_SESSIONS: Final[Tables] = (
    ((), SessionCase),
    (("must", "*"), ExpectedRuling),
    (("must", "*", "violations", "*"), ExpectedViolation),
)
_OF_EVENTS: Final[Mapping[str, Tables]] = {
    "open": (((), OpenEvent),),
    "said": (((), SaidEvent),),
    "calls": (((), CallsEvent), (("calls", "*"), RequestedCall)),
    "plan": (((), SessionPlanEvent), (("steps", "*"), RequestedCall)),
    "ready": (((), ReadyEvent),),
    "result": (((), ResultEvent),),
    "answer": (((), AnswerEvent),),
    "close": (((), CloseEvent),),
}
_LINE: Final = re.compile(r"at line (\d+)")
_FITS: Final[Mapping[str, str]] = {
    "verify": "write { ok = true }, { asks = true }, { refuses = true }, { invalid = true }, or "
    "{ ok = false, kind = ... }; but for the first and the fourth, because and violations may be "
    "beside it or alone",
    "score": "write { ok = ... }, with evaluators beside it where they matter, or "
    "{ invalid = true }",
    "consolidate": "write { status = ... }, with refused_at where it is refused, or "
    "{ invalid = true }",
}
_NO_PLAN: Final = "0" * 64
_MARKS: Final = frozenset({"command", "must", "events", "events_file", "input"})
"""Keys that only a case has."""

CaseMistake = tuple[str, str]
"""Where a mistake is, as a JSON pointer, and what to write instead."""


class InvalidCase(InvalidText):
    """A file is not a case. See `InvalidText` for what it tells."""


class ReadCase(NamedTuple):
    """A case with its file, its lines, and the events of a session, complete but for digests."""

    file: Path
    case: Case | SessionCase
    places: TextPlaces
    events: tuple[dict[str, Any], ...] = ()

    @property
    def title(self) -> str:
        """What the case is about, as it says; it may be empty."""
        return self.case.title

    def name_event(self, at: int) -> str:
        """Return where an event of a session is: its line, or the file that has it."""
        if isinstance(self.case, SessionCase) and self.case.events_file is not None:
            return f"{escape_name(self.case.events_file)}, event {at}"
        return f"line {self.places.line_of(pointer('events', at))}, event {at}"

    def fault(self, at: int, path: str, message: str) -> PolicyFault:
        """Return what is wrong with an event, with the line of it or of the file that has it."""
        if isinstance(self.case, SessionCase) and self.case.events_file is not None:
            name = escape_name(self.case.events_file)
            place = f" {escape_name(path)}" if path else ""
            what = f"{name}: event {at}{place}: {message}"
            return PolicyFault(self.places.line_of("/events_file"), "/events_file", what)
        place = f"{pointer('events', at)}{path}"
        return PolicyFault(self.places.line_of(place), place, message)


def find_case_files(root: Path) -> list[Path]:
    """Return the case files at or below a path by name: `*.json`, and `*.toml` with keys of a case.

    A TOML file that cannot be read is one, so that it is told; a policy beside its cases is none.
    """
    if root.is_file():
        return [root]
    found = [*root.rglob("*.json"), *root.rglob("*.toml")]
    return sorted(path for path in found if path.is_file() and is_case_file(path))


def is_case_file(path: Path) -> bool:
    """Return whether a file has to hold a case: JSON, or TOML with its keys, or unreadable."""
    if path.suffix != ".toml":
        return path.suffix == ".json"
    try:
        value = parse_text(path.read_bytes(), "toml", MAX_DOCUMENT_BYTES).value
    except (InvalidInput, OSError):
        return True
    return not _MARKS.isdisjoint(value)


def read_case_file(path: Path) -> ReadCase:
    """Read a case, with the events that another file has.

    Raises:
        InvalidCase: the file does not hold one; every mistake with its line.
        OSError: it cannot be read.
    """
    data, syntax = path.read_bytes(), syntax_of(str(path)) or "json"
    value, places = _parse_text(data, syntax)
    faults, case = _build_case(value)
    if case is None:
        raise _invalid(faults, places)
    if not isinstance(case, SessionCase):
        return ReadCase(path, case, places)
    read = ReadCase(path, case, places)
    events = case.events if case.events is not None else _events_of_file(read, case)
    complete = complete_events(events)
    if wrong := [*_faults_of_events(read, complete)] or [*_wrong_counts(read, case, complete)]:
        raise InvalidCase(wrong)
    return read._replace(events=tuple(complete))


def _parse_text(data: bytes, syntax: Syntax) -> tuple[Any, TextPlaces]:
    if not data.strip():
        what = f"empty: write command ({', '.join(_COMMANDS)}), an input or events, and must"
        raise InvalidCase([PolicyFault(1, "", what)])
    if syntax == "json":
        text = data.decode("utf-8", "replace")
        return _read_json(data), TextPlaces(text, syntax)
    try:
        parsed = parse_text(data, syntax, MAX_DOCUMENT_BYTES)
    except InvalidPolicy as error:
        raise InvalidCase(error.faults) from None
    faults = list[CaseMistake]()
    value = _without_dates(parsed.value, (), faults)
    if faults:
        raise _invalid(faults, parsed.places)
    return value, parsed.places


def _read_json(data: bytes) -> Any:
    try:
        return parse_json(data)
    except InvalidInput as error:
        line = _LINE.search(error.message)
        found = PolicyFault(int(line[1]) if line else 1, error.path, error.message)
        raise InvalidCase([found]) from None


def _without_dates(value: Any, path: Parts, faults: list[CaseMistake]) -> Any:
    """Return a value of TOML as JSON has it: an instant is a text."""
    if isinstance(value, dict):
        return {key: _without_dates(one, (*path, key), faults) for key, one in value.items()}
    if isinstance(value, list):
        return [_without_dates(one, (*path, at), faults) for at, one in enumerate(value)]
    if isinstance(value, datetime) and value.tzinfo is not None:
        return format_time(value)
    if isinstance(value, datetime | date | time):
        faults.append((pointer(*path), "JSON has no dates and times: write it in quotes"))
    return value


def _invalid(faults: Sequence[CaseMistake], places: TextPlaces) -> InvalidCase:
    return InvalidCase(PolicyFault(places.line_of(path), path, what) for path, what in faults)


def _build_case(value: Any) -> tuple[list[CaseMistake], Case | SessionCase | None]:
    """Return a case, or why there is none."""
    if not isinstance(value, dict):
        return [("", "must be an object with command, an input or events, and must")], None
    command = value.get("command")
    if command not in _COMMANDS:
        return [("/command", _word_command(command))], None
    of_session = command == "session"
    tables = _OF_SESSIONS if of_session else _OF_CASES
    unknown = [(pointer(*path), what) for path, what in unknown_keys(value, tables)]
    model: type[Case | SessionCase] = SessionCase if of_session else Case
    try:
        return unknown, build(model, value)
    except InvalidInput as error:
        known = {path for path, _ in unknown}
        found = [_word_problem(one, value) for one in error.problems if one.path not in known]
        return [*unknown, *dict.fromkeys(found)], None


def _word_command(command: Any) -> str:
    known = ", ".join(_COMMANDS)
    if not isinstance(command, str):
        return f"write command: one of {known}"
    near = get_close_matches(command, _COMMANDS, 1, 0.5)
    hint = f"did you mean {near[0]}? " if near else ""
    return f"{escape_name(command)} is unknown: {hint}known are {known}"


def _word_problem(problem: Problem, value: Any) -> CaseMistake:
    path, message = problem
    if message == MISFIT:
        return "/must", f"{message}: {_FITS.get(value['command'], '')}"
    if path.startswith("/approved"):
        return "/approved", "must be true, or an array of steps such as [0, 2]"
    given = next(values_at(value, path, wildcard=False), None)
    if path.endswith("/because") and isinstance(given, str):
        near = get_close_matches(given, BECAUSE, 1, 0.5)
        hint = f"did you mean {near[0]}? " if near else ""
        return path, f"{escape_name(given)} is unknown: {hint}known are {', '.join(BECAUSE)}"
    return path, word_fault(message, given, path)


def _events_of_file(read: ReadCase, case: SessionCase) -> list[dict[str, Any]]:
    """Return the events of the file that a case names, from the folder of the case."""
    name = case.events_file or ""
    try:
        data = (read.file.parent / name).read_bytes()
    except (OSError, ValueError):
        what = (
            f"{escape_name(name)}: no such file that can be read: write its path from the folder "
            "of the case, or the events here as events = [...]"
        )
        raise _invalid([("/events_file", what)], read.places) from None
    lines = [line for line in data.splitlines() if line.strip()]
    events = list[dict[str, Any]]()
    for at, line in enumerate(lines):
        try:
            value = parse_json(line)
        except InvalidInput as error:
            raise InvalidCase([read.fault(at, error.path, error.message)]) from None
        if not isinstance(value, dict):
            raise InvalidCase([read.fault(at, "", "must be an object, an event")])
        events.append(value)
    return events


def _faults_of_events(read: ReadCase, events: Sequence[dict[str, Any]]) -> Iterator[PolicyFault]:
    for at, event in enumerate(events):
        name = event.get("event")
        tables = _OF_EVENTS.get(name) if isinstance(name, str) else None
        found = {pointer(*path): what for path, what in unknown_keys(event, tables or ())}
        for path, message in _problems_of_event(event):
            found.setdefault(path, escape_line(message))
        yield from (read.fault(at, path, what) for path, what in found.items())


def _problems_of_event(event: dict[str, Any]) -> Sequence[Problem]:
    try:
        event_of({"plan_digest": _NO_PLAN, **event} if event.get("event") == "answer" else event)
    except InvalidInput as error:
        return error.problems
    return ()


def _wrong_counts(
    read: ReadCase, case: SessionCase, events: Sequence[dict[str, Any]]
) -> Iterator[PolicyFault]:
    turns = [event["event"] for event in events if event["event"] in ASKING]
    if len(case.must) != len(turns):
        entries = f"{len(case.must)} {'entry' if len(case.must) == 1 else 'entries'}"
        kinds = "`calls` or `plan`" if "plan" in turns else "`calls`"
        what = (
            f"{entries} for {len(turns)} {'event' if len(turns) == 1 else 'events'} {kinds}: write "
            "one for each, in their order: "
            '"allow", "ask", "refuse", or { refuses = true, because = "provenance" }'
        )
        yield PolicyFault(read.places.line_of("/must"), "/must", what)
