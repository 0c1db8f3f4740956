"""What the turns of a candidate say, check by check, and what counts as a measure of a run."""

from typing import Any, Final, get_args

import pytest

from evals.kinds import Fate
from harness.audit.gate.release_decision import (
    SHARES,
    GateBounds,
    GateCheck,
    JudgedCase,
    MeasuredRun,
    ReleaseCase,
    failure_check,
    gate_checks,
    missing_cases,
    refusal_check,
    turn_checks,
)
from harness.audit.gate.run_reading import (
    ReleaseRecord,
    _DecisionFacts,
    release_sample,
    sample_of,
)
from harness.record import Gap, RecordFacts
from harness.record.fates import REFUSED_FATES, TurnKey
from harness.replay.findings import RecordFinding
from harness.replay.result import ReplayResult
from tests.harness.log.decisions import proposal, run_of
from tests.support.guarding import Json

STRICT: Final = GateBounds(share_rises=dict.fromkeys(SHARES, 0.0), verified_drop=0.0, min_runs=1)


def turns(*verified: float, trace: str = "s", **more: Any) -> list[JudgedCase]:
    """Return the turns of a session, in order."""
    return [
        JudgedCase(ReleaseCase("a", trace, number), one, **more)
        for number, one in enumerate(verified, 1)
    ]


def named(checks: list[GateCheck], name: str) -> GateCheck:
    (found,) = [one for one in checks if one.name == name]
    return found


def test_each_turn_is_compared_with_itself_in_any_order() -> None:
    before = turns(*(float(number % 2) for number in range(24)))
    after = [*before[1::2], *before[::2]]
    assert {one.status for one in turn_checks(before, after, STRICT)} == {"pass"}


def test_what_may_be_worse_by_more_than_its_bound_is_inconclusive() -> None:
    before, other = turns(*[1.0] * 9, 0.0), turns(*[1.0] * 9, 0.0, trace="t")
    found = refusal_check(before, other, 0.0)
    assert (found.status, found.interval is not None) == ("inconclusive", True)
    assert found.interval is not None
    assert found.interval.observed == 0.0
    assert refusal_check(before, other, 1.0).status == "pass"


@pytest.mark.parametrize("count", [1, 2, 5])
def test_a_case_that_the_candidate_lacks_is_told(count: int) -> None:
    before = turns(*[1.0] * 6)
    (found,) = missing_cases(before, before[count:])
    assert found.status == "inconclusive"
    assert f"{count} of 6 " in found.said
    assert "a (s turn 1)" in found.said
    assert missing_cases(before, before) == missing_cases(before, turns(1.0, trace="t")) == []


@pytest.mark.parametrize("fate", get_args(Fate))
def test_a_turn_is_refused_to_the_gate_where_it_is_to_the_statistics(fate: Fate) -> None:
    (turn,) = turns(1.0, fate=fate)
    is_refused = fate in {"refused", "asked_no"}
    assert (fate in REFUSED_FATES, turn.share("refused turns")) == (is_refused, is_refused)


@pytest.mark.parametrize("name", SHARES)
def test_a_share_that_may_rise_decides_unless_it_is_of_open_turns(name: str) -> None:
    marks: dict[str, Json] = {
        "refused turns": {"fate": "refused"},
        "asked turns": {"is_asked": True},
        "shadow turns": {"is_shadow": True},
        "open turns": {"fate": "open"},
    }
    more = marks[name]
    before = turns(*[1.0] * 30)
    risen = [*before[1:], *turns(1.0, trace="t", **more)]
    surely = turns(*[1.0] * 30, trace="t", **more)
    status = named(turn_checks(before, risen, STRICT), name).status
    assert status == ("pass" if name == "open turns" else "inconclusive")
    assert named(turn_checks(before, surely, STRICT), name).status == "block"
    for other in {*SHARES} - {name}:
        assert named(turn_checks(before, surely, STRICT), other).status == "pass"


def test_a_critic_that_fails_more_often_does_not_pass() -> None:
    found = [failure_check(*counts).status for counts in ((0, 0), (2, 2), (2, 1), (0, 1), (1, 2))]
    assert found == ["pass"] * 3 + ["inconclusive"] * 2


def measured(**measures: float) -> MeasuredRun:
    scores = {"policy": 1.0, "utility": 1.0, "safety": 1.0}
    taken = {"wall_ms": 5.0, "cost_micros": 1.0, **measures}
    return MeasuredRun(ReleaseCase("a", "1"), frozenset(), scores, taken)


def test_tokens_are_compared_where_either_side_has_them() -> None:
    without, tokens = [measured()] * 4, [measured(tokens=9.0)] * 4
    for sides in ((without, tokens), (tokens, without)):
        assert named(gate_checks(*sides, STRICT), "tokens").status == "inconclusive"
    assert [one.name for one in gate_checks(without, without, STRICT)].count("tokens") == 0


def test_runs_that_made_no_call_are_in_no_mean() -> None:
    idle = measured()._replace(measures={}, is_idle=True)
    slower = [measured(wall_ms=9.0)] * 4
    sides = [measured()] * 4, [*slower, idle, idle]
    assert named(gate_checks(*sides, STRICT), "latency").status == "block"


def test_a_turn_that_was_ruled_on_again_counts_by_its_last_verdict() -> None:
    case, turn = ReleaseCase("a", "s", 1), TurnKey("s", 1, "p")
    for verdicts in ((True, False), (False, True), (False, True, False)):
        found: list[RecordFinding[ReleaseRecord | None]] = [
            RecordFinding(
                ReplayResult(seq=seq, status="same", reasons=()),
                ReleaseRecord(turn, RecordFacts.ALLOWED, _DecisionFacts(case, one, None)),
            )
            for seq, one in enumerate(verdicts, 1)
        ]
        (judged,) = release_sample(found).judged
        assert judged.verified == verdicts[-1]
        assert judged.records == (*range(1, len(verdicts) + 1),)


def test_every_missing_record_is_one_that_could_not_be_read() -> None:
    answer = ReplayResult(seq=3, status="incomplete", reasons=())
    assert release_sample([RecordFinding(answer, Gap(3, 7))]).unread == 5
    assert (
        release_sample([RecordFinding(answer, None), RecordFinding(answer, Gap(4, 4))]).unread == 2
    )


def test_a_measure_is_that_of_every_call_or_of_none() -> None:
    whole = run_of(proposal())
    for name, of_call in (("wall_ms", "duration_ms"), ("cost_micros", "cost_micros")):
        calls = [call.model_copy(update={of_call: 7}) for call in whole.calls]
        assert len(calls) > 1
        some = [calls[0], *(call.model_copy(update={of_call: None}) for call in calls[1:])]
        for given, is_there in ((calls, True), (some, False)):
            run = whole.model_copy(update={"calls": tuple(given), name: None})
            assert (name in sample_of([run]).runs[0].measures) is is_there
