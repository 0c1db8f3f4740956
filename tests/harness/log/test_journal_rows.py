"""The rows of a session's journal, in a log."""

from itertools import product
from pathlib import Path

from harness.log import SqlDecisionLog
from harness.log.appending import LogEntry
from harness.log.journal_rows import JournalStep
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
        log.append_step((), JournalStep(ONE, 3, b"all", is_whole=True))
        log.append_step((), JournalStep(ONE, 4, b"x"))
        assert numbers(log, ONE) == [3, 4]
        assert numbers(log, OTHER) == [1, 2], "those of another session stay"
        log.append_step((), JournalStep(ONE, 5, b"", is_end=True))
        assert (numbers(log, ONE), numbers(log, OTHER)) == ([], [1, 2])


def test_a_step_names_its_last_decision_and_its_last_beginning(tmp_path: Path) -> None:
    known: tuple[int | None, str | None] = None, None
    with SqlDecisionLog.open(tmp_path / "log") as log:
        for number, (decided, began) in enumerate(product(range(3), range(3)), 1):
            entries: list[LogEntry] = [*(decision(n) for n in range(decided)), *[begun()] * began]
            sealed = log.append_step(entries, JournalStep(ONE, number, b"x", seq=known[0]))
            known = (
                sealed[decided - 1].seq if decided else known[0],
                sealed[-1].hash if began else None,
            )
            row = log.journal(ONE)[-1]
            assert (row.number, row.seq, row.begun) == (number, *known)
