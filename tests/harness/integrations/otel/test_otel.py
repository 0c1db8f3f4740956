"""Rulings and scores in OpenTelemetry: all of them, under the names of the conventions."""

import asyncio
import json
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes
from opentelemetry.semconv.attributes import error_attributes

from harness.guard import AsyncGuard, Guard, parse_event
from harness.integrations.otel import CONVENTIONS, CRITIC_NAMES, EVENT_NAMES, ObservedGuard
from harness.log import SqlDecisionLog
from tests.support.examples import HOSTILE, is_safe
from tests.support.guarding import (
    ASKS,
    answers_to,
    call,
    close,
    desk,
    differences,
    guard_of,
    open_,
    policy_of,
    result,
    streams,
    yes,
)
from tests.support.paths import ROOT

STREAMS = [*streams("desk"), *streams("refunds")]


class Seen:
    """OpenTelemetry in memory."""

    def __init__(self) -> None:
        kept: Any = InMemoryLogRecordExporter  # without types
        self._logs, self._spans = kept(), InMemorySpanExporter()
        self.loggers = LoggerProvider()
        self.loggers.add_log_record_processor(SimpleLogRecordProcessor(self._logs))
        tracers = TracerProvider()
        tracers.add_span_processor(SimpleSpanProcessor(self._spans))
        self.tracer = tracers.get_tracer("test")

    def guard(self, wire: Any, **options: Any) -> Guard:
        return guard_of(wire, kind=ObservedGuard, logger_provider=self.loggers, **options)

    @property
    def records(self) -> list[Any]:
        found = [one.log_record for one in self._logs.get_finished_logs()]
        assert {one.event_name for one in found} <= {EVENT_NAMES["event"]}
        return found

    @property
    def events(self) -> list[dict[str, Any]]:
        """The attributes of each event, by our short names."""
        short = {name: key for key, name in {**CRITIC_NAMES, **EVENT_NAMES}.items()}
        return [
            {short[key]: value for key, value in one.attributes.items()} for one in self.records
        ]

    def named(self, name: str) -> list[dict[str, Any]]:
        return [one for one in self.events if one["name"].startswith(name)]

    @property
    def spans(self) -> list[Any]:
        return list(self._spans.get_finished_spans())


@pytest.fixture
def seen() -> Iterator[Seen]:
    made = Seen()
    yield made
    made.loggers.shutdown()


@pytest.mark.parametrize("part", range(2))
def test_a_guard_that_is_watched_answers_as_any_other(seen: Seen, part: int) -> None:
    for case in STREAMS[part::2]:
        assert differences(case, seen.guard) == [], case["title"]


def test_each_ruling_is_one_event_that_says_what_the_ruling_says(seen: Seen) -> None:
    for case in STREAMS:
        before = len(seen.named("critic.verify"))
        given = answers_to(seen.guard(case["policy"]), case["events"])
        rulings = [one for one in given.values() if "action" in one]
        shown = seen.named("critic.verify")[before:]
        assert [(one["action"], one["turn"], one.get("plan_digest")) for one in shown] == [
            (one["action"], one["turn"], one.get("plan_digest")) for one in rulings
        ]
        assert [(one["label"], one["value"]) for one in shown] == [
            (one["verdict"].get("kind", "ok"), float(one["verdict"]["ok"]))
            if "verdict" in one
            else ("unknown_tool", 0.0)
            for one in rulings
        ]


def test_a_batch_that_ended_is_scored_five_times_and_a_session_once(seen: Seen) -> None:
    guard = seen.guard(desk())
    answers_to(guard, [open_(), call("list_mail"), result([]), close()])
    scores = seen.named("critic.score.")
    names = ["policy", "utility", "latency", "safety", "cost"]
    assert [one["name"].removeprefix("critic.score.") for one in scores] == names
    assert {one["label"] for one in scores} <= {"pass", "warn", "fail"}
    assert all(0 <= one["value"] <= 1 for one in scores)
    (ruling,) = seen.named("critic.verify")
    assert {one["plan_digest"] for one in scores} == {ruling["plan_digest"]}
    (session,) = seen.named("critic.session")
    assert (session["label"], session["status"]) == ("completed", "completed")


def test_events_belong_to_the_span_around_and_it_has_the_attributes(seen: Seen) -> None:
    guard = seen.guard(desk())
    with seen.tracer.start_as_current_span("execute_tool") as span:
        answers_to(guard, ASKS)
        told = span.get_span_context()
    assert {(one.trace_id, one.span_id) for one in seen.records} == {(told.trace_id, told.span_id)}
    attributes = seen.spans[0].attributes
    asked = seen.named("critic.verify")[-1]
    assert attributes[CRITIC_NAMES["action"]] == asked["action"] == "ask"
    assert attributes[CRITIC_NAMES["kind"]] == asked["kind"] == asked["label"]
    answers_to(guard, [yes(digest=asked["plan_digest"])])
    assert seen.named("critic.verify")[-1]["action"] == "allow"


