"""Whatever fails inside the service, nothing is allowed, and the answer says that it failed."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from harness.serve import document_judging, endpoints
from harness.serve.request_limits import ServiceLimits
from tests.harness.serve.asking import app_of, ask, event_path
from tests.support.examples import HOSTILE, good_proposal, good_run, is_safe
from tests.support.guarding import call, desk, open_

TOOL = {"type": "tool", "id": "list_mail", "properties": {"arguments": {}}}
QUESTION = {"subject": {"type": "u", "id": "a"}, "action": {"name": "tools/call"}, "resource": TOOL}
ASKED: list[tuple[str, Any]] = [
    ("/v1/verify", good_proposal()),
    ("/v1/score", good_run()),
    ("/access/v1/evaluation", QUESTION),
    ("/access/v1/evaluations", {**QUESTION, "evaluations": [{}]}),
    ("/v1/data/critic/verify", {"input": good_proposal()}),
    ("/v1/data/critic/verify/ok", {"input": good_proposal()}),
    ("/v1/batch/data/critic/verify/ok", {"inputs": {"a": good_proposal()}}),
]


def allows(answer: Any) -> bool:
    """Return whether anything in an answer could be read as an allow."""
    match answer:
        case {"action": "allow"} | {"ok": True} | {"decision": True} | {"result": True}:
            return True
        case dict():
            return any(map(allows, answer.values()))
        case list():
            return any(map(allows, answer))
    return False


class BrokenLog:
    """A log that fails as it is told to."""

    def __init__(self, failure: Callable[[], Any]) -> None:
        self._failure = failure

    def append(self, _decision: Any) -> Any:
        return self._failure()


def raises(error: Exception) -> Callable[[], Any]:
    def fail() -> Any:
        raise error

    return fail


ERRORS = [RuntimeError(HOSTILE), RecursionError(), MemoryError(), ValueError("x" * 10_000)]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize(("path", "body"), ASKED, ids=lambda given: str(given)[:40])
def test_a_log_that_fails_allows_nothing(
    path: str, body: Any, error: Exception, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = ask(app_of(desk(), log=BrokenLog(raises(error))), path, body)
    assert answer.status_code == (207 if "batch" in path else 500)
    assert not allows(answer.json())
    assert "critic_error" in answer.text
    assert "batch" in path or answer.json()["error"]["message"] == answer.json()["critic_error"]
    assert_safe(answer.text, capsys, failures=1)


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_a_session_whose_log_fails_allows_nothing(
    error: Exception, capsys: pytest.CaptureFixture[str]
) -> None:
    app = app_of(desk(), log=BrokenLog(raises(error)))
    assert ask(app, event_path("s"), open_()).status_code == 204
    answer = ask(app, event_path("s"), call("list_mail"))
    assert (answer.status_code, answer.json()["action"]) == (500, "refuse")
    assert answer.json()["error"]["message"] == answer.json()["critic_error"] != ""
    assert_safe(answer.text, capsys, failures=1)
    assert 'critic_errors_total{kind="internal"} 1.0' in ask(app, "/metrics").text


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_a_judge_that_fails_allows_nothing(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: Any) -> Any:
        raise error

    app = app_of(desk())
    monkeypatch.setattr(document_judging, "verify", fail)
    monkeypatch.setattr(endpoints.VerdictEndpoints, "_score", fail)
    for path, body in ASKED:
        if "access" not in path:
            answer = ask(app, path, body)
            assert answer.status_code in (207, 500), path
            assert not allows(answer.json())
            assert "critic_error" in answer.text
            assert_safe(answer.text, capsys)
    assert 'critic_errors_total{kind="internal"} 5.0' in ask(app, "/metrics").text


def test_a_clock_that_fails_permits_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    class Broken:
        def now(self) -> Any:
            raise RuntimeError(HOSTILE)

    app = app_of(desk(), clock=Broken())
    for path in ("/access/v1/evaluation", "/access/v1/evaluations"):
        answer = ask(app, path, QUESTION)
        assert (answer.status_code, answer.json()["decision"]) == (500, False)
        assert answer.json()["critic_error"]
    ask(app, event_path("s"), open_())
    ruling = ask(app, event_path("s"), call("list_mail"))
    assert (ruling.status_code, ruling.json()["action"]) == (500, "refuse")
    assert_safe(ruling.text, capsys)


def test_an_answer_that_takes_too_long_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    log = BrokenLog(lambda: time.sleep(0.4))
    app = app_of(desk(), log=log, limits=ServiceLimits(seconds=0.05))
    ask(app, event_path("s"), open_())
    for path, body in [*ASKED, (event_path("s"), call("list_mail"))]:
        answer = ask(app, path, body)
        assert answer.status_code == 503, path
        assert not allows(answer.json())
        assert answer.json()["critic_error"].startswith("no answer within")
        assert answer.headers["retry-after"] == "1"
    app.close()
    assert_safe("", capsys)


def assert_safe(text: str, capsys: pytest.CaptureFixture[str], failures: int | None = None) -> None:
    """Check that an answer and what was printed beside it hold no control characters or traces."""
    assert text.isascii()
    assert text == "" or text.isprintable()
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "Traceback" not in printed.err
    assert all(map(is_safe, printed.err.splitlines()))
    assert all(line.startswith("critic: /") for line in printed.err.splitlines())
    assert failures is None or len(printed.err.splitlines()) == failures
