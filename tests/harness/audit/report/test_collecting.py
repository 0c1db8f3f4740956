"""Whether the records of a page are sound, by what the check says of each."""

from collections import Counter
from typing import get_args

import pytest

from harness.audit.report.collecting import Collected, Details
from harness.record import Gap, Head
from harness.replay.result import ReplayStatus


def collected(*answers: str, gaps: tuple[Gap, ...] = (), problems: tuple[str, ...] = ()) -> bool:
    found = Collected(Head(9, "0" * 64), 1, gaps, problems, Details(100), Counter(answers))
    return found.sound


@pytest.mark.parametrize("status", get_args(ReplayStatus))
def test_one_record_that_is_not_as_it_was_makes_a_page_unsound(status: str) -> None:
    assert collected("same", status, "open") is (status in ("same", "open"))


def test_what_is_missing_or_wrong_beside_the_records_makes_a_page_unsound() -> None:
    assert not collected("same", gaps=(Gap(3, 4),))
    assert not collected("same", problems=("no index",))
    assert collected()
