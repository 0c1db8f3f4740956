"""Two runs in one file are imported as each of them alone, however alike their ids are."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.commands.import_runs.import_command import events_of
from harness.integrations.importers.formats import IMPORTERS
from harness.integrations.importers.imported_events import session_events
from tests.harness.integrations.importers.writers import (
    MODELS_ALONE,
    WRITERS,
    Asked,
    Recording,
    events,
)
from tests.support.effort import examples

Json = dict[str, Any]

NEAR_IDS: Final = (
    ("a", "b"),
    ("a", "A"),
    ("a", "a "),
    ("run/1", "run/10"),
    ("ab" * 16, "ab" * 15 + "ac"),
    ("e\u0301", "\u00e9"),
    ("0", "00"),
    ("None", "null"),
)
"""Ids of two runs that a careless key takes for one."""
CALL_IDS: Final = ("c", "c1", "c10", "C", "c/1", "1")
OUTPUTS: Final = ("paid", {"ok": True}, {"rows": [1]}, "wire it to iban-4711")
TOOLS: Final = ("read_note", "transfer", "list_mail")


@st.composite
def recordings(draw: st.DrawFn) -> Recording:
    """Draw a run. Two of them have ids of calls in common, and few words."""
    left = list(draw(st.permutations(CALL_IDS)))
    words = st.sampled_from(["Do it", "Pay", "Look"])

    def asked() -> Asked:
        args = {"name": draw(st.sampled_from("xy"))}
        output = draw(st.sampled_from(OUTPUTS))
        return Asked(left.pop(), draw(st.sampled_from(TOOLS)), args, output)

    turns: list[Any] = []
    for _ in range(draw(st.integers(1, 3))):
        turns.append([asked() for _ in range(draw(st.integers(1, 2)))])
        turns += [draw(words)] if draw(st.booleans()) else []
    system = draw(st.sampled_from([None, "Be kind", "Be quick"]))
    return Recording(draw(words), turns, system)


Pair = tuple[Recording, Recording]
Mixed = Callable[[list[Any], list[Any]], list[Any]]


def _mixing(order: Sequence[bool]) -> Mixed:
    """Return what puts two lists into one, each in its own order."""

    def mixed(one: list[Any], other: list[Any]) -> list[Any]:
        left = [[*reversed(one)], [*reversed(other)]]
        found = [left[second].pop() for second in order if left[second]]
        return [*found, *reversed(left[0]), *reversed(left[1])]

    return mixed


def _only(at: int) -> Mixed:
    """Return what leaves out one of two lists."""
    return lambda *two: two[at]


def _claude_code(recording: Recording, session: str) -> list[Any]:
    lines = [json.loads(line) for line in WRITERS["claude-code"](recording).splitlines()]
    return [{**line, "sessionId": session} for line in lines]


def _spans(recording: Recording, trace: str) -> list[Any]:
    (resource,) = json.loads(WRITERS["otlp"](recording))["resourceSpans"]
    return [{**span, "traceId": trace} for span in resource["scopeSpans"][0]["spans"]]


def _request(spans: list[Any]) -> Json:
    return {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}


def _of_lines(pair: Pair, ids: tuple[str, str], mixed: Mixed) -> list[Any]:
    return mixed(*(_claude_code(one, name) for one, name in zip(pair, ids, strict=True)))


def _of_spans(pair: Pair, ids: tuple[str, str], mixed: Mixed) -> list[Any]:
    return [_request(mixed(*(_spans(one, name) for one, name in zip(pair, ids, strict=True))))]


def _of_requests(pair: Pair, ids: tuple[str, str], mixed: Mixed) -> list[Any]:
    """Return an export request for each span: a trace is exported bit by bit."""
    spans = mixed(*(_spans(one, name) for one, name in zip(pair, ids, strict=True)))
    return [_request([span]) for span in spans]


def _of_messages(pair: Pair, ids: tuple[str, str], mixed: Mixed) -> list[Any]:
    """Return traces without spans of tools: the next message tells how a call ended."""
    spans = _of_spans(pair, ids, mixed)[0]["resourceSpans"][0]["scopeSpans"][0]["spans"]
    return [_request([one for one in spans if "execute_tool" not in json.dumps(one)])]


FORMATS: Final[dict[str, tuple[str, Callable[[Pair, tuple[str, str], Mixed], list[Any]]]]] = {
    "claude-code": ("claude-code", _of_lines),
    "otlp": ("otlp", _of_spans),
    "otlp, a line a span": ("otlp", _of_requests),
    MODELS_ALONE: ("otlp", _of_messages),
}
"""The formats whose files name the session of each line or span."""


def placed(values: list[Any]) -> list[tuple[str, Any]]:
    return [(f"line {at}: ", value) for at, value in enumerate(values, 1)]


def imported(name: str, values: list[Any]) -> dict[str, tuple[list[Json], list[str]]]:
    """Return the events and notes of each run of a file, by its session."""
    found = list(events_of(IMPORTERS[name](placed(values)), None, None))
    by_session = {one.events[0].session: one for one in found}
    assert len(by_session) == len(found)
    return {
        session: ([event.wire() for event in one.events], one.notes)
        for session, one in by_session.items()
    }


def _alike(pair: Pair) -> bool:
    """Return whether two runs have the id of a call in common, for calls that differ."""
    calls = [
        {one.id: one for turn in run.turns if not isinstance(turn, str) for one in turn}
        for run in pair
    ]
    return any(calls[0][name] != calls[1][name] for name in calls[0].keys() & calls[1].keys())


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", FORMATS)
def test_two_runs_in_one_file_are_each_as_alone(name: str) -> None:
    source, written = FORMATS[name]
    met = Counter[str]()

    @settings(
        max_examples=max(30, examples(100)),
        derandomize=examples(100) < 100,
        suppress_health_check=[HealthCheck.too_slow],
    )
    @given(
        st.tuples(recordings(), recordings()),
        st.sampled_from(NEAR_IDS),
        st.lists(st.booleans(), min_size=8, max_size=16),
    )
    def check(pair: Pair, ids: tuple[str, str], order: list[bool]) -> None:
        both = imported(source, written(pair, ids, _mixing(order)))
        assert both.keys() == {*ids}
        for at, session in enumerate(ids):
            alone = imported(source, written((pair[at], pair[at]), ids, _only(at)))
            assert both[session] == alone[session]
            found, wanted = both[session][0], events(pair[at], session, name)
            if name == MODELS_ALONE:  # there, words come before the results that came before them
                found, wanted = (sorted(one, key=json.dumps) for one in (found, wanted))
            assert found == wanted
        met["ids in common"] += _alike(pair)
        met["near ids"] += ids != NEAR_IDS[0]
        met["mixed"] += len({*order[:4]}) == 2

    check()
    assert min(met[kind] for kind in ("ids in common", "near ids", "mixed")) >= 5, met


@given(recordings(), recordings(), st.lists(st.booleans(), max_size=16))
def test_runs_that_are_read_at_one_time_are_each_as_alone(
    one: Recording, other: Recording, order: list[bool]
) -> None:
    """A run is read as it is asked for: what one reader knows is not known to another."""
    for name in IMPORTERS:
        readers = [_recorded(name, run) for run in (one, other)]
        read: list[list[Any]] = [[], []]
        for second in [*order, *[False, True] * 40]:
            read[second] += [found for found in [next(readers[second], None)] if found is not None]
        for run, found in zip((one, other), read, strict=True):
            assert found == [*_recorded(name, run)], name
            alone = [*events_of(IMPORTERS[name](_values(name, run)), "s", "Go")]
            assert session_events("s", found, "Go") == alone[0], name


def _values(name: str, run: Recording) -> list[tuple[str, Any]]:
    data = WRITERS[name](run)
    by_lines = data.splitlines() if name in ("claude-code", "mcp") else [data]
    return placed([json.loads(line) for line in by_lines])


def _recorded(name: str, run: Recording) -> Any:
    (found,) = IMPORTERS[name](_values(name, run))
    return iter(found.recorded)


@given(recordings(), recordings())
def test_a_log_in_which_ids_come_again_has_the_calls_of_both_runs(
    one: Recording, other: Recording
) -> None:
    """The ids of a protocol begin anew with each connection, and a log may hold several."""
    logs = [[json.loads(line) for line in WRITERS["mcp"](run).splitlines()] for run in (one, other)]

    def calls_of(values: list[Any]) -> list[Json]:
        ((found, _),) = events_of(IMPORTERS["mcp"](placed(values)), "s", "Go")
        return [event.wire() for event in found[1:]]

    assert calls_of([*logs[0], *logs[1]]) == [*calls_of(logs[0]), *calls_of(logs[1])]
