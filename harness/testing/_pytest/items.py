"""Case files and records of a decision log as pytest items."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

from evals.escaping import escape_name
from harness.cases import Case, Contradiction, parse_case, problem, update_file
from harness.log.errors import LogError
from harness.log.sql import SqlDecisionLog
from harness.replay.engine import replay
from harness.replay.result import ReplayResult
from harness.testing._pytest.sources import is_log
from harness.wire import InvalidInput

UPDATED: Final = "critic_updated"
"""The user property of a report that says which case file was rewritten."""

_ADVICE: Final = "run with --critic-update to renew what it expects, if that is right"


class NotReplayed(Exception):
    """What is wrong with a case or a record, ready to print."""


def collected(session: pytest.Session, path: Path, *, update: bool) -> Iterator[pytest.Item]:
    """The items of one case file or log."""
    try:
        kind: type[pytest.File] = LogFile if is_log(path) else CaseFile
    except OSError:
        kind = CaseFile  # its item fails, and says why
    parent = kind.from_parent(session, path=path)
    for item in parent.collect():
        if isinstance(item, CaseItem):
            item.update = update
        if isinstance(item, pytest.Item):
            yield item


class ReplayItem(pytest.Item):
    """An item that fails with a message instead of a traceback."""

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The message alone, where the item itself complains."""
        if isinstance(excinfo.value, NotReplayed):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Where a report says that the item comes from."""
        return self.path, None, self.name


class CaseFile(pytest.File):
    """A case file."""

    def collect(self) -> Iterator[pytest.Item]:
        """Its one case."""
        yield CaseItem.from_parent(self, name="case")


class CaseItem(ReplayItem):
    """One case: holds if its verdict is the expected one and what a person meant."""

    update = False

    def runtest(self) -> None:
        """Judge the input once more.

        Raises:
            NotReplayed: the verdict is another one, or the file holds no case.
        """
        try:
            case = parse_case(self.path.read_bytes())
        except (InvalidInput, OSError) as error:
            raise NotReplayed(f"no case file: {error}") from None
        if self.update:
            self._renew(case)
        elif fault := problem(case):
            advice = "" if fault.startswith("must be") else f"\n{_ADVICE}"
            raise NotReplayed(f"{_title(case)}\n{fault}{advice}")

    def _renew(self, case: Case) -> None:
        try:
            updated = update_file(self.path)
        except (Contradiction, InvalidInput, OSError) as error:
            raise NotReplayed(f"{_title(case)}\nnot renewed: {error}") from None
        if updated:
            self.user_properties.append((UPDATED, self.parent.nodeid if self.parent else ""))


def _title(case: Case) -> str:
    return escape_name(case.title)


class LogFile(pytest.File):
    """A decision log."""

    def collect(self) -> Iterator[pytest.Item]:
        """Its records, and one item for each gap between them; or one that says why not."""
        yield from (
            RecordItem.from_parent(self, name=f"record-{seq}") for seq in _numbers(self.path)
        )


class RecordItem(ReplayItem):
    """One record: holds if the report derived now is the recorded one, byte for byte."""

    def runtest(self) -> None:
        """Look the record up in the replay of its log, which is done once in each process.

        Raises:
            NotReplayed: the record has drifted, was tampered with, or lacks something.
        """
        answer = _answers(self.path).get(self.name)
        if isinstance(answer, str):
            raise NotReplayed(answer)
        if answer is not None and not answer:
            raise NotReplayed(answer.text())


def _numbers(path: Path) -> list[str]:
    """The numbers of the records that there are, and the first of each gap; or `unreadable`."""
    found: list[int] = []
    broken = []
    try:
        with SqlDecisionLog.open_for_reading(path) as log:
            found += (raw.seq for raw in log.raw())
    except LogError:
        broken = ["unreadable"]
    gaps = {before + 1 for before in (0, *found)} - set(found)
    numbers = sorted({*found, *(gap for gap in gaps if gap < max(found, default=0))})
    return [*map(str, numbers), *broken]


@cache
def _answers(path: Path) -> dict[str, ReplayResult | str]:
    """The worst answer for each number of a log; under `record-unreadable` why it broke off."""
    answers: dict[str, ReplayResult | str] = {}
    try:
        with SqlDecisionLog.open_for_reading(path) as log:
            for answer in replay(log):
                name = f"record-{answer.seq}"
                answers[name] = answer if answers.get(name, True) else answers[name]
    except LogError as error:
        answers["record-unreadable"] = str(error)
    return answers
