"""Fail closed, shown by removing every part of every output that a late plan reads, one at a time.

Each part is deleted, set to null and set to wrong types. Then the steps of the plan are opened once
more, in order, up to one that is refused.

Rule 1: no step is opened that was refused before, except for `LIFTS`.
Rule 2: what is opened sends at each place that it takes just what stands there in the output, as a
        second statement finds it. Nothing else is excused from this.
Rule 3: what is opened sends what it sent before, except for `SENDS`.
Rule 4: a part whose change does nothing is one of `UNREAD`.
"""

import json
import sys
from collections.abc import Iterable, Iterator
from typing import Any, Final, Literal, NamedTuple

from critic import ToolCall, ToolStep
from critic.late.openings import StepOpener
from evals.canonical_json import canonical_json
from evals.timestamps import parse_time
from harness.wire import InvalidInput, build
from tests.assurance.layers.late_documents import (
    LIFTS,
    SENDS,
    UNREAD,
    Document,
    Use,
    late_documents,
)
from tests.assurance.row import Row
from tests.support.altering import GONE, Path, altered, paths_in, value_at, wrong_types
from tests.support.model.facts import Json
from tests.support.model.openings import settle

Change = Literal["stricter", "same", "other", "looser", "made up"]
Sent = list[bytes | None]
"""What each step sends that is opened, in order; None, at the end, for one that is refused."""

_LISTED: Final[dict[Change, dict[Use, str]]] = {"same": UNREAD, "other": SENDS, "looser": LIFTS}


class TriedOutput(NamedTuple):
    """One part of an output changed in one way, and what that did to the openings."""

    use: Use
    value: str
    change: Change

    @property
    def is_excused(self) -> bool:
        """Whether it closes what was open, or a list says why it does not."""
        return self.change == "stricter" or self.use in _LISTED.get(self.change, {})


class ValueMadeUp(AssertionError):
    """A step is opened with arguments that are not the planned ones and what outputs hold."""


def sent_by(document: Document, ends: list[Json]) -> Sent:
    """Open the steps of a late plan whose calls end in these ways.

    Raises:
        ValueMadeUp: one sends what is not there.
    """
    opener, calls, sent = StepOpener(document.built), list[Json](), Sent()
    for index, step in enumerate(document.built.plan.steps):
        assert isinstance(step, ToolStep)
        end = dict(ends[index])
        judged = opener.open_now(index, parse_time(end.pop("as_of")))
        if not judged.verdict.ok:
            return [*sent, None]
        args, (expected, missing) = judged.settled.args, settle(document.proposal, calls, index)
        if missing or canonical_json(expected) != canonical_json(args):
            raise ValueMadeUp(f"step {index} sends {args}, and not {expected}")
        sent.append(canonical_json(args))
        named = {"adapter_id": step.adapter_id, "capability_id": step.capability_id}
        calls.append({"step": index, **named, "args": args, **end})
        opener.end_call(build(ToolCall, calls[-1]))
    return sent


def compared_openings(before: Sent, after: Sent) -> Change:
    """Return how the openings changed. One that stays refused is as strict as possible."""
    opened_before, opened = [one for one in before if one], [one for one in after if one]
    if len(opened) > len(opened_before):
        return "looser"
    if opened != opened_before[: len(opened)]:
        return "other"
    is_refused = None in before or len(opened) < len(opened_before)
    return "stricter" if is_refused else "same"


def tries(document: Document) -> Iterator[TriedOutput]:
    """Yield every change of every part of the outputs of a document, and its effect."""
    before = sent_by(document, document.ends)
    for path in paths_in(document.ends):
        if path[1:2] != ("output",):
            continue
        part = _named(document, path)
        for operation, value in _operations(document.ends, path):
            try:
                after = sent_by(document, altered(document.ends, path, value))
                change = compared_openings(before, after)
            except ValueMadeUp:
                change = "made up"
            except InvalidInput:
                change = "stricter"
            shown = "" if value is GONE else json.dumps(value)[:60]
            yield TriedOutput((document.name, part, operation), shown, change)


def _named(document: Document, path: Path) -> str:
    """Return the name of a part: that of its step, and where it is in the output."""
    at, _, *inner = path
    step = document.built.plan.steps[int(at)]
    return "/".join([str(step.id), *map(str, inner)])


def _operations(ends: list[Json], path: Path) -> Iterator[tuple[str, Any]]:
    yield "delete", GONE
    if len(path) > 2:  # a call without an output has no null, either
        yield "null", None
    current = value_at(ends, path)
    yield from (("mistype", one) for one in wrong_types(current) if one != current or one is True)


class FoundOutputs(NamedTuple):
    """Everything that was tried on some documents."""

    tried: int
    unexcused: list[TriedOutput]
    idle: list[tuple[Change, Use]]
    """Entries of the lists that no change needed."""


def try_outputs(documents: Iterable[Document]) -> FoundOutputs:
    """Change every part of every output of some documents in every way."""
    every = [tried for document in documents for tried in tries(document)]
    used = {(one.change, one.use) for one in every}
    listed: list[tuple[Change, Use]] = [
        (change, use) for change in _LISTED for use in _LISTED[change]
    ]
    idle = [one for one in listed if one not in used]
    return FoundOutputs(len(every), [one for one in every if not one.is_excused], idle)


def row_of_outputs() -> Row:
    """Return one row. It takes seconds, so the quick run leaves nothing out."""
    documents = late_documents()
    found = try_outputs(documents)
    for tried in found.unexcused[:10]:
        sys.stdout.write(f"NOT STRICTER {tried}\n")
    for change, use in found.idle[:10]:
        sys.stdout.write(f"UNUSED {change} {use}\n")
    note = f"{len(documents)} late plans, each part of each output deleted, nulled, mistyped; "
    note += (
        f"{len(LIFTS)} listed as lifting a refusal, {len(SENDS)} as sent, {len(UNREAD)} as unread"
    )
    held = found.tried - len(found.unexcused)
    met = held == found.tried > 0 and not found.idle
    return Row("fail closed by deletion of outputs", found.tried, "changes", held, met, note)
