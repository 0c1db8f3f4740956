"""Fail closed, shown by removing every field of every input, one at a time.

Each field of each envelope in every fixture case is deleted, set to null and set to wrong types.
What comes out must be invalid input or a verdict at least as strict. Two lists name the fields for
which that is not so, and why; an entry that no case needs is an error too.

Rule 1: a verdict that refuses never becomes one that lets pass, except for `LIFTS`.
Rule 2: a verdict that lets pass stays the same only for fields in `STAYS`: what they hold is
        recorded and not judged, or it only adds a requirement, which the case meets.
Rule 3: of a score each evaluator counts by itself: none may come out better.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from critic import Proposal, Run, score, verify_proposal
from harness.cases import case_files, read_case
from harness.wire import InvalidInput, build, parse_json
from tests.assurance.layers.deletion_documents import documents
from tests.assurance.layers.deletion_exceptions import LIFTS, STAYS
from tests.assurance.layers.deletion_outputs import row_of_outputs
from tests.assurance.row import Row
from tests.support.altering import wrong_types
from tests.support.model.facts import Json
from tests.support.paths import CASES

Operation = Literal["delete", "null", "mistype"]
EVERY: Final[tuple[Operation, ...]] = ("delete", "null", "mistype")
Change = Literal["stricter", "same", "looser"]
Place = tuple[str | int, ...]
Use = tuple[str, str, str]
"""Command, field as a pattern, operation: what the entries of the two lists are named by."""

# Below these there are a user's own names and values, not fields of an envelope.
_OPAQUE: Final = frozenset(
    {
        *("args", "output", "outputs", "content", "args_schema", "output_schemas"),
        *("content_schema", "about", "arg_roles", "arg_kinds", "makes", "value"),
        *("fields", "schema", "output_schema"),
    }
)
_NAMED: Final = frozenset({"bound_args"})
"""Fields whose members have a user's own names, and are envelopes."""
_ELEMENTS: Final = 20
"""Of a longer array only the first ones are changed: the others are alike."""
_RANK: Final = {"pass": 0, "warn": 1, "fail": 2}
GONE: Final = object()


class Subject(NamedTuple):
    """One case that is valid input."""

    name: str
    command: str
    document: Json


class Tried(NamedTuple):
    """One field changed in one way, and what that did to the verdict."""

    subject: str
    use: Use
    value: str
    change: Change


def subjects(cases: Path = CASES) -> list[Subject]:
    """Return the cases of `verify` and `score` with valid input, of any verdict.

    Those about sessions come first.
    """
    found = [Subject(name, "verify", document) for name, document in documents().items()]
    for path in case_files(cases):
        case = read_case(path)
        valid = case.expect is not None and case.expect.verdict is not None
        if case.command != "consolidate" and valid:
            name = str(path.relative_to(cases))
            found.append(Subject(name, case.command, parse_json(case.document())))
    return found


def fields(value: Any, place: Place = (), pattern: str = "") -> Iterator[tuple[Place, str]]:
    """Yield every field of the envelopes in a document: its place and its pattern."""
    if isinstance(value, list):
        for position, item in enumerate(value[:_ELEMENTS]):
            yield from fields(item, (*place, position), f"{pattern}[]")
    elif isinstance(value, dict):
        for name, item in value.items():
            inner = f"{pattern}.{name}" if pattern else name
            yield (*place, name), inner
            if name in _NAMED:
                yield from _members(item, (*place, name), f"{inner}{{}}")
            elif name not in _OPAQUE:
                yield from fields(item, (*place, name), inner)


def _members(value: Any, place: Place, pattern: str) -> Iterator[tuple[Place, str]]:
    for name, item in value.items():
        yield (*place, name), pattern
        yield from fields(item, (*place, name), pattern)


def changed(document: Json, place: Place, value: Any) -> Json:
    """Return a copy with the field at `place` replaced or removed; it shares all other parts."""
    copy = dict(document)
    parent: Any = copy
    for part in place[:-1]:
        inner = parent[part]
        parent[part] = list(inner) if isinstance(inner, list) else dict(inner)
        parent = parent[part]
    if value is GONE:
        del parent[place[-1]]
    else:
        parent[place[-1]] = value
    return copy


