"""Each number that Prometheus reads is that of what was asked, or of the log itself."""

import time
from collections import Counter
from pathlib import Path
from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from harness.log import SqlDecisionLog
from harness.serve.app import CriticApp
from harness.serve.telemetry import ERROR_KINDS
from tests.harness.serve.asking import app_of, ask, event_path
from tests.support.guarding import asking_desk, call, close, open_, result

STREAM: list[tuple[str, Any]] = [
    ("a", open_("a")),
    ("b", open_("b")),
    ("c", open_("c")),
    ("a", call("list_mail", "a", "a1")),
    ("a", call("list_mail", "a", "a2")),
    ("b", call("transfer", "b", "b1", to="iban-9999", amount=5)),
    ("b", call("unheard_of", "b", "b2")),
    ("c", call("shred", "c", "c1", path="plan.md")),
    ("a", result("x", "a", "a1")),
    ("c", call("list_mail", "c", "c2")),
    ("c", result("x", "c", "c2")),
    ("b", call("shred", "b", "b3", path="plan.md")),
    ("c", close("c")),
]


def samples(app: CriticApp) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """Return each sample that Prometheus would read, by its name and labels."""
    answer = ask(app, "/metrics")
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def of(name: str, found: dict[Any, float]) -> dict[tuple[str, ...], float]:
    """Return the samples of one name, by the values of their labels."""
    return {
        tuple(value for _, value in labels): count
        for (own, labels), count in found.items()
        if own == name
    }


def test_each_number_is_that_of_what_was_asked(tmp_path: Path) -> None:
    place = tmp_path / "log"
    log = SqlDecisionLog.open(place)
    app = app_of(asking_desk(), log=log)
    rulings, questions, awaited = Counter[tuple[str, str]](), set[str](), dict[str, set[str]]()
    is_open, begun = set[str](), 0
    for session, event in STREAM:
        answer = ask(app, event_path(session), event)
        wire = answer.json() if answer.content else {}
        assert answer.status_code in (200, 204), wire
        match event["event"]:
            case "open":
                is_open.add(session)
                awaited[session] = set()
            case "close":
                is_open.discard(session)
                questions.discard(session)
                awaited.pop(session)
            case "result":
                awaited[session].discard(event["id"])
            case "calls":
                verdict = wire.get("verdict")
                kind = "unknown_tool" if verdict is None else verdict.get("kind", "ok")
                rulings[wire["action"], kind] += 1
                if verdict is not None:  # a batch of unknown tools alone is no plan
                    questions.discard(session)
                if wire["action"] == "ask":
                    questions.add(session)
                if wire["action"] == "allow":
                    awaited[session].add(event["calls"][0]["id"])
                    begun += 1
        found = samples(app)
        assert of("critic_rulings_total", found) == dict(rulings)
        assert of("critic_open_sessions", found) == {(): len(is_open)}
        assert of("critic_open_questions", found) == {(): len(questions)}
        assert of("critic_open_executions", found) == {(): sum(map(len, awaited.values()))}
        assert of("critic_log_head_seq", found) == {(): log.head().seq}
    assert {action for action, _ in rulings} >= {"allow", "refuse", "ask"}
    assert of("critic_errors_total", found) == {(kind,): 0 for kind in ERROR_KINDS}
    assert questions
    assert begun > 1


def test_appends_are_timed_and_counted_one_by_one(tmp_path: Path) -> None:
    class Slow(SqlDecisionLog):
        def append_step(self, entries: Any, step: Any) -> Any:
            time.sleep(0.05)
            return super().append_step(entries, step)

    with Slow.open(tmp_path / "log") as log:
        app = app_of(asking_desk(), log=log)
        ask(app, event_path("a"), open_("a"))
        assert of("critic_log_append_seconds_count", samples(app)) == {(): 1}
        for number in range(3):
            ask(app, event_path("a"), call("list_mail", "a", f"a{number}"))
        found = samples(app)
    assert of("critic_log_append_seconds_count", found) == {(): 4}
    (seconds,) = of("critic_log_append_seconds_sum", found).values()
    assert 0.2 <= seconds < 30
    assert of("critic_log_append_seconds_bucket", found)["0.025",] == 0
    assert of("critic_log_append_seconds_bucket", found)["+Inf",] == 4


def test_the_head_is_known_before_the_first_append(tmp_path: Path) -> None:
    with SqlDecisionLog.open(tmp_path / "log") as log:
        first = app_of(asking_desk(), log=log)
        for _, event in STREAM[:4]:
            ask(first, event_path(event["session"]), event)
        assert log.head().seq > 0
        app = app_of(asking_desk(), log=log)
        assert of("critic_log_head_seq", samples(app)) == {(): log.head().seq}
        later = app_of(asking_desk(), log=lambda: SqlDecisionLog.open(tmp_path / "log"))
        assert of("critic_log_head_seq", samples(later)) == {(): 0}
        assert ask(later, "/readyz").status_code == 200
        assert of("critic_log_head_seq", samples(later)) == {(): log.head().seq}
        later.close()
