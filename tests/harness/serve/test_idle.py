"""Sessions without an event for long: they end, say so, and allow nothing any more."""

from pathlib import Path
from typing import Any

from harness.log import SqlDecisionLog
from harness.serve.app import CriticApp
from harness.serve.request_limits import ServiceLimits
from tests.harness.console import Critic
from tests.harness.serve.asking import app_of, ask, event_path
from tests.support.guarding import ASKS, call, close, desk, open_, result, yes

IDLE_S = 100.0


class Watch:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.seconds = 5.0

    def __call__(self) -> float:
        return self.seconds


def service(log: SqlDecisionLog | None = None, **limits: Any) -> tuple[CriticApp, Watch]:
    watch = Watch()
    made = ServiceLimits(**{"idle_seconds": IDLE_S, **limits})
    return app_of(desk(), limits=made, monotonic=watch, log=log), watch


def test_a_session_ends_after_its_time_without_an_event() -> None:
    app, watch = service()
    ask(app, event_path("s"), open_())
    for name in "abcde":
        watch.seconds += IDLE_S - 1
        assert ask(app, event_path("s"), call("list_mail", id=name)).json()["action"] == "allow"
    watch.seconds += IDLE_S
    answer = ask(app, event_path("s"), call("list_mail"))
    assert (answer.status_code, answer.json()["error"]["path"]) == (409, "/session")
    told = answer.json()["error"]["message"]
    assert told == "session s had no event for 100 seconds, and has ended: open another one"


def test_a_session_that_ended_stands_nowhere() -> None:
    """Whoever asks first after its time is told so, whatever they ask."""
    app, watch = service()
    ask(app, event_path("s"), open_())
    assert ask(app, "/v1/sessions/s/status").status_code == 200
    watch.seconds += IDLE_S
    assert ask(app, "/v1/sessions/s/status").status_code == 404


def test_whatever_is_said_in_a_session_that_ended_allows_nothing() -> None:
    app, watch = service()
    *_, asked = (ask(app, event_path("s"), event) for event in ASKS)
    watch.seconds += IDLE_S
    digest = asked.json()["plan_digest"]
    late = [call("list_mail"), result("x"), yes(digest=digest), close(), ASKS[-1]]
    said = {"event": "said", "session": "s", "text": "go on"}
    for event in (*late, said):
        answer = ask(app, event_path("s"), event)
        assert answer.status_code == 409
        assert "has ended" in answer.json()["error"]["message"]
    assert ask(app, event_path("s"), open_()).status_code == 204
    assert ask(app, event_path("s"), yes(digest=digest)).status_code == 409
    assert ask(app, event_path("s"), call("list_mail")).json()["action"] == "allow"


def test_a_session_in_a_log_is_let_go_of_and_goes_on(tmp_path: Path, critic: Critic) -> None:
    """As the help of --max-idle says."""
    with SqlDecisionLog.open(tmp_path / "log.db") as log:
        app, watch = service(log, sessions=1)
        *_, asked = (ask(app, event_path("s"), event) for event in ASKS)
        watch.seconds += IDLE_S
        assert ask(app, event_path("t"), open_("t")).status_code == 204  # it makes room
        watch.seconds += IDLE_S
        said_yes = ask(app, event_path("s"), yes(digest=asked.json()["plan_digest"]))
        assert said_yes.json()["action"] == "allow"
    told = " ".join(critic("serve", "--help").out.split())
    assert "ends; with a log, it is let go of, and its next event goes on with it" in told


def test_the_others_go_on_and_one_that_ended_makes_room() -> None:
    app, watch = service(sessions=2)
    for name in ("old", "young"):
        assert ask(app, event_path(name), open_(name)).status_code == 204
        watch.seconds += IDLE_S / 2
    assert ask(app, event_path("new"), open_("new")).status_code == 204
    assert ask(app, event_path("next"), open_("next")).status_code == 429
    assert ask(app, event_path("young"), call("list_mail", "young")).status_code == 200
    assert "critic_open_sessions 2.0" in ask(app, "/metrics").text


def test_what_is_not_open_is_not_kept() -> None:
    app, watch = service(sessions=2)
    for number in range(10):
        path = event_path(f"s{number}")
        assert ask(app, path, call("list_mail", f"s{number}")).status_code == 409
        assert ask(app, path, open_(f"s{number}")).status_code == 204
        assert ask(app, path, close(f"s{number}")).status_code == 200
    watch.seconds += IDLE_S
    answer = ask(app, event_path("s1"), call("list_mail", "s1"))
    assert "is not open" in answer.json()["error"]["message"]


def test_of_many_that_ended_the_last_are_remembered() -> None:
    app, watch = service(sessions=3)
    for number in range(5):
        ask(app, event_path(f"s{number}"), open_(f"s{number}"))
        watch.seconds += IDLE_S
    told = [
        ask(app, event_path(name), call("list_mail", name)).json()["error"]["message"]
        for name in ("s0", "s1", "s2", "s3", "s4")
    ]
    assert ["has ended" in one for one in told] == [False, False, True, True, True]
