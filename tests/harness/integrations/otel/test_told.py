"""What an observer is told is what was ruled and recorded: in full, in order, and nothing else."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evals.envelope import Envelope
from evals.escaping import escape_line
from harness.canonical import digest
from harness.guard import Guard
from harness.integrations.otel import CRITIC_NAMES, EVENT_NAMES, ObservedGuard
from harness.record import Decision
from harness.testing.strategies import streams
from tests.support.effort import examples
from tests.support.guarding import NO_PLAN, asking_desk, bare, guard_of, policy_of

Json = dict[str, Any]

SHORT: Final = {name: key for key, name in {**CRITIC_NAMES, **EVENT_NAMES}.items()}
NAMES: Final = (("a", "A"), ("turn/1", "1"), ("x", "\u202ex"))


class Emitted:
    """A provider that keeps what is emitted."""

    def __init__(self) -> None:
        self.events: list[Json] = []

    def get_logger(self, *_: Any, **__: Any) -> "Emitted":
        return self

    def emit(self, *, event_name: str, attributes: Json) -> None:
        assert event_name == EVENT_NAMES["event"]
        self.events.append({SHORT[name]: value for name, value in attributes.items()})


class Kept:
    """What a log returns for a decision: its number."""

    def __init__(self, seq: int) -> None:
        self.seq = seq


class Log:
    """Keeps decisions; the appends of these numbers fail."""

    def __init__(self, failing: frozenset[int]) -> None:
        self.decisions: list[Decision] = []
        self._failing, self._tried = failing, 0

    def append(self, decision: Decision) -> Any:
        self._tried += 1
        if self._tried in self._failing:
            raise OSError("no space")
        self.decisions.append(decision)
        return Kept(len(self.decisions))

    def append_all(self, decisions: Sequence[Decision]) -> list[Any]:
        """Append all or none, as the logs of this project do."""
        before = [*self.decisions]
        try:
            return [self.append(decision) for decision in decisions]
        except OSError:
            self.decisions = before
            raise


MET: Counter[str] = Counter()
"""How often an answer or a decision was of a kind."""


def _scores(decision: Decision) -> Iterator[Json]:
    if decision.report.score is None:
        return
    plan = digest(decision.proposal.plan)
    for name, verdict in decision.report.score.scorecard.scores:
        told = {"name": f"critic.score.{name}", "label": verdict.status, "value": verdict.score}
        found = "; ".join(one.message for one in verdict.findings)
        yield {**told, "plan_digest": plan, **_why(found)}
        MET["score"] += 1


def _turn(decision: Decision) -> Iterator[Json]:
    """Yield what is told of a turn, where the decision says what became of it."""
    answer = None if decision.answer is None else decision.answer.answer
    facts = decision.proposal.ctx.session
    assert facts is not None
    if decision.run is not None:
        completed = {call.status for call in decision.run.calls} == {"completed"}
        ran = "ran_after_yes" if decision.proposal.ctx.approvals else "ran"
        found = ran if completed else "ran_in_part"
        found = "ran_in_shadow" if decision.action == "shadow" else found
    elif decision.action in ("ask", "refuse"):
        denied = "asked_no" if answer in ("no", "lapsed") else "refused"
        found = "asked_open" if decision.action == "ask" else denied
    else:
        return
    MET[found] += 1
    told = {"name": "critic.turn", "label": found, "fate": found, "turn": facts.turn}
    plan = {"plan_digest": digest(decision.proposal.plan), "session": escape_line(facts.id)}
    yield {**told, **plan}


def _why(text: str) -> Json:
    return {"explanation": escape_line(text)[:1000]} if text else {}


def _ruling(answer: Json, seq: int | None) -> Json:
    """Return what is told of a ruling, by its answer alone."""
    told: Json = {
        "name": "critic.verify",
        **{name: answer[name] for name in ("action", "plan_digest", "turn") if name in answer},
        "session": escape_line(answer["session"]),
        **({} if seq is None else {"seq": seq}),
    }
    verdict = answer.get("verdict")
    if verdict is None and (unknown := answer.get("unknown")):
        said = _why("; ".join(one["say"] for one in unknown))
        unmade = {"label": "unknown_tool", "value": 0.0, "decided": "refuse", **said}
        return {**told, **unmade}
    if verdict is None:
        MET["failed"] += 1
        return {**told, "error": "critic_error", "decided": answer["action"]}
    MET[answer["action"]] += 1
    kind = {} if verdict["ok"] else {"kind": verdict["kind"]}
    decided = answer["action"]
    if decided == "allow" and not verdict["ok"]:
        MET["shadowed"] += 1
        decided = "ask" if all(one.get("approvable") for one in verdict["violations"]) else "refuse"
    value = {"label": verdict.get("kind", "ok"), "value": float(verdict["ok"])}
    return {**told, **value, **kind, "decided": decided, **_why("; ".join(verdict["reasons"]))}


def _answered(guard: Guard, event: Json, ruled: dict[str, str]) -> Json | None:
    named = event.get("plan_digest", "")
    if "$" in named:
        event = {**event, "plan_digest": ruled.get(event["session"], NO_PLAN)}
    answer = guard.handle_line(json.dumps(event).encode())
    if not isinstance(answer, Envelope):
        return None
    wire: Json = answer.wire()
    if "plan_digest" in wire:
        ruled[wire["session"]] = wire["plan_digest"]
    return wire


@given(
    st.data(),
    st.sampled_from(NAMES),
    st.lists(st.booleans(), min_size=8, max_size=20),
    st.sampled_from([{}, {}, {"shadow": True}]),
    st.frozensets(st.integers(2, 9), max_size=1),
)
def _check(
    data: Any, names: tuple[str, str], order: list[bool], options: Json, failing: frozenset[int]
) -> None:
    wire = asking_desk(**options)
    left = [[*reversed(data.draw(streams(policy_of(wire), name, most=9)))] for name in names]
    log, seen, shown = Log(failing), Emitted(), list[Decision]()
    guard = guard_of(
        wire, kind=ObservedGuard, logger_provider=seen, log=log, on_decision=shown.append
    )
    ruled: dict[str, str] = {}
    for second in [*order, *[False, True] * 10]:
        if left[second]:
            event, before = left[second].pop(), len(log.decisions)
            seen.events.clear()
            answer = _answered(guard, event, ruled)
            _require_told(seen.events, answer, log.decisions[before:], before)
    assert [one.wire() for one in shown] == [one.wire() for one in log.decisions]


def has_lapsed(decision: Decision) -> bool:
    """Return whether a decision is that a question went without an answer."""
    return decision.answer is not None and decision.answer.answer == "lapsed"


def _require_told(
    told: list[Json], answer: Json | None, recorded: list[Decision], before: int
) -> None:
    """Require that an event told the scores that were recorded, its ruling, and nothing else."""
    expected = [one for decision in recorded for one in (*_scores(decision), *_turn(decision))]
    if answer is not None and "action" in answer:
        rulings = [one for one in recorded if one.run is None and not has_lapsed(one)]
        assert len(rulings) <= 1
        decision = rulings[0] if rulings else None
        seq = None if decision is None else before + recorded.index(decision) + 1
        if decision is not None:
            facts = decision.proposal.ctx.session
            assert facts is not None
            assert (facts.id, facts.turn) == (answer["session"], answer["turn"])
            assert digest(decision.proposal.plan) == answer["plan_digest"]
            assert decision.report.verify.wire() == bare(answer["verdict"])
        expected.append(_ruling(answer, seq))
    elif answer is not None and "status" in answer:
        MET["report"] += 1
        status = answer["status"]
        session = {"session": escape_line(answer["session"])}
        told_report = {"name": "critic.session", "label": status, "status": status, **session}
        expected.append({**told_report, **_why(answer["rationale"])})
    found = [{name: one[name] for name in one if name != "ruleset"} for one in told]
    for one in found:
        if one.get("error"):
            assert one.pop("explanation")
    assert found == expected


@pytest.mark.slow
def test_an_observer_is_told_what_was_ruled_and_recorded_and_nothing_else() -> None:
    MET.clear()
    settings(
        max_examples=max(40, examples(120)),
        derandomize=examples(100) < 100,
        suppress_health_check=[HealthCheck.too_slow],
    )(_check)()
    kinds = ("allow", "ask", "refuse", "failed", "shadowed", "score", "report", "ran")
    assert min(MET[kind] for kind in kinds) >= 3, MET
