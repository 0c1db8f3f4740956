"""Print the answers of replay, for `critic replay` and `critic log verify`, in every format."""

from collections import Counter
from collections.abc import Iterable
from typing import Final, Protocol, get_args

from harness.canonical import ascii_json
from harness.commands.arguments import CI_FORMATS
from harness.commands.formats.format_entries import (
    EntryOutcome,
    EntryReporter,
    JudgedEntry,
    entry_reporter,
)
from harness.commands.formats.judgement import DocumentMessage, Level
from harness.commands.progress import print_above
from harness.log.log_errors import LogDamaged
from harness.log.passwords import without_passwords
from harness.log.search.listing import Listing
from harness.log.search.query import Filters
from harness.log.search.turns import RED, TurnRecords
from harness.log.sql import SqlDecisionLog
from harness.record import Head
from harness.replay.log_check import LogCheck
from harness.replay.result import ReplayResult, ReplayStatus

_ALWAYS: Final = frozenset({"same", "drift", "tampered", "incomplete"})
"""The answers that are counted even where there are none."""


class AnswerReporter(Protocol):
    """Takes the answers on a log in their order, then what is said of the log as a whole."""

    def answer(self, answer: ReplayResult) -> None:
        """Report the answer for a record."""

    def red_turn(self, turn: TurnRecords) -> None:
        """Report a turn that ran although it was refused."""

    def check(self, check: LogCheck) -> None:
        """Report what is wrong with the log as a whole."""

    def head(self, head: Head) -> None:
        """Print the head that was read, for who will read the log later."""

    def close(self, summary: str, /) -> None:
        """Print the end: the answers in a few words."""


def answer_reporter(form: str, file: str, command: str, *, no_open: bool = False) -> AnswerReporter:
    """Return the reporter of a format, for the log in a file or at a URL.

    With `no_open`, an execution that began and has no end is a fault.
    """
    if form in CI_FORMATS:
        reporter = entry_reporter(form, command)
        return _EntryAnswers(reporter, without_passwords(file), no_open=no_open)
    return _JsonAnswers() if form == "json" else _TextAnswers()


def report_answers(
    answers: Iterable[ReplayResult], counts: Counter[str], report: AnswerReporter
) -> Counter[str]:
    """Report every answer; count them by status."""
    for answer in answers:
        counts[answer.status] += 1
        report.answer(answer)
    return counts


def summary_of(counts: Counter[str], check: LogCheck, since: int | None = None) -> str:
    """Return how many records there are after record `since`, and how many of each answer."""
    shown = [one for one in get_args(ReplayStatus) if one in _ALWAYS or counts[one]]
    numbers = ", ".join(f"{counts[status]} {status}" for status in shown)
    numbers += sound_text(counts, check)
    after = "" if since is None else f" after record {since}"
    return f"{count_of_records(sum(counts.values()))}{after}: {numbers}"


def is_sound(counts: Counter[str], *, no_open: bool = False) -> bool:
    """Return whether all records are as they were recorded. Open is a state, and no damage."""
    allowed = {"same"} if no_open else {"same", "open"}
    return {status for status, count in counts.items() if count} <= allowed


def sound_text(counts: Counter[str], check: LogCheck) -> str:
    """Return what is said of executions without an end, if the log is sound; else nothing."""
    is_said = counts["open"] and is_sound(counts) and check
    return f": sound, {counts['open']} open" if is_said else ""


def red_turns(log: SqlDecisionLog, *, is_sound: bool, since: int = 0) -> list[TurnRecords]:
    """Return the turns that ran although they were refused, with a record after `since`.

    There are none as far as the index cannot be read, where it is said that the log is not sound.

    Raises:
        harness.log.log_errors.LogError: the log cannot be read, and nothing has said so.
    """
    try:
        turns = Listing(log).turns(Filters(fates=frozenset({RED}))).turns()
    except LogDamaged:
        if is_sound:
            raise
        return []
    return [one for one in turns if one.records[-1] > since]


def describe_red(turn: TurnRecords) -> str:
    """Return a turn that ran although it was refused, on one line."""
    numbers = ", ".join(map(str, turn.records))
    return f"{RED}: calls ran, and no ruling allowed them: records {numbers}"


def count_of_records(number: int) -> str:
    """Return the number of records in words: `1 record`, else `4 records`."""
    return f"{number} record{'' if number == 1 else 's'}"


class _TextAnswers:
    """Prints the answers worth reading, what is wrong with the log, and a summary."""

    def answer(self, answer: ReplayResult) -> None:
        if not answer or answer.notes:
            print_above(answer.text())

    def red_turn(self, turn: TurnRecords) -> None:
        print_above(describe_red(turn))

    def check(self, check: LogCheck) -> None:
        if text := check.text():
            print_above(text)

    def head(self, head: Head) -> None:
        print_above(f"head {head.seq}:{head.hash}")

    def close(self, summary: str) -> None:
        print_above(summary)


class _JsonAnswers:
    """Prints every answer as one JSON object a line."""

    def answer(self, answer: ReplayResult) -> None:
        print_above(ascii_json(answer.wire()))

    def red_turn(self, turn: TurnRecords) -> None:
        wire = {"fate": turn.fate, "records": list(turn.records)}
        print_above(ascii_json({"turn": wire}))

    def check(self, check: LogCheck) -> None:
        if check.damage or check.notes:
            print_above(ascii_json({"log": check.wire()}))

    def head(self, head: Head) -> None:
        print_above(ascii_json({"head": f"{head.seq}:{head.hash}"}))

    def close(self, _summary: str) -> None:
        """Print nothing: the objects say it all."""


class _EntryAnswers:
    """Reports each record as an entry, and the log as a whole as one more."""

    def __init__(self, reporter: EntryReporter, file: str, *, no_open: bool) -> None:
        self._reporter, self._file, self._no_open = reporter, file, no_open

    def answer(self, answer: ReplayResult) -> None:
        place, is_state = f"record {answer.seq}", answer.status == "open" and not self._no_open
        level: Level = "warning" if is_state else "error"
        said = [*answer.reasons, *(one.line() for one in answer.differences)]
        listed = [DocumentMessage(level, answer.status, text, place) for text in said]
        listed += [DocumentMessage("note", "note", text, place) for text in answer.notes]
        outcome: EntryOutcome = "pass" if answer or is_state else "failure"
        self._reporter.report(JudgedEntry(self._file, place, outcome, tuple(listed)))

    def red_turn(self, turn: TurnRecords) -> None:
        place = f"record {turn.first}"
        listed = (DocumentMessage("error", RED, describe_red(turn), place),)
        self._reporter.report(JudgedEntry(self._file, f"turn of {place}", "failure", listed))

    def check(self, check: LogCheck) -> None:
        listed = [DocumentMessage("error", "damaged", text) for text in check.damage]
        listed += [DocumentMessage("note", "note", text) for text in check.notes]
        outcome: EntryOutcome = "pass" if check else "failure"
        self._reporter.report(JudgedEntry(self._file, "the log as a whole", outcome, tuple(listed)))

    def head(self, _head: Head) -> None:
        """Print nothing: what reads these formats has no place for it."""

    def close(self, _summary: str) -> None:
        self._reporter.close()