def operations(document: Json, place: Place) -> Iterator[tuple[Operation, Any]]:
    """Yield the operations on a field, and the value it then has."""
    yield "delete", GONE
    yield "null", None
    current: Any = document
    for part in place:
        current = current[part]
    for value in wrong_types(current):
        yield "mistype", value


def ranks(command: str, document: Json) -> tuple[int, ...] | None:
    """Return how strict the verdict is, part by part; None for invalid input."""
    try:
        if command == "score":
            verdict = score(build(Run, document))
            return tuple(_RANK[one.status] for _, one in verdict.scorecard.scores)
        given = build(Proposal, document)
    except InvalidInput:
        return None
    return (0 if verify_proposal(given).ok else 1,)


def compared(before: tuple[int, ...], after: tuple[int, ...] | None) -> Change:
    """Return how the verdict changed. A refusal that stays one is as strict as possible."""
    if after is None:
        return "stricter"
    if any(new < old for old, new in zip(before, after, strict=True)):
        return "looser"
    refused = max(before) == 2 or before == (1,)
    return "stricter" if after != before or refused else "same"


def tries(subject: Subject, only: tuple[Operation, ...] = EVERY) -> Iterator[Tried]:
    """Yield every change of every field of the subject, and its effect."""
    before = ranks(subject.command, subject.document)
    if before is None:
        raise ValueError(f"{subject.name} is not valid input")
    for place, pattern in fields(subject.document):
        for operation, value in operations(subject.document, place):
            if operation not in only:
                continue
            after = ranks(subject.command, changed(subject.document, place, value))
            shown = "" if value is GONE else json.dumps(value)[:60]
            use = (subject.command, pattern, operation)
            yield Tried(subject.name, use, shown, compared(before, after))


def excused(tried: Tried) -> bool:
    """Return whether a list explains why this verdict need not be stricter."""
    listed = {"stricter": (), "same": STAYS, "looser": LIFTS}[tried.change]
    return tried.change == "stricter" or tried.use in listed


class Found(NamedTuple):
    """Everything that was tried on some subjects."""

    fields: frozenset[tuple[str, str]]
    """Command and pattern of every field that was met."""
    tried: int
    unexcused: list[Tried]
    used: Counter[tuple[Change, Use]]
    """How often each entry of the two lists was needed."""


def try_all(some: Iterable[Subject], only: tuple[Operation, ...] = EVERY) -> Found:
    """Change every field of every subject in every way."""
    count, places, used, unexcused = 0, set(), Counter[tuple[Change, Use]](), []
    for subject in some:
        for tried in tries(subject, only):
            count += 1
            places.add(tried.use[:2])
            if not excused(tried):
                unexcused.append(tried)
            elif tried.change != "stricter":
                used[tried.change, tried.use] += 1
    return Found(frozenset(places), count, unexcused, used)


def unused(found: Found) -> list[tuple[Change, Use]]:
    """Return the entries that no change needed."""
    listed: list[tuple[Change, Use]] = [("looser", use) for use in LIFTS]
    listed += [("same", use) for use in STAYS]
    return [one for one in listed if one not in found.used]


def run(*, quick: bool) -> list[Row]:
    """Return two rows. They take seconds, so the quick run leaves nothing out."""
    del quick
    chosen = subjects()
    found = try_all(chosen)
    idle = unused(found)
    for tried in found.unexcused[:10]:
        sys.stdout.write(f"NOT STRICTER {tried}\n")
    for change, use in idle[:10]:
        sys.stdout.write(f"UNUSED {change} {use}\n")
    note = f"{len(chosen)} cases, {len(found.fields)} kinds of field deleted, nulled, mistyped; "
    note += f"{len(LIFTS)} listed as lifting a requirement, {len(STAYS)} as not judged or met"
    held = found.tried - len(found.unexcused)
    met = held == found.tried > 0 and not idle
    inputs = Row("fail closed by deletion", found.tried, "changes", held, met, note)
    return [inputs, row_of_outputs()]
