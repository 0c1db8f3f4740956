"""Appends that share a commit are as if each had a commit of its own."""

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final, NamedTuple

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import harness.log.appending
from harness.canonical import canonical_json
from harness.log import LogDamaged, LogUnavailable, SqlDecisionLog
from harness.log.commits import Append
from harness.log.journal_rows import JournalRow, JournalStep
from harness.log.log_errors import Unrecordable
from harness.record import RawRecord
from harness.record.drafts import session_key
from harness.record.parts import part_document
from harness.replay import check_log, replay
from tests.harness.log.decisions import NOON, decision, judged, proposal, run_of
from tests.harness.log.test_claims import begun, claiming
from tests.support.effort import examples

SESSIONS: Final = tuple(map(session_key, ("one", "two")))


class Wanted(NamedTuple):
    """One append: the claims of each of its records, and the step of a session."""

    claims: tuple[tuple[str, ...], ...]
    step: JournalStep | None = None

    def append_to(self, log: SqlDecisionLog) -> Append:
        entries = [claiming(*one, number=at) for at, one in enumerate(self.claims)]
        return Append(log._prepare_entries(entries), self.step)


claims = st.lists(st.sampled_from("abc"), max_size=2).map(tuple)
steps = st.builds(
    lambda session, number, end: JournalStep(
        session, number, b"x", is_end=end == "end", is_reopening=end == "again"
    ),
    st.sampled_from(SESSIONS),
    st.integers(1, 3),
    st.sampled_from(["", "", "end", "again"]),
)
wanted = st.builds(Wanted, st.lists(claims, max_size=2).map(tuple), st.none() | steps)


class Done(NamedTuple):
    """What became of some appends, and what the log holds then."""

    outcomes: list[Any]
    records: list[RawRecord]
    claims: dict[str, int]
    journals: list[Sequence[JournalRow]]


def done(path: Path, groups: Sequence[Sequence[Wanted]]) -> Done:
    """Append with a commit for each group."""
    with SqlDecisionLog.open(path) as log:
        outcomes: list[Any] = []
        for group in groups:
            appends = [one.append_to(log) for one in group]
            log._commit(appends)
            outcomes += [type(one.refused) if one.refused else one.placed for one in appends]
        assert check_log(log).text() == ""
        assert {one.status for one in replay(log)} <= {"same"}
        journals = [log.journal(session) for session in SESSIONS]
        return Done(outcomes, list(log.raw()), dict(log.all_claims()), journals)


def step(session: int, number: int, **more: bool) -> JournalStep:
    return JournalStep(SESSIONS[session], number, b"x", **more)


@example(appends=[Wanted((("a",),)), Wanted((("a",),)), Wanted((("b",),))])
@example(appends=[Wanted((("a",), ("b", "a")))])
@example(appends=[Wanted((), step(0, 1)), Wanted((), step(1, 1)), Wanted((("a",),), step(0, 2))])
@example(
    appends=[Wanted((), step(0, 1)), Wanted((), step(0, 2, is_end=True)), Wanted((), step(0, 3))]
)
@example(
    appends=[
        Wanted((), step(0, 1)),
        Wanted((), step(0, 2, is_end=True)),
        Wanted((), step(0, 3, is_reopening=True)),
    ]
)
@settings(max_examples=examples(40), deadline=None)
@given(appends=st.lists(wanted, max_size=5))
def test_appends_in_one_commit_are_as_each_in_its_own(appends: list[Wanted]) -> None:
    folder = Path(tempfile.mkdtemp(prefix="critic-together-"))
    try:
        apart = done(folder / "apart", [[one] for one in appends])
        assert done(folder / "together", [appends]) == apart
    finally:
        shutil.rmtree(folder)


def test_what_a_failed_commit_would_have_stored_is_stored_by_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with SqlDecisionLog.open(tmp_path / "log") as log:
        log.append(decision(1))
        with monkeypatch.context() as patched:
            patched.setattr(harness.log.appending, "write", lambda *_: False)
            for number in (2, 3):
                with pytest.raises(LogDamaged):
                    log.append(decision(number))
        for number in (2, 3):
            named = log.append(decision(number)).inputs.wire().values()
            assert log.inputs(named).keys() == {*named}
        assert [one.status for one in replay(log)] == ["same"] * 3


@pytest.mark.parametrize("size", [-1, 0, 1])
@pytest.mark.parametrize("large", [64, 2**40], ids=["in parts", "whole"])
def test_a_document_over_the_limit_is_refused_however_it_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int, large: int
) -> None:
    document = canonical_json({"a": ["x" * 100, "y" * 2000], "b": "z" * 2000})
    drafted = decision().snapshot._replace(bodies={"d" * 64: part_document(document, large)})
    assert bool(drafted.bodies["d" * 64].pieces) == (large == 64)  # type: ignore[union-attr]
    entry: Any = SimpleNamespace(snapshot=drafted)
    monkeypatch.setattr(harness.log.appending, "MAX_DOCUMENT_BYTES", len(document) - size)
    with SqlDecisionLog.open(tmp_path / "log") as log:
        if size <= 0:
            assert log._draft_entry(entry) == drafted
            return
        with pytest.raises(Unrecordable, match=f"a document of {len(document)} bytes is over"):
            log._draft_entry(entry)


def test_a_record_over_the_limit_is_refused_where_its_run_is_kept_in_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    large = judged(proposal(), run_of(proposal(), outputs={"receipt": "x" * 20_000}))
    with SqlDecisionLog.open(tmp_path / "log") as log:
        log.append(large)
        ((whole, stored),) = zip(log.raw(), log.stored_records(), strict=True)
        assert (len(stored.body) < 5_000, len(whole.body) > 20_000) == (True, True)
        monkeypatch.setattr(harness.log.appending, "MAX_DOCUMENT_BYTES", 20_000)
        with pytest.raises(Unrecordable, match="is over the limit of 20000 bytes"):
            log.append(large)
        assert log.head().seq == 1


@pytest.mark.parametrize("when", ["before", "after", "with more before the end"])
def test_nothing_is_appended_to_a_log_that_went_on_in_another(tmp_path: Path, when: str) -> None:
    path = tmp_path / "log"
    with SqlDecisionLog.open(path) as ending, SqlDecisionLog.open(path) as opened:
        ending.append(decision(1))
        opened.append(decision(2))
        if when == "with more before the end":
            ending.append(decision(3))
        head = ending.hand_over(NOON)
        log = SqlDecisionLog.open(path) if when == "after" else opened
        for append in (
            lambda: log.append(decision(4)),
            lambda: log.begin(begun("a")),
            lambda: log.append_step((), step(0, 1)),
            lambda: ending.append(decision(4)),
            log.rehearse,
        ):
            with pytest.raises(LogUnavailable, match="it continues in another log"):
                append()
        assert log.head() == ending.head() == head
        assert {one.status for one in replay(log)} == {"same"}