def test_the_span_of_the_caller_is_current_behind_an_asynchronous_guard(seen: Seen) -> None:
    async def ask() -> None:
        async with AsyncGuard(seen.guard(desk())) as guard:
            for event in (open_(), call("list_mail")):
                await guard.handle(parse_event(json.dumps(event).encode()))

    with seen.tracer.start_as_current_span("turn") as span:
        asyncio.run(ask())
        assert {one.span_id for one in seen.records} == {span.get_span_context().span_id}
    assert seen.spans[0].attributes[CRITIC_NAMES["action"]] == "allow"


def test_a_shadow_shows_what_it_would_have_enforced(seen: Seen) -> None:
    for event in (call("unknown_tool"), ASKS[-1], call("list_mail")):
        answers_to(seen.guard(desk(shadow=True)), [open_(), event])
    shown = [(one["action"], one["decided"], one["value"]) for one in seen.events]
    assert shown[0] == ("allow", "refuse", 0.0)
    assert shown[1][0] == "allow"
    assert shown[1][1] in ("ask", "refuse")
    assert shown[2] == ("allow", "allow", 1.0)


class BrokenLog:
    def append(self, _decision: Any) -> Any:
        raise OSError("no space")


def test_a_failure_of_the_critic_is_an_error_without_a_score(seen: Seen) -> None:
    answers = answers_to(seen.guard(desk(), log=BrokenLog()), [open_(), call("list_mail")])
    assert answers[1]["action"] == "refuse"
    (shown,) = seen.events
    assert (shown["error"], shown["action"], shown["decided"]) == ("critic_error", *["refuse"] * 2)
    assert "value" not in shown
    assert "no space" in shown["explanation"]


class BrokenProvider(LoggerProvider):
    def get_logger(self, *_: Any, **__: Any) -> Any:
        class Broken:
            def emit(self, **_: Any) -> None:
                raise RuntimeError("the exporter failed")

        return Broken()


def test_telemetry_that_fails_changes_no_ruling() -> None:
    for case in STREAMS[:10]:
        assert (
            differences(case, guard_of, kind=ObservedGuard, logger_provider=BrokenProvider()) == []
        )


def test_what_was_given_to_see_decisions_sees_them_and_still_refuses(seen: Seen) -> None:
    def fails(_: Any) -> None:
        raise OSError("not stored")

    guard = seen.guard(desk(), on_decision=fails)
    assert answers_to(guard, [open_(), call("list_mail")])[1]["action"] == "refuse"
    decisions: list[Any] = []
    guard = seen.guard(desk(), on_decision=decisions.append)
    answers_to(guard, [open_(), call("list_mail"), result([])])
    assert len(decisions) == 2


def test_the_record_of_a_ruling_is_named(seen: Seen, tmp_path: Path) -> None:
    with SqlDecisionLog.open(tmp_path / "audit.db") as log:
        answers_to(seen.guard(desk(), log=log), [open_(), call("list_mail")])
        (shown,) = seen.events
        rulings = [record.seq for record in log.records() if hasattr(record, "report")]
        assert rulings == [shown["seq"]]


def test_reasons_are_safe_short_and_can_be_left_out(seen: Seen) -> None:
    events = [open_("s", HOSTILE), call("transfer", iban=HOSTILE * 300, reason=HOSTILE)]
    answers_to(seen.guard(desk()), events)
    turn, shown = seen.events
    assert (turn["name"], turn["fate"]) == ("critic.turn", "refused")
    assert is_safe(shown["explanation"])
    assert 0 < len(shown["explanation"]) <= 1000
    answers_to(seen.guard(desk(), explain=False), [*events, close()])
    assert not any("explanation" in one for one in seen.events[2:])


def test_the_names_are_those_of_the_installed_conventions() -> None:
    assert version("opentelemetry-semantic-conventions") == CONVENTIONS
    assert {EVENT_NAMES[key] for key in ("name", "value", "label", "explanation")} == {
        gen_ai_attributes.GEN_AI_EVALUATION_NAME,
        gen_ai_attributes.GEN_AI_EVALUATION_SCORE_VALUE,
        gen_ai_attributes.GEN_AI_EVALUATION_SCORE_LABEL,
        gen_ai_attributes.GEN_AI_EVALUATION_EXPLANATION,
    }
    assert EVENT_NAMES["error"] == error_attributes.ERROR_TYPE


def test_the_page_lists_every_name() -> None:
    page = (ROOT / ".github" / "docs" / "opentelemetry.md").read_text(encoding="utf-8")
    for name in (*EVENT_NAMES.values(), *CRITIC_NAMES.values(), CONVENTIONS):
        assert f"`{name}`" in page, name


def test_without_any_set_up_nothing_is_shown_and_all_is_judged() -> None:
    guard = ObservedGuard(policy_of(desk()))
    assert answers_to(guard, [open_(), call("list_mail")])[1]["action"] == "allow"
