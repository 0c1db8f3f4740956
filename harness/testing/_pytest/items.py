"""Case files and records of a decision log as pytest items."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from evals.escaping import escape_name
from harness.case_files.case_reading import InvalidCase, read_case_file
from harness.case_files.case_runs import case_document, judge_read_case
from harness.cases import Case, Contradiction, update_file
from harness.log.log_errors import LogError
from harness.log.passwords import without_passwords
from harness.log.sql import SqlDecisionLog
from harness.policy.policy_reading import PolicyFault, fault_text, syntax_of
from harness.replay.engine import replay
from harness.replay.result import ReplayResult
from harness.testing._pytest.replay_sources import is_log
from harness.wire import InvalidInput

UPDATED: Final = "critic_updated"
"""The user property of a report that says which case file was rewritten."""

_ADVICE: Final = "run with --critic-update to renew what it expects, if that is right"


class NotReplayed(Exception):
    """A case, a record or a log does not hold. The message says why, ready to print."""


def collect_items(
    session: pytest.Session, place: Path | str, *, update: bool
) -> Iterator[pytest.Item]:
    """Yield the items of one case file, or of one log: a file, or a URL, which is a text."""
    for item in _source(session, place).collect():
        if isinstance(item, CaseItem):
            item.update = update
        if isinstance(item, pytest.Item):
            yield item


def _source(session: pytest.Session, place: Path | str) -> pytest.File:
    if isinstance(place, str):
        name = without_passwords(place)
        options: dict[str, Any] = {"name": name, "nodeid": name, "place": place}
        return LogFile.from_parent(session, path=session.path, **options)
    try:
        kind: type[pytest.File] = LogFile if is_log(place) else CaseFile
    except OSError:
        kind = CaseFile  # its item fails and says why
    return kind.from_parent(session, path=place)


class ReplayItem(pytest.Item):
    """An item that fails with a message instead of a traceback."""

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the message alone if the item itself failed."""
        if isinstance(excinfo.value, NotReplayed):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Return the place that a report names for the item."""
        return self.path, None, self.name


class CaseFile(pytest.File):
    """A case file."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield its one case."""
        yield CaseItem.from_parent(self, name="case")


class CaseItem(ReplayItem):
    """One case: passes if its verdict is the expected one and agrees with `must`."""

    update = False

    def runtest(self) -> None:
        """Judge the input again.

        Raises:
            NotReplayed: the verdict differs, or the file does not hold a case.
        """
        try:
            read = read_case_file(self.path)
        except InvalidCase as error:
            raise NotReplayed(f"not a case file: {_list_faults(error.faults)}") from None
        except OSError as error:
            raise NotReplayed(f"not a case file: {error}") from None
        if self.update and isinstance(read.case, Case) and syntax_of(str(self.path)) == "json":
            self._renew(read.case)
            return
        result = judge_read_case(read, None)
        if result.faults:
            raise NotReplayed(f"{escape_name(result.title)}\n{_list_faults(result.faults)}")
        if result.problem:
            advice = "" if result.is_contradiction else f"\n{_ADVICE}"
            raise NotReplayed(f"{escape_name(result.title)}\n{result.problem}{advice}")

    def _document(self, case: Case) -> bytes:
        return case_document(case, self.path)

    def _renew(self, case: Case) -> None:
        try:
            updated = update_file(self.path, self._document)
        except (Contradiction, InvalidInput, OSError) as error:
            raise NotReplayed(f"{escape_name(case.title)}\nnot renewed: {error}") from None
        if updated:
            self.user_properties.append((UPDATED, self.parent.nodeid if self.parent else ""))


def _list_faults(faults: Iterable[PolicyFault]) -> str:
    return "\n".join(fault_text(fault) for fault in faults)


class LogFile(pytest.File):
    """A decision log. `place` is its URL, if it is not in a file."""

    def __init__(self, *, place: str | None = None, **options: Any) -> None:
        super().__init__(**options)
        self.place: Path | str = self.path if place is None else place

    def collect(self) -> Iterator[pytest.Item]:
        """Yield an item for each record and each gap, and one for the log if it is not sound."""
        numbers, error = _look_over(self.place)
        for seq in numbers:
            yield RecordItem.from_parent(self, name=f"record-{seq}", place=self.place)
        if error:
            yield LogItem.from_parent(self, name="log", error=error)


class LogItem(ReplayItem):
    """A log that is not sound as a whole: always fails, and says why."""

    def __init__(self, *, error: str, **options: Any) -> None:
        super().__init__(**options)
        self._error = error

    def runtest(self) -> None:
        """Fail.

        Raises:
            NotReplayed: always, with what is wrong and what to do.
        """
        raise NotReplayed(self._error)


class RecordItem(ReplayItem):
    """One record: passes if the report derived now is the recorded one, byte for byte."""

    def __init__(self, *, place: Path | str, **options: Any) -> None:
        super().__init__(**options)
        self._place = place

    def runtest(self) -> None:
        """Look the record up in the replay of its log, which is done once in each test session.

        Raises:
            NotReplayed: the record has drifted, was tampered with, lacks something, or was not
                reached.
        """
        done = self.session.stash.setdefault(_REPLAYED, {})
        if self._place not in done:
            done[self._place] = _replay_log(self._place)
        answers = done[self._place]
        answer = answers.by_name.get(self.name)
        if answer is None:
            reason = answers.error or "it is not in the log any more: run again"
            raise NotReplayed(f"{self.name} was not replayed: {reason}")
        if not answer:
            raise NotReplayed(answer.text())


def _look_over(place: Path | str) -> tuple[list[int], str]:
    """Return the numbers of the records and the first of each gap, and what is wrong or ""."""
    numbers: list[int] = []
    try:
        with SqlDecisionLog.open_for_reading(place) as log:
            numbers += (raw.seq for raw in log.raw())
            numbers += (gap.first for gap in log.gaps())
            damage = "; ".join(log.problems)
    except LogError as error:
        return sorted(numbers), str(error)
    if damage:
        advice = "keep the file as evidence and restore it from a copy"
        return sorted(numbers), f"the log is damaged: {damage}: {advice}"
    if not numbers:
        advice = "record decisions, or leave the log out"
        return [], f"the log has no records, so nothing was replayed: {advice}"
    return sorted(numbers), ""


class _Replayed(NamedTuple):
    by_name: dict[str, ReplayResult]
    """The worst answer for each number, by the name of its item."""
    error: str
    """Why the log could not be read to its end, or empty."""


_REPLAYED: Final = pytest.StashKey[dict[Path | str, _Replayed]]()


def _replay_log(place: Path | str) -> _Replayed:
    answers: dict[str, ReplayResult] = {}
    try:
        with SqlDecisionLog.open_for_reading(place) as log:
            for answer in replay(log):
                name = f"record-{answer.seq}"
                answers[name] = answer if answers.get(name, True) else answers[name]
    except LogError as error:
        return _Replayed(answers, str(error))
    return _Replayed(answers, "")
