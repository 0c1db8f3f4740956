"""A journal gives back what was said to the same question, and nothing else."""

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.loops.agents.journal import (
    MemoryStore,
    RecordedFailure,
    ReplayDivergence,
    UnrecordableReply,
)
from harness.loops.agents.journal_file import JournalUnavailable
from tests.harness.loops.agents.journals import NEVER, journal_of, replies, step


def test_the_same_inputs_have_the_recorded_reply() -> None:
    store = MemoryStore()
    assert step(journal_of(store), {"b": 1, "a": [2, 3]}, 5) == 5
    assert step(journal_of(store), {"a": [2, 3], "b": 1}, AssertionError()) == 5


@pytest.mark.parametrize(
    ("first", "then"),
    [
        pytest.param([2, 3], [100, 200], id="journal-same-key-diff-args"),
        pytest.param("A", "B", id="journal-stale-prompt"),
        (1, True),
        ([1], [1.5]),
        ({}, []),
    ],
)
def test_other_inputs_are_a_divergence(first: Any, then: Any) -> None:
    store = MemoryStore()
    step(journal_of(store), first, 5)
    for mode in ("resume", "replay"):
        with pytest.raises(ReplayDivergence, match="step add of session S"):
            step(journal_of(store, mode), then, AssertionError("called"))
    assert len(store.lines()) == 1


def test_a_failed_step_is_executed_again_and_noted() -> None:
    """journal-failed-step"""
    store = MemoryStore()
    with pytest.raises(RuntimeError, match="boom"):
        step(journal_of(store), "A", RuntimeError("boom"))
    journal = journal_of(store)
    assert journal.notes == []
    assert step(journal, "A", "ok") == "ok"
    assert journal.notes == [
        "step add of session S failed before and is executed again: RuntimeError: boom"
    ]
    failed, replied = map(json.loads, store.lines())
    assert (failed["status"], failed["attempt"]) == ("failed", 1)
    assert failed["error"] == "RuntimeError: boom"
    assert (replied["status"], replied["attempt"]) == ("replied", 2)
    with pytest.raises(ReplayDivergence):
        step(journal_of(MemoryStore((store.lines()[0],))), "B", "ok")


def test_a_replay_executes_nothing() -> None:
    store = MemoryStore()
    with pytest.raises(RuntimeError):
        step(journal_of(store), "A", RuntimeError("boom"))
    replay = journal_of(store, "replay")
    with pytest.raises(RecordedFailure, match=r"^RuntimeError: boom$"):
        asyncio.run(replay.step("S", "add", "A", NEVER))
    with pytest.raises(ReplayDivergence, match="never recorded"):
        asyncio.run(replay.step("S", "other", "A", NEVER))
    assert len(store.lines()) == 1


@pytest.mark.parametrize("value", [None, float("nan"), {1: 2}, 2**60, object(), "\ud800"])
def test_what_is_not_json_is_not_recorded(value: Any) -> None:
    store = MemoryStore()
    with pytest.raises(UnrecordableReply):
        step(journal_of(store), "A", value)
    assert store.lines() == []
    if value is not None:
        with pytest.raises(UnrecordableReply):
            step(journal_of(store), value, 1)


def test_a_reply_is_recorded_once() -> None:
    journal = journal_of(MemoryStore())
    journal.keep("S", "add", "A", reply=1)
    for inputs in ("A", "B"):
        with pytest.raises(UnrecordableReply, match="has its reply already"):
            journal.keep("S", "add", inputs, reply=2)
    journal.keep("S", "sub", "A", error="E")
    with pytest.raises(UnrecordableReply, match="other inputs"):
        journal.keep("S", "sub", "B", reply=2)


def test_what_a_store_does_not_take_is_not_there() -> None:
    class Full(MemoryStore):
        def append(self, line: bytes) -> None:
            raise JournalUnavailable(f"no space for {len(line)} bytes")

    journal = journal_of(Full())
    for _ in range(2):
        with pytest.raises(JournalUnavailable):
            step(journal, "A", 1)


def test_a_change_to_a_reply_changes_no_record() -> None:
    journal = journal_of(MemoryStore())
    for _ in range(3):
        said = step(journal, "A", {"a": [1]})
        assert said == {"a": [1]}
        said["a"].append(2)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.text(), st.text(), JSON, JSON.filter(lambda value: value is not None))
def test_any_reply_comes_back_as_it_was(session: str, name: str, inputs: Any, reply: Any) -> None:
    store = MemoryStore()
    said = asyncio.run(journal_of(store).step(session, name, inputs, replies(reply)))
    again = asyncio.run(journal_of(store, "replay").step(session, name, inputs, NEVER))
    assert json.dumps(said) == json.dumps(again)
    assert json.dumps(said, sort_keys=True) == json.dumps(reply, sort_keys=True)
    assert b"\n" not in store.lines()[0]
