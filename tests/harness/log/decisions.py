"""Decisions to record, judged by the critic itself, and ways to get at a log behind its back.

Behind its back, statements have `?` for their values in both kinds of database.
"""

import atexit
import shutil
import sqlite3
import tempfile
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from critic.consolidate import consolidate
from critic.score import score
from critic.verify import verify_proposal
from evals.kinds import RecordedAction
from evals.plan import Proposal
from evals.plan_verdicts import Refused, Verified
from evals.run import Run
from harness.log.log_places import is_url
from harness.log.sql import SqlDecisionLog
from harness.record import Decision, RunFacts
from harness.record.parts import whole_of
from harness.wire import build
from tests.support.postgres import pg_rows

AS_OF = "2025-03-01T12:00:00Z"
NOON = datetime(2025, 3, 1, 12, tzinfo=UTC)

LogPlace = Path | str
"""The file of a log, or its URL."""


def proposal(number: int = 1, *, pinned: bool = True) -> Proposal:
    """Return a refund of order o-17; the critic refuses it if the evidence is not pinned."""
    refund = {"adapter_id": "payments", "capability_id": "refund"}
    read = {"adapter_id": "orders", "capability_id": "read"}
    evidence = {"evidence_refs": ["ev_1"]} if pinned else {}
    item: dict[str, Any] = {"id": "ev_1", "classification": "window", "content": {"order": "o-17"}}
    item["expires_at"] = "2025-04-01T00:00:00.5+02:00"
    value = {
        "ctx": {"trace_id": f"trace_{number}", "safety_mode": "destructive", "as_of": AS_OF},
        "compiled": {
            "manifests": {
                "tool_manifest": [
                    {
                        **refund,
                        "approval_mode": "destructive",
                        "requires_evidence": ["window"],
                        "bound_args": {"order": ["window"]},
                    },
                    {**read, "approval_mode": "read_only"},
                ],
                "evidence_manifest": [item],
            }
        },
        "spec": {"id": "refund", "required_outputs": ["receipt"]},
        "plan": {
            "steps": [
                {"kind": "tool", **read, "args": {"number": number, "share": 1.0}},
                {"kind": "tool", **refund, "args": {"order": "o-17"}, **evidence},
            ],
            "declared_outputs": ["receipt"],
        },
    }
    return build(Proposal, value)


def run_of(proposed: Proposal, number: int = 1, **over: Any) -> Run:
    """Return a run with every step called once as planned, or changed by `over`."""
    steps = proposed.wire()["plan"]["steps"]
    names = ("adapter_id", "capability_id", "args")
    calls = [
        {"step": place, "status": "completed", **{name: step[name] for name in names}}
        for place, step in enumerate(steps)
    ]
    facts = {"run_id": f"run_{number}", "trace_id": f"trace_{number}", "calls": calls}
    outputs = {"receipt": {"\ufb33": 1e21, "\U0001f600": "r\u00e9", "share": 1.0}}
    return build(Run, {**facts, "outputs": outputs, "proposal": proposed.wire(), **over})


def action_of(verdict: Verified | Refused) -> RecordedAction:
    """Return what the canonical loop makes of a plan."""
    return "allow" if verdict.ok else "refuse"


def decision(number: int = 1, *, kind: str = "completed", minutes: float | None = None) -> Decision:
    """Return a decision of one kind: completed, refused, partial (not executed) or ended_early."""
    proposed = proposal(number, pinned=kind != "refused")
    executed = None
    if kind in ("completed", "ended_early"):
        executed = run_of(proposed, number)
    if executed is not None and kind == "ended_early":
        executed = executed.model_copy(update={"calls": executed.calls[:1], "outputs": {}})
    scored = None if executed is None else score(executed)
    report = consolidate(
        trace_id=proposed.ctx.trace_id,
        decision_key=proposed.spec.id,
        verify=verify_proposal(proposed),
        score=scored,
        decided_at=NOON + timedelta(minutes=number if minutes is None else minutes),
    )
    optional = {
        "run": None if executed is None else RunFacts.of(executed),
        "error": "TimeoutError: payments" if kind == "ended_early" else None,
    }
    given: dict[str, Any] = {name: value for name, value in optional.items() if value is not None}
    return Decision(proposal=proposed, report=report, action=action_of(report.verify), **given)


