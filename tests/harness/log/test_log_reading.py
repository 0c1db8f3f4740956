"""Reading: whatever a page may hold, each row comes once and in order, or the log is damaged."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from harness.log import LogDamaged, SqlDecisionLog, log_reading
from harness.log.journal_rows import JournalStep
from harness.record.drafts import session_key
from harness.record.parts import reference
from tests.harness.log.decisions import judged, meddle, proposal, run_of

COUNT: Final = 6
SESSIONS: Final = sorted(map(session_key, "abcde"))
READ: Final[dict[str, Callable[[SqlDecisionLog], Any]]] = {
    "numbers": lambda log: [*log.numbers()],
    "hashes": lambda log: [*log.hashes()],
    "gaps": lambda log: [*log.gaps()],
    "records": lambda log: [*log.raw()],
    "records from one on": lambda log: [*log.raw(2)],
    "rows as they are": lambda log: [*log.stored_records()],
    "rows from one on": lambda log: [*log.stored_records(2)],
    "entries from one on": lambda log: [one.seq for one in log.entries(4)],
    "digests": lambda log: log.digests(),
    "bodies": lambda log: [*log.bodies()],
    "claims": lambda log: [*log.all_claims()],
    "sessions": lambda log: [*log.journaled_sessions()],
    "what is not named": lambda log: log.unnamed().left(3),
    "what is not claimed": lambda log: log.unmade().left(3),
}
"""What reads many rows."""


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqlDecisionLog]:
    """Return a log with many rows in each table, and a record that is much larger than the rest."""
    with SqlDecisionLog.open(tmp_path_factory.mktemp("log") / "log") as filled:
        for number in range(1, COUNT + 1):
            run = run_of(proposal(number), number)
            if number == 3:
                run = run.model_copy(update={"outputs": {"receipt": [*range(900)]}})
            claims = (f"state {number}", f"id {number}")
            filled.append(judged(proposal(number), run, claims=claims))
        for session in SESSIONS:
            filled.append_step((), JournalStep(session, 1, b"x"))
        yield filled


@pytest.mark.parametrize("what", READ)
def test_a_page_of_any_size_loses_no_row_and_gives_none_twice(
    log: SqlDecisionLog, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = READ[what](log)
    for bound, values in (("_PAGE", (1, 4)), ("_NUMBERS", (1, 4)), ("_BYTES", (0, 2000, 5000))):
        for value in values:
            with monkeypatch.context() as patched:
                patched.setattr(log_reading, bound, value)
                assert READ[what](log) == whole, (bound, value)


def test_what_is_read_is_what_was_written(log: SqlDecisionLog) -> None:
    numbers = [*range(1, COUNT + 1)]
    raw = [*log.raw()]
    assert [*log.numbers()] == [one.seq for one in raw] == [one.seq for one in log.entries()]
    assert [one.seq for one in raw] == numbers
    assert [*log.gaps()] == []
    assert [*log.hashes()] == [(one.seq, one.hash) for one in raw]
    for start in range(1, COUNT + 2):
        assert [one.seq for one in log.raw(start)] == numbers[start - 1 :]
        assert [one.seq for one in log.stored_records(start)] == numbers[start - 1 :]
    assert log.raw_at([5, 2, 9, 3]) == [raw[1], raw[2], raw[4]]
    assert log.named([one.hash for one in raw] + ["x"]) == {one.hash: one for one in raw}
    assert [*log.journaled_sessions()] == SESSIONS
    assert {claim for claim, _ in log.all_claims()} == {
        f"{what} {number}" for what in ("state", "id") for number in numbers
    }


@pytest.mark.parametrize(
    ("rows", "is_sound"),
    [
        ([[1, 2, 3], [4]], True),
        ([[1, 3, 2]], False),
        ([[1, 1]], False),
        ([[1, 2], [2, 3]], False),
        ([[1, 2], [1]], False),
        ([[1, 2], [2]], False),
        ([[1, None]], False),
        ([[1, "2"]], False),
        ([[1, 2.0]], False),
    ],
)
def test_numbers_that_do_not_rise_end_the_reading(
    log: SqlDecisionLog, rows: list[list[Any]], is_sound: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A damaged index gives rows twice, or leaves out others: to go on might never end."""
    pages = [[(number,) for number in page] for page in rows]
    monkeypatch.setattr(log_reading, "rows_after", lambda *_: pages.pop(0) if pages else [])
    if is_sound:
        assert [*log.numbers()] == [1, 2, 3, 4]
        return
    with pytest.raises(LogDamaged, match=r"out of order|has no number"):
        [*log.numbers()]


@pytest.mark.parametrize("rows", [[["a", "b"], ["b"]], [["b"], ["a"]]])
def test_digests_that_do_not_rise_end_the_reading(
    log: SqlDecisionLog, rows: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = [[(digest,) for digest in page] for page in rows]
    monkeypatch.setattr(log_reading, "rows_after", lambda *_: pages.pop(0) if pages else [])
    with pytest.raises(LogDamaged, match="inputs are out of order"):
        log.digests()


@pytest.mark.parametrize("gone", [None, "redacted"])
def test_what_lacks_a_part_is_read_as_it_is_stored_and_said_to_lack_it(
    tmp_path: Path, gone: str | None
) -> None:
    run = run_of(proposal(), outputs={"receipt": "x" * 6000})
    with SqlDecisionLog.open(tmp_path / "log") as filled:
        filled.append(judged(proposal(), run))
        ((stored,), (whole,)) = ([*filled.stored_records()], [*filled.raw()])
    part = stored.body.partition(b"\0")[2][:32].hex()
    assert reference(part) in stored.body
    assert b"\0" not in whole.body
    change = ("DELETE FROM inputs WHERE digest = ?", (part,))
    if gone:
        change = ("UPDATE inputs SET body = ? WHERE digest = ?", (reference(part), part))  # type: ignore[assignment]
    meddle(tmp_path / "log", change)
    with SqlDecisionLog.open_for_reading(tmp_path / "log") as filled:
        assert [*filled.raw()] == filled.raw_at([1]) == [stored]
        with pytest.raises(LogDamaged, match=f"part {part} is {gone or 'missing'}"):
            [*filled.entries()]
        for whole_input in (filled.input(part), filled.inputs([part]).get(part)):
            assert whole_input in (None, reference(part))
        named = filled.whole_input(part)
        assert (named.missing, named.redacted) == (((), (part,)) if gone else ((part,), ()))


def test_each_stretch_of_missing_records_is_a_gap_and_so_is_one_record(tmp_path: Path) -> None:
    path = tmp_path / "log"
    with SqlDecisionLog.open(path) as log:
        log.append_all(judged(proposal(number)) for number in range(1, 8))
    meddle(path, ("DELETE FROM records WHERE seq IN (1, 3, 5, 6)", ()))
    with SqlDecisionLog.open_for_reading(path) as log:
        assert [*log.gaps()] == [(1, 1), (3, 3), (5, 6)]
