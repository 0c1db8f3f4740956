"""The closed sets are stated once, and whoever has something for each kind has it for all."""

import subprocess
import sys
from itertools import chain
from typing import Any, get_args

import pytest

from critic.checks import CHECKS
from evals import kinds
from evals.scorecard import EVALUATORS
from harness.audit.report.page_words import FATE_LOOKS, REFUSAL_WORDS, fate_style
from harness.commands.log.log_arguments import KIND_NAMES, STATUS_NAMES
from harness.testing._draw.near_misses import NEAR_MISSES
from harness.what_if.columns.column_facts import BITS_OF, FIRST_KINDS

_LOADED = "import sys, evals.kinds; print(*sys.modules)"


def test_the_sets_are_read_without_what_is_heavy() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _LOADED], capture_output=True, text=True, check=True
    )
    assert not {"pydantic", "orjson", "jsonschema_rs", "evals.envelope"} & {*done.stdout.split()}


@pytest.mark.parametrize(
    ("members", "names"),
    [
        (kinds.ApprovalMode, kinds.MODES),
        (kinds.Check, kinds.CHECK_NAMES),
        (kinds.RefusalKind, kinds.REFUSAL_KINDS),
        (kinds.EvaluatorId, kinds.EVALUATOR_IDS),
        (kinds.ReportStatus, kinds.REPORT_STATUSES),
    ],
)
def test_a_tuple_has_the_members_of_its_type(members: Any, names: tuple[str, ...]) -> None:
    assert names == get_args(members)


def test_what_is_said_of_each_check_kind_and_evaluator_is_said_of_all() -> None:
    assert tuple(kinds.MODE_RANK) == kinds.MODES
    assert tuple(kinds.KINDS_OF) == kinds.CHECK_NAMES
    assert [check.__name__ for check in CHECKS] == [f"check_{one}" for one in kinds.CHECK_NAMES]
    assert {*chain.from_iterable(kinds.KINDS_OF.values())} == {*kinds.REFUSAL_KINDS}
    assert {*kinds.REFUSAL_KINDS} >= kinds.APPROVABLE_KINDS
    assert tuple(name for name, _ in EVALUATORS) == kinds.EVALUATOR_IDS
    assert {*kinds.HARD_EVALUATORS} <= {*kinds.EVALUATOR_IDS}


def test_every_kind_can_be_asked_for_shown_drawn_and_judged_by_columns() -> None:
    assert {*KIND_NAMES} == {*kinds.REFUSAL_KINDS, *kinds.HARD_EVALUATORS}
    assert {*kinds.REPORT_STATUSES} < {*STATUS_NAMES}
    assert tuple(REFUSAL_WORDS) == (*kinds.REFUSAL_KINDS, "score", "open")
    assert {way.kind for way in NEAR_MISSES} == {*kinds.REFUSAL_KINDS}
    assert {*BITS_OF} == {*FIRST_KINDS} == {*kinds.REFUSAL_KINDS}
    assert all(bits[1] for kind, bits in BITS_OF.items() if kind in kinds.APPROVABLE_KINDS)


def test_every_fate_has_a_colour_by_day_and_by_night() -> None:
    assert tuple(FATE_LOOKS) == kinds.FATES
    by_day, by_night = fate_style().split("@media screen and (prefers-color-scheme: dark)")
    for fate, look in FATE_LOOKS.items():
        assert f".fate-{fate} {{ --fate: {look.light}; }}" in by_day
        assert f".fate-{fate} {{ --fate: {look.dark}; }}" in by_night