def judged(proposed: Proposal, executed: Run | None = None, **more: Any) -> Decision:
    """Return the decision that the critic makes of a proposal and its run."""
    verdict = verify_proposal(proposed)
    optional = {} if executed is None else {"run": RunFacts.of(executed)}
    scored = score(executed) if executed is not None and verdict.ok else None
    report = consolidate(
        trace_id=proposed.ctx.trace_id,
        decision_key=proposed.spec.id,
        verify=verdict,
        score=scored,
        decided_at=NOON,
    )
    given: dict[str, Any] = {**optional, **more}
    return Decision(proposal=proposed, report=report, action=action_of(report.verify), **given)


KINDS = ("completed", "refused", "partial", "ended_early")


def filled(path: LogPlace, count: int = 8, *, kinds: tuple[str, ...] = KINDS) -> SqlDecisionLog:
    """Return a new log of `count` decisions of alternating kinds: a copy, if it is a file."""
    if isinstance(path, Path) and not path.exists():
        shutil.copyfile(_pattern(count, kinds), path)
        return SqlDecisionLog.open(path)
    return _append(SqlDecisionLog.open(path), count, kinds)


@cache
def _pattern(count: int, kinds: tuple[str, ...]) -> Path:
    """Return a closed log to be copied: to judge and sync the same decisions anew takes longer."""
    folder = Path(tempfile.mkdtemp(prefix="critic-pattern-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    _append(SqlDecisionLog.open(folder / "log"), count, kinds).close()
    return folder / "log"


def _append(log: SqlDecisionLog, count: int, kinds: tuple[str, ...]) -> SqlDecisionLog:
    log.append_all(decision(n, kind=kinds[n % len(kinds)]) for n in range(1, count + 1))
    return log


def query(place: LogPlace, sql: str, *values: object) -> list[Any]:
    """Return what the database itself answers."""
    if is_url(place):
        sql = sql.replace("%", "%%").replace("?", "%s") if values else sql
        return pg_rows(str(place), sql, values=values)
    with closing(sqlite3.connect(place, isolation_level=None)) as connection:
        return connection.execute(sql, values).fetchall()


def meddle(place: LogPlace, *statements: tuple[str, tuple[object, ...]]) -> None:
    """Run statements behind the log's back, with its triggers away for a while."""
    if is_url(place):
        _meddle_postgres(str(place), statements)
        return
    with closing(sqlite3.connect(place, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = OFF")  # who meddles need not survive a crash
        triggers = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
        texts = dict(triggers.fetchall())
        for name in texts:
            connection.execute(f"DROP TRIGGER {name}")
        for sql, values in statements:
            connection.execute(sql, values)
        for text in texts.values():
            connection.execute(text)


def _meddle_postgres(url: str, statements: Sequence[tuple[str, tuple[object, ...]]]) -> None:
    triggers = query(
        url,
        "SELECT c.relname, t.tgname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid "
        "WHERE c.relnamespace = current_schema()::regnamespace",
    )
    pg_rows(url, *(f"ALTER TABLE {table} DISABLE TRIGGER {name}" for table, name in triggers))
    for sql, values in statements:
        query(url, sql, *values)
    pg_rows(url, *(f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {name}" for table, name in triggers))


def body_of(place: LogPlace, seq: int) -> bytes:
    """Return the bytes of a record, with its parts in their places."""
    return _whole(place, bytes(query(place, "SELECT body FROM records WHERE seq = ?", seq)[0][0]))


def input_of(place: LogPlace, digest: str) -> bytes:
    """Return the bytes of an input, with its parts in their places."""
    return _whole(
        place, bytes(query(place, "SELECT body FROM inputs WHERE digest = ?", digest)[0][0])
    )


def _whole(place: LogPlace, body: bytes) -> bytes:
    whole = whole_of(body, dict(query(place, "SELECT digest, body FROM inputs"))).data
    return body if whole is None else whole


def put_body(place: LogPlace, seq: int, body: bytes) -> None:
    """Other bytes in the place of a record's."""
    meddle(place, ("UPDATE records SET body = ? WHERE seq = ?", (body, seq)))
