"""Logs to search: decisions of every kind, an execution that began, a failure, a session."""

import atexit
import shutil
import tempfile
from datetime import timedelta
from functools import cache
from pathlib import Path

from evals.run import Run
from harness.log.log_places import is_url
from harness.log.sql import SqlDecisionLog
from harness.record import Begun, CriticError
from harness.wire import build
from tests.harness.log.decisions import NOON, LogPlace, filled, judged, proposal, run_of
from tests.harness.replay.session_logs import EVENTS
from tests.support.guarding import answers_to, desk, guard_of


def spending(number: int, **taken: int) -> Run:
    """Return a run with a budget, and with what it took."""
    value = proposal(number).wire()
    value["ctx"] |= {"run_budget": {"max_steps": 9, "cost_micros": 500, "wall_ms": 1000}}
    return run_of(build(type(proposal()), value), number, **taken)


def varied(path: LogPlace) -> SqlDecisionLog:
    """Return a log with records of every kind. A file is a copy: each test begins with the same."""
    if is_url(path):
        return _made(path)
    shutil.copyfile(_pattern(), path)
    return SqlDecisionLog.open(path)


@cache
def _pattern() -> Path:
    """Return a log to be copied."""
    folder = Path(tempfile.mkdtemp(prefix="critic-pattern-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    _made(folder / "log").close()
    return folder / "log"


def _made(path: LogPlace) -> SqlDecisionLog:
    log = filled(path)
    begun = log.begin(Begun(proposal=proposal(20), begun_at=NOON + timedelta(days=1)))
    log.append(judged(proposal(20), run_of(proposal(20), 20), begun=begun.hash))
    log.begin(Begun(proposal=proposal(21), begun_at=NOON + timedelta(days=2)))
    long_ago = NOON - timedelta(days=40_000)
    log.append_error(CriticError(asked={"a": 1}, where="=cmd|' /C calc'!A0", failed_at=long_ago))
    for number, cost in ((31, 400), (32, 900)):
        run = spending(number, cost_micros=cost, wall_ms=cost * 2, tokens=7)
        log.append(judged(run.proposal, run))
    answers_to(guard_of(desk(), log=log), EVENTS)
    return log
