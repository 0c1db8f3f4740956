"""Ready is who would record: before, during and after a failure of the log, whatever it is.

Meanwhile nothing is allowed, nobody is told where the log is, and no restart is needed.
"""

import json
import resource
import signal
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest

from harness.log import (
    LogBusy,
    LogDamaged,
    LogError,
    LogFull,
    LogUnavailable,
    LogWriteFailed,
    NotALog,
    SqlDecisionLog,
    Unrecordable,
)
from harness.record import BegunRecord
from harness.replay import check_log, replay
from harness.serve.log_faults import LOG_FAULTS, log_fault
from tests.harness.log.faults import disk_error, replace_commits
from tests.harness.serve.asking import ServiceProcess, app_of, ask, event_path, serving
from tests.harness.serve.test_failures import ASKED, allows
from tests.support.examples import good_proposal, is_safe
from tests.support.guarding import call, close, desk, open_, result
from tests.support.postgres import OWNER, PostgresServer, pg_rows, postgres_server

PLACE = "ada@db.internal:5432/audit"
FAULTS = (
    *(LogBusy, LogDamaged, LogError, LogFull, LogUnavailable, LogWriteFailed, NotALog),
    Unrecordable,
)
DOORS = [*ASKED, (event_path("s"), call("list_mail")), (event_path("t"), open_("t"))]


RIGHTS = ("INSERT ON records", "INSERT ON claims", "SELECT ON records", "DELETE ON session_journal")


class Watch:
    """A clock that stands still until it is set."""

    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


class FailingLog(SqlDecisionLog):
    """A log that raises what it is told to, and counts the rehearsals."""

    failure: LogError | None = None
    rehearsals = 0

    failures = 0

    def _fail(self) -> None:
        """Fail in other words each time, as databases do."""
        if self.failure is not None:
            self.failures += 1
            raise type(self.failure)(f"{self.failure} ({self.failures})")

    def append(self, decision: Any) -> Any:
        self._fail()
        return super().append(decision)

    def append_all(self, entries: Any) -> Any:
        self._fail()
        return super().append_all(entries)

    def append_step(self, entries: Any, step: Any) -> Any:
        self._fail()
        return super().append_step(entries, step)

    def claims(self, claims: Any) -> Any:
        self._fail()
        return super().claims(claims)

    def rehearse(self) -> Any:
        self.rehearsals += 1
        self._fail()
        return super().rehearse()


def assert_sound(place: Path | str, told: Counter[str] | None = None) -> None:
    """Check that a log is whole, and holds each trace that was acknowledged, once."""
    with SqlDecisionLog.open_for_reading(place) as log:
        assert check_log(log).text() == ""
        assert {answer.status for answer in replay(log)} <= {"same", "open"}
        stored = Counter(record.report.trace_id for record in log.records())
    assert told is None or {trace: stored[trace] for trace in told} == dict(told)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda kind: kind.__name__)
