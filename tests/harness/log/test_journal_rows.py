"""The rows of a session's journal, in a log."""

from itertools import product
from pathlib import Path

import pytest

from harness.log import SqlDecisionLog
from harness.log.appending import LogEntry
from harness.log.commits import Append
from harness.log.journal_rows import JournalStep
from harness.record import GENESIS, Head
from harness.record.drafts import session_key
from tests.harness.log.decisions import decision
from tests.harness.log.test_claims import begun

ONE, OTHER = map(session_key, ("one", "other"))


def numbers(log: SqlDecisionLog, session: str) -> list[int]:
    return [row.number for row in log.journal(session)]


def test_a_step_that_says_all_takes_the_rows_before_it_away(tmp_path: Path) -> None:
    with SqlDecisionLog.open(tmp_path / "log") as log:
        for number in (1, 2):
            for session in (ONE, OTHER):
                log.append_step((), JournalStep(session, number, b"x"))
        for number, entries in ((3, ()), (5, (decision(), begun()))):
            log.append_step(entries, JournalStep(ONE, number, b"all", is_whole=True))
            log.append_step((), JournalStep(ONE, number + 1, b"x"))
            assert numbers(log, ONE) == [number, number + 1]
            assert numbers(log, OTHER) == [1, 2], "those of another session stay"
        log.append_step((decision(),), JournalStep(ONE, 7, b"", is_end=True))
        assert (numbers(log, ONE), numbers(log, OTHER)) == ([], [1, 2])


def test_a_step_names_its_last_decision_and_its_last_beginning(tmp_path: Path) -> None:
    known: tuple[int | None, str | None] = None, None
    with SqlDecisionLog.open(tmp_path / "log") as log:
        for number, (decided, began) in enumerate(product((0, 1, 0, 2), range(3)), 1):
            entries: list[LogEntry] = [*(decision(n) for n in range(decided)), *[begun()] * began]
            sealed = log.append_step(entries, JournalStep(ONE, number, b"x", seq=known[0]))
            known = (
                sealed[decided - 1].seq if decided else known[0],
                sealed[-1].hash if began else None,
            )
            row = log.journal(ONE)[-1]
            assert (row.number, row.seq, row.begun) == (number, *known)


MADE = {
    "never open": (),
    "one step": ({},),
    "two steps": ({}, {}),
    "all said at once": ({}, {"is_whole": True}),
    "ended": ({}, {"is_end": True}),
}
"""The steps that a session has made."""


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("made", MADE.values(), ids=MADE)
def test_the_next_step_alone_is_made_and_only_what_has_ended_is_opened_again(
    tmp_path: Path, made: tuple[dict[str, bool], ...], together: bool
) -> None:
    steps = [JournalStep(ONE, at, b"x", **more) for at, more in enumerate(made, 1)]
    last = 0 if any(one.is_end for one in steps) else len(steps)
    with SqlDecisionLog.open(tmp_path / "log") as log:
        for number in (1, 2, 3, 4):
            log.append_step((), JournalStep(OTHER, number, b"x"))
        for one in () if together else steps:
            log.append_step((), one)
        for number, again in product(range(5), (False, True)):
            before = [Append((), one) for one in steps] if together else []
            asked = Append((), JournalStep(ONE, number, b"x", is_reopening=again))
            with log.begin_reading() as connection:
                log._place_entries([*before, asked], connection, Head(0, GENESIS))
            assert not any(one.refused for one in before)
            expected = last == 0 if again else number == last + 1
            assert (asked.refused is None) == expected, (number, again)
