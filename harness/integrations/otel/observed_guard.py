"""A guard that shows its rulings and scores in OpenTelemetry."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from os import PathLike
from types import MappingProxyType
from typing import Any, Final

from critic import RULESET_VERSION, Refused, ScoreVerdict
from critic.session import SessionReport
from evals.escaping import escape_line
from harness.canonical import digest
from harness.guard import Answer, Guard, Ruling
from harness.guard.recording import OnDecision
from harness.policy import Policy
from harness.record import Decision, RecordFacts, fate

CONVENTIONS: Final = "0.66b2"
"""The version of opentelemetry-semantic-conventions that the names are from."""

EVENT_NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "event": "gen_ai.evaluation.result",
        "name": "gen_ai.evaluation.name",
        "value": "gen_ai.evaluation.score.value",
        "label": "gen_ai.evaluation.score.label",
        "explanation": "gen_ai.evaluation.explanation",
        "error": "error.type",
    }
)
"""What the conventions call an evaluation and its attributes."""

CRITIC_NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "action": "critic.action",
        "decided": "critic.decided",
        "plan_digest": "critic.plan.digest",
        "kind": "critic.refusal.kind",
        "ruleset": "critic.ruleset.version",
        "seq": "critic.log.seq",
        "fate": "critic.turn.fate",
        "session": "critic.session",
        "turn": "critic.turn",
        "status": "critic.session.status",
    }
)
"""Our own attributes, of events and of spans."""

_LONGEST: Final = 1000
"""Characters of an explanation."""

_Attributes = dict[str, Any]
_Emit = Callable[[str, _Attributes, str, _Attributes], None]
"""Emits an evaluation: its name, what was found, why, and our own attributes."""


class ObservedGuard(Guard):
    """A guard whose rulings and scores are shown in OpenTelemetry. Use it in the place of a Guard.

    The span that is current when an event is handled gets the attributes; the events are its own.
    """

    def __init__(
        self,
        policy: Policy | str | PathLike[str],
        *,
        logger_provider: Any = None,
        explain: bool = True,
        on_decision: OnDecision | None = None,
        **options: Any,
    ) -> None:
        """Guard as `Guard` does, with its options.

        Args:
            logger_provider: where events go. By default, the global one of OpenTelemetry.
            explain: whether events hold the reasons.

        Raises:
            ImportError: OpenTelemetry is missing: pip install 'plan-critic[otel]'.
        """
        self._emit: Final = _emitter(logger_provider, explain=explain)
        self._trace: Final[Any] = import_module("opentelemetry.trace")

        def observe_decision(decision: Decision) -> None:
            if on_decision is not None:
                on_decision(decision)
            with suppress(Exception):
                self._show_decision(decision)

        super().__init__(policy, on_decision=observe_decision, **options)

    def _answer_bytes(self, *given: Any, **how: Any) -> Answer:
        return self._show_answer(super()._answer_bytes(*given, **how))

    def _show_answer(self, answer: Answer) -> Answer:
        with suppress(Exception):
            if isinstance(answer, Ruling):
                self._show_ruling(answer)
            elif isinstance(answer, SessionReport):
                self._show_report(answer)
        return answer

    def _show_ruling(self, ruling: Ruling) -> None:
        own = _own_attributes(
            action=ruling.action,
            decided=_decided_action(ruling),
            plan_digest=ruling.plan_digest,
            kind=ruling.verdict.kind if isinstance(ruling.verdict, Refused) else None,
            ruleset=RULESET_VERSION,
            # A ruling that failed has no record; the last one is of an earlier turn.
            seq=None if ruling.verdict is None else self.last_record(ruling.session),
            session=escape_line(ruling.session),
            turn=ruling.turn,
        )
        self._trace.get_current_span().set_attributes(own)
        if ruling.verdict is None and ruling.unknown:
            said = "; ".join(one.say for one in ruling.unknown)
            self._emit("critic.verify", {"label": "unknown_tool", "value": 0.0}, said, own)
            return
        if ruling.verdict is None:
            self._emit("critic.verify", {"error": "critic_error"}, ruling.critic_error or "", own)
            return
        label = ruling.verdict.kind if isinstance(ruling.verdict, Refused) else "ok"
        found = {"label": label, "value": float(ruling.verdict.ok)}
        self._emit("critic.verify", found, "; ".join(ruling.verdict.reasons), own)

    def _show_report(self, report: SessionReport) -> None:
        own = _own_attributes(status=report.status, session=escape_line(report.session))
        self._trace.get_current_span().set_attributes(own)
        self._emit("critic.session", {"label": report.status}, report.rationale, own)

    def _show_decision(self, decision: Decision) -> None:
        """Show the scores of a run, and what became of its turn as far as that is known now."""
        own = _own_attributes(plan_digest=digest(decision.proposal.plan), ruleset=RULESET_VERSION)
        self._show_scores(decision, own)
        if decision.run is None and decision.action in ("allow", "shadow"):
            return  # it runs only now
        found, of = fate([RecordFacts(decision.snapshot.row.facts)]), decision.proposal.ctx.session
        where = {} if of is None else {"session": escape_line(of.id), "turn": of.turn}
        self._emit("critic.turn", {"label": found}, "", own | _own_attributes(fate=found, **where))

    def _show_scores(self, decision: Decision, own: _Attributes) -> None:
        if decision.report.score is None:
            return
        for name, found, explanation in _evaluations(decision.report.score):
            self._emit(name, found, explanation, own)


def _evaluations(score: ScoreVerdict) -> Iterator[tuple[str, _Attributes, str]]:
    """Yield each evaluation: its name, its label and value, and the findings."""
    for name, verdict in score.scorecard.scores:
        explanation = "; ".join(finding.message for finding in verdict.findings)
        yield f"critic.score.{name}", {"label": verdict.status, "value": verdict.score}, explanation


def _decided_action(ruling: Ruling) -> str:
    """Return what is enforced, or would be, where a shadow lets everything run."""
    if ruling.action != "allow" or not isinstance(ruling.verdict, Refused):
        return ruling.action
    return "ask" if ruling.verdict.approvable else "refuse"


def _own_attributes(**values: Any) -> _Attributes:
    return {CRITIC_NAMES[name]: value for name, value in values.items() if value is not None}


def _emitter(
    provider: Any, *, explain: bool
) -> Callable[[str, _Attributes, str, _Attributes], None]:
    """Return what emits an evaluation: its name, what was found, why, and our own attributes."""
    logs: Any = import_module("opentelemetry._logs")
    logger = logs.get_logger("plan-critic", logger_provider=provider)

    def emit(name: str, found: _Attributes, explanation: str, own: _Attributes) -> None:
        why = (
            {"explanation": escape_line(explanation)[:_LONGEST]} if explain and explanation else {}
        )
        known = {"name": name, **found, **why}
        attributes = {EVENT_NAMES[key]: value for key, value in known.items()}
        logger.emit(event_name=EVENT_NAMES["event"], attributes={**attributes, **own})

    return emit