def test_each_failure_is_told_in_words_of_its_own_which_name_no_log(
    fault: type[LogError], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log, watch = FailingLog.open(tmp_path / "log"), Watch()
    app = app_of(desk(), log=log, monotonic=watch)
    assert ask(app, event_path("s"), open_()).status_code == 204
    assert ask(app, "/readyz").status_code == 200
    log.failure, watch.seconds = fault(f"{PLACE}: it failed"), 1.0
    told = log_fault(log.failure)
    before = log.head()
    for path, body in DOORS:
        answer = ask(app, path, body)
        assert answer.status_code == (207 if "batch" in path else told.status), path
        assert told.told in answer.text
        assert PLACE not in answer.text
        assert not allows(answer.json())
        if answer.status_code == 503:
            assert answer.headers["retry-after"] == "1"
    ready = ask(app, "/readyz")
    assert (ready.status_code, ready.headers["retry-after"]) == (503, "1")
    assert ready.json()["error"]["message"] == told.told
    assert ask(app, "/healthz").status_code == 200
    counted = f'critic_errors_total{{kind="{told.kind}"}} {len(DOORS)}.0'
    assert counted in ask(app, "/metrics").text
    log.failure = None
    assert log.head() == before
    assert ask(app, *DOORS[0]).status_code == 200
    watch.seconds = 2.0
    assert ask(app, "/readyz").status_code == 200
    lines = capsys.readouterr().err.splitlines()
    if fault is Unrecordable:  # of which each is the fault of a request
        assert len(lines) > len(DOORS)
        assert all(PLACE in line for line in lines)
    else:
        first = f"critic: log: {PLACE}: it failed (1)"
        assert lines == [first, "critic: log: it takes appends again"]


def derived(kind: type[LogError]) -> Iterator[type[LogError]]:
    """Yield the errors of logs that the project has, below one."""
    for one in kind.__subclasses__():
        if one.__module__.startswith("harness."):
            yield one
        yield from derived(one)


def test_the_words_of_the_failures_are_one_line_each_and_all_differ() -> None:
    assert len({log_fault(kind()) for kind in FAULTS}) == len(LOG_FAULTS)
    assert {*FAULTS} == {LogError, *derived(LogError)}
    assert len({fault.told for fault in LOG_FAULTS}) == len({f.kind for f in LOG_FAULTS})
    for fault in LOG_FAULTS:
        assert is_safe(fault.told)
        assert not set(fault.told) & set("/\\@'\"")


def test_a_thousand_looks_in_a_second_are_one(tmp_path: Path) -> None:
    log, watch = FailingLog.open(tmp_path / "log"), Watch()
    app = app_of(log=log, monotonic=watch)
    before = (tmp_path / "log").read_bytes()
    for second in range(3):
        watch.seconds = second
        for _ in range(10):
            assert ask(app, "/readyz").status_code == 200
            assert ask(app, "/health/ready").status_code == 200
            watch.seconds += 0.09
        assert log.rehearsals == second + 1
    assert (tmp_path / "log").read_bytes() == before


@pytest.mark.parametrize("path", ["none/log", "folder"])
def test_a_log_that_cannot_be_opened_yet_is_opened_once_it_can_be(
    tmp_path: Path, path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    place, watch, tries = tmp_path / path, Watch(), list[float]()
    (tmp_path / "folder").mkdir()

    def open_log() -> SqlDecisionLog:
        tries.append(watch.seconds)
        return SqlDecisionLog.open(place)

    app = app_of(desk(), log=open_log, monotonic=watch)
    for _ in range(2):
        for door in [*DOORS[:3], DOORS[-1]]:
            answer = ask(app, *door)
            assert answer.status_code == 503
            assert not allows(answer.json())
        assert ask(app, "/readyz").status_code == 503
    assert tries == [0.0]
    (tmp_path / "folder").rmdir()
    place.parent.mkdir(exist_ok=True)
    watch.seconds = 1.0
    assert ask(app, "/readyz").status_code == 200
    assert ask(app, *DOORS[0]).status_code == 200
    app.close()
    assert tries == [0.0, 1.0]
    assert_sound(place)
    assert str(tmp_path) in capsys.readouterr().err


def test_while_a_log_is_being_opened_all_others_are_told_at_once(tmp_path: Path) -> None:
    began, ends, tries = threading.Event(), threading.Event(), count()

    def open_log() -> SqlDecisionLog:
        next(tries)
        began.set()
        ends.wait(60)
        return SqlDecisionLog.open(tmp_path / "log")

    app, answers = app_of(desk(), log=open_log), list[int]()
    first = threading.Thread(target=lambda: answers.append(ask(app, *DOORS[0]).status_code))
    first.start()
    assert began.wait(60)
    for door in DOORS[:3]:
        assert ask(app, *door).status_code == 503
    assert answers == []
    ends.set()
    first.join()
    assert answers == [200]
    assert ask(app, *DOORS[1]).status_code == 200
    assert next(tries) == 1
    app.close()


@pytest.mark.parametrize("lost", ["changed", "put back", "locked"])
def test_a_log_that_is_not_as_it_was_left_is_not_gone_on_with(tmp_path: Path, lost: str) -> None:
    place, watch = tmp_path / "log", Watch()
    SqlDecisionLog.open(place).close()
    empty = place.read_bytes()
    log = SqlDecisionLog.open(place, timeout=0.05)
    app = app_of(desk(), log=log, monotonic=watch)
    assert ask(app, "/v1/verify", good_proposal()).status_code == 200
    kept = place.read_bytes()
    with closing(sqlite3.connect(place, isolation_level=None)) as other:
        if lost == "changed":
            other.execute("CREATE TABLE extra (a)")
        elif lost == "locked":
            other.execute("BEGIN IMMEDIATE")
        else:
            place.with_name("empty").write_bytes(empty)
            place.with_name("empty").rename(place)
        for _ in range(2):
            watch.seconds += 1
            assert ask(app, "/readyz").status_code == 503
            assert ask(app, "/v1/verify", good_proposal()).status_code == 503
    place.with_name("kept").write_bytes(kept)
    place.with_name("kept").rename(place)
    watch.seconds += 1
    assert ask(app, "/readyz").status_code == 200
    assert ask(app, "/v1/verify", good_proposal()).status_code == 200
    assert_sound(place)


@pytest.mark.parametrize("end", ["kept", "lost"])
def test_an_event_whose_commit_failed_is_sent_again_and_not_made_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    place = tmp_path / "log"
    log = SqlDecisionLog.open(place)
    app, path = app_of(desk(), log=log), event_path("s")

    def failing(commit: Callable[[], None]) -> None:
        if end == "kept":
            commit()
        raise disk_error(place)

    def send(event: Any, *, fails: bool = False) -> int:
        log._store.close()  # so that the next connection is one whose commits fail
        with monkeypatch.context() as patch:
            if fails:
                replace_commits(patch, failing)
            return ask(app, path, event).status_code

    assert [send(open_(), fails=True), send(open_())] == [503, 204]
    assert [send(call("list_mail", id="a"), fails=True), send(call("list_mail", id="b"))] == [
        *(503, 200),
    ]
    assert send(result("x", id="b"), fails=True) == 503
    assert send(result("x", id="b")) == (409 if end == "kept" else 204)
    assert send(call("list_mail", id="c")) == 200
    assert send(result("x", id="c")) == 204
    assert send(close()) == 200
    assert_sound(place)
    with SqlDecisionLog.open_for_reading(place) as stored:
        ran = [one.run.calls[0].status for one in stored.records() if one.run is not None]
        begun = [one for one in stored.entries() if isinstance(one, BegunRecord)]
    assert ran.count("completed") == 2
    assert len(begun) == len(ran) == (3 if end == "kept" else 2)


def until(condition: Callable[[], bool], seconds: float = 60) -> None:
    """Return once a condition holds."""
    for _ in range(int(seconds / 0.05)):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("it never holds")


def is_ready(service: ServiceProcess) -> bool:
    with service.client() as client:
        return client.get("/readyz").status_code == 200


@pytest.mark.slow
def test_a_service_on_a_full_disk_goes_on_once_there_is_space(tmp_path: Path) -> None:
    place, told = tmp_path / "audit.db", Counter[str]()
    with serving("--log", place, "--port", "0", folder=tmp_path) as service:

        def verify(trace: str) -> int:
            body = good_proposal()
            body["ctx"]["trace_id"] = trace
            body["plan"]["steps"][0]["args"] = {"note": trace * 2000}
            with service.client() as client:
                status = client.post("/v1/verify", json=body).status_code
            told.update([trace] if status == 200 else [])
            return status

        assert verify("t0") == 200
        limit_size(service, place.stat().st_size + 40_000)
        statuses = [verify(f"t{number}") for number in range(1, 9)]
        assert statuses == sorted(statuses)
        assert set(statuses) == {200, 503}
        until(lambda: not is_ready(service))
        assert verify("full") == 503
        limit_size(service, resource.RLIM_INFINITY)
        until(lambda: is_ready(service))
        assert verify("after") == 200
        status, _, err = service.stop()
    assert status == 0
    assert err.count(str(place)) == 1
    assert "full" not in told
    assert_sound(place, told)


def limit_size(service: ServiceProcess, size: int) -> None:
    """Let no file of a service grow beyond a size, as a full disk would: the kernel sees to it."""
    _, most = resource.prlimit(service.process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(service.process.pid, resource.RLIMIT_FSIZE, (size, most))


@pytest.fixture
def fragile() -> Iterator[PostgresServer]:
    """Return a server of the test's own, which it may stop and start."""
    with postgres_server() as server:
        yield server


class Load:
    """Programs that ask a service without pause, in sessions and with documents.

    Attributes:
        told: the traces of documents that were answered with 200, and how often.
        allowed: the sessions whose call was allowed.
        statuses: of all answers, with how often each came.
    """

    def __init__(self, service: ServiceProcess, programs: int) -> None:
        self.told, self.statuses = Counter[str](), Counter[int]()
        self.allowed = set[str]()
        self._service, self._ended = service, threading.Event()
        self._threads = [threading.Thread(target=self._ask, args=(n,)) for n in range(programs)]

    def __enter__(self) -> "Load":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join()

    def _ask(self, program: int) -> None:
        with self._service.client(timeout=60) as client:
            for number in count():
                if self._ended.is_set():
                    return
                self._verify(client, f"t{program}_{number}")
                self._hold(client, f"s{program}_{number}")

    def _verify(self, client: httpx.Client, trace: str) -> None:
        body = good_proposal()
        body["ctx"]["trace_id"] = trace
        if self._post(client, "/v1/verify", body).status_code == 200:
            self.told[trace] += 1

    def _hold(self, client: httpx.Client, session: str) -> None:
        path = event_path(session)
        if self._post(client, path, open_(session)).status_code != 204:
            return
        answer = self._post(client, path, call("list_mail", session))
        if answer.status_code == 200:
            assert answer.json()["action"] == "allow"
            self.allowed.add(session)

    def _post(self, client: httpx.Client, path: str, body: Any) -> httpx.Response:
        answer = client.post(path, content=json.dumps(body))
        self.statuses[answer.status_code] += 1
        assert answer.status_code in (200, 204, 503), answer.text
        assert answer.status_code != 503 or answer.headers["retry-after"] == "1"
        assert answer.status_code == 200 or not (answer.content and allows(answer.json()))
        return answer


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGQUIT], ids=["stopped", "crashed"])
def test_a_service_whose_server_goes_away_under_load_goes_on_by_itself(
    fragile: PostgresServer, tmp_path: Path, by: signal.Signals
) -> None:
    url, policy = fragile.url(), tmp_path / "critic.json"
    policy.write_text(json.dumps(desk()))
    options = ("--policy", policy, "--log", url, "--port", "0")
    with serving(*options, folder=tmp_path) as service, Load(service, 4) as load:
        for _ in range(4):
            until(lambda: is_ready(service))
            before = load.statuses[200]
            until(lambda before=before: load.statuses[200] > before + 20)  # type: ignore[misc]
            fragile.stop(by)
            refused = load.statuses[503]
            until(lambda refused=refused: load.statuses[503] > refused + 20)  # type: ignore[misc]
            until(lambda: not is_ready(service))
            with service.client() as client:
                assert client.get("/healthz").status_code == 200
            fragile.start()
        until(lambda: is_ready(service))
        before = load.statuses[200]
        until(lambda: load.statuses[200] > before + 20)
    assert_sound(url, load.told)
    with SqlDecisionLog.open_for_reading(url) as log:
        stored = Counter(record.report.trace_id for record in log.records())
        begun = Counter(one.trace_id for one in log.entries() if isinstance(one, BegunRecord))
    assert load.allowed
    # Two of one trace are a commit whose answer was lost, and the same asked again: none is here.
    assert max(stored.values()) == 1
    assert all(stored[session] == begun[session] == 1 for session in load.allowed)


@pytest.mark.slow
def test_a_service_starts_before_its_server_and_is_ready_after_it(
    fragile: PostgresServer, tmp_path: Path
) -> None:
    url = fragile.url()
    fragile.stop()
    with serving("--log", url, "--port", "0", folder=tmp_path) as service:
        with service.client() as client:
            for _ in range(3):
                answer = client.post("/v1/verify", json=good_proposal())
                assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
                assert str(fragile.folder) not in answer.text
            assert not is_ready(service)
        fragile.start()
        until(lambda: is_ready(service))
        with service.client() as client:
            assert client.post("/v1/verify", json=good_proposal()).status_code == 200
        status, _, err = service.stop()
    assert status == 0
    assert "it takes appends again" in err
    assert_sound(url)


@pytest.mark.parametrize("right", RIGHTS)
def test_who_may_not_append_to_a_log_is_not_ready(
    postgres: PostgresServer, tmp_path: Path, right: str
) -> None:
    url = postgres.url()
    SqlDecisionLog.open(url).close()
    with suppress(Exception):  # there since the last test
        postgres.do("CREATE ROLE critic_limited LOGIN")
    schema = pg_rows(url, "SELECT current_schema()")[0][0]
    every = f"SELECT, INSERT, DELETE ON ALL TABLES IN SCHEMA {schema}"
    postgres.do(f"GRANT USAGE ON SCHEMA {schema} TO critic_limited")
    postgres.do(f"GRANT {every} TO critic_limited")
    limited = url.replace(f"{OWNER}@", "critic_limited@")
    watch = Watch()
    app = app_of(desk(), log=SqlDecisionLog.open(limited), monotonic=watch)
    assert ask(app, "/readyz").status_code == 200
    table = right.partition(" ON ")
    postgres.do(f"REVOKE {table[0]} ON {schema}.{table[2]} FROM critic_limited")
    watch.seconds = 1.0
    answer = ask(app, "/readyz")
    assert (answer.status_code, ask(app, "/healthz").status_code) == (503, 200)
    assert "critic_limited" not in answer.text
    if "records" in right:  # the decision on a document has no claims, and is of no session
        assert ask(app, "/v1/verify", good_proposal()).status_code == 503
    postgres.do(f"GRANT {every} TO critic_limited")
    watch.seconds = 2.0
    assert ask(app, "/readyz").status_code == 200
    assert_sound(url)
