"""The rows of a session's journal, in a log."""

from pathlib import Path

from harness.log import SqlDecisionLog
from harness.log.journal_rows import JournalStep
from harness.record.drafts import session_key

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
