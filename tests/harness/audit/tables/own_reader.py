"""A reader of logs that shares nothing with the project: the rows of SQLite, and JSON.

It answers the questions of an auditor in plain Python, to compare the answers of the commands with.
"""

import json
import re
import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

Json = dict[str, Any]


@dataclass
class OwnTurn:
    """The records of a turn, and what it was about."""

    seq: int
    plan: Json
    digest: str | None
    records: list[Json] = field(default_factory=list)
    contexts: list[Json] = field(default_factory=list)
    compiled: Json = field(default_factory=dict)
    fate: str = ""

    @property
    def session(self) -> str | None:
        return str(self.contexts[0]["session"]["id"]) if "session" in self.contexts[0] else None

    @property
    def when(self) -> str:
        first = self.records[0]
        return str(first["report"]["decided_at"] if "report" in first else first["begun_at"])

    @property
    def made(self) -> list[Json]:
        return [call for one in self.records for call in (one.get("run") or {}).get("calls", [])]

    @property
    def settled(self) -> str | None:
        """How a person settled an execution, if no result came in after all."""
        said = [one["outcome"] for one in self.records if one.get("kind") == "settled"]
        return said[-1] if said and not any("run" in one for one in self.records) else None

    @property
    def answers(self) -> list[Json]:
        return [one["answer"] for one in self.records if "answer" in one]

    @property
    def tools(self) -> list[str]:
        return [f"{one['adapter_id']}/{one['capability_id']}" for one in self.plan["steps"]]

    @property
    def trace(self) -> str:
        return str(self.contexts[0]["trace_id"])


def read_log(path: Path) -> list[OwnTurn]:
    """Return the turns of a log, in the order of their first records."""
    with closing(sqlite3.connect(path)) as database:
        stored = dict(database.execute("SELECT digest, body FROM inputs"))
        rows = database.execute("SELECT seq, body FROM records ORDER BY seq").fetchall()

    def whole(body: bytes) -> bytes:
        out, at = b"", body.find(b"\0")
        while at >= 0:
            digest = body[at + 1 : at + 33].hex()
            out, body = out + body[:at] + whole(stored[digest]), body[at + 33 :]
            at = body.find(b"\0")
        return out + body

    turns: dict[Any, OwnTurn] = {}
    ended = set[str]()
    for seq, body in rows:
        record = json.loads(whole(body))
        if "inputs" not in record:  # it is of no turn
            continue
        named = record["inputs"]
        ctx, plan = (json.loads(whole(stored[named[name]])) for name in ("ctx", "plan"))
        key = ctx["trace_id"], ctx.get("session", {}).get("turn"), named["plan"]
        turn = turns.setdefault(key, OwnTurn(seq, plan, named["plan"]))
        turn.records.append(record)
        turn.contexts.append(ctx)
        turn.compiled = json.loads(whole(stored[named["compiled"]]))
        ended.add(record.get("begun", ""))
    for turn in turns.values():
        turn.fate = _fate(turn, ended)
    return list(turns.values())


def _fate(turn: OwnTurn, ended: set[str]) -> str:
    actions = {one["action"] for one in turn.records}
    answers = {one["answer"] for one in turn.answers}
    if any(_stray(turn, call) for call in turn.made) or (
        turn.made and not actions & {"allow", "shadow"}
    ):
        return "ran_although_refused"
    if any(one.get("kind") == "begun" and one["hash"] not in ended for one in turn.records):
        return "open"
    if "shadow" in actions:
        return "refused" if turn.settled == "not_run" else "ran_in_shadow"
    return _fate_of_allowed(turn) if "allow" in actions else _fate_of_refused(actions, answers)


def _fate_of_refused(actions: set[str], answers: set[str]) -> str:
    if answers & {"no", "lapsed"}:
        return "asked_no"
    return "asked_open" if "ask" in actions and not answers else "refused"


def _fate_of_allowed(turn: OwnTurn) -> str:
    steps = {call["step"] for call in turn.made}
    if turn.settled == "unknown":
        return "ran_in_part"
    if turn.settled == "ran":
        return "ran_after_yes" if approvals(turn) else "ran"
    if not steps:
        return "not_run"
    if len(steps) < len(turn.plan["steps"]) or any(c["status"] != "completed" for c in turn.made):
        return "ran_in_part"
    return "ran_after_yes" if approvals(turn) else "ran"


def _stray(turn: OwnTurn, call: Json) -> bool:
    step = turn.plan["steps"][call["step"]]
    return any(call[name] != step[name] for name in ("capability_id", "adapter_id", "args"))


def approvals(turn: OwnTurn) -> dict[str, str]:
    """Return who approved the plan of a turn, by the ids of the approvals."""
    return {
        one["approval_id"]: one["approver"]
        for ctx in turn.contexts
        for one in ctx.get("approvals", [])
        if one["plan_digest"].endswith(str(turn.digest))
    }


def used_approvals(turn: OwnTurn) -> set[str]:
    """Return the approvals that the execution of a turn relied on."""
    return {
        one["approval_id"]
        for record in turn.records
        if record.get("kind") == "begun"
        for one in record.get("approvals", [])
    }


def tier_of(turn: OwnTurn, step: Json) -> str | None:
    for tool in turn.compiled["manifests"]["tool_manifest"]:
        if all(tool[name] == step[name] for name in ("adapter_id", "capability_id")):
            return str(tool["approval_mode"])
    return None


def money(value: Any, *, cents: bool) -> float:
    """Return an amount as a number of whole units."""
    number = float(value.replace(",", "")) if isinstance(value, str) else float(value)
    return number / 100 if cents else number


def stale_items(turn: OwnTurn) -> Iterator[str]:
    """Yield the items that had expired and that the turn pinned, or that hold an argument."""
    now = turn.contexts[-1].get("as_of")
    pinned = {ref for step in turn.plan["steps"] for ref in step.get("evidence_refs", [])}
    for item in turn.compiled["manifests"]["evidence_manifest"]:
        expires = item.get("expires_at")
        if now is None or expires is None or _time(expires) > _time(now):
            continue
        if item["id"] in pinned or holds(turn, item):
            yield item["id"]


def holds(turn: OwnTurn, item: Json) -> bool:
    """Return whether an argument of the turn stands in an item, as a word."""
    text = json.dumps(item.get("content"), ensure_ascii=False)
    values = [str(one) for step in turn.plan["steps"] for one in step["args"].values()]
    return any(
        re.search(rf"(?<![A-Za-z0-9]){re.escape(one)}(?![A-Za-z0-9])", text)
        for one in values
        if len(one) >= 3
    )


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def week_of(turn: OwnTurn) -> str:
    year, week, _ = _time(turn.when).isocalendar()
    return f"{year}-W{week:02}"


def counts(pairs: Iterator[tuple[Any, bool]]) -> dict[Any, tuple[int, int]]:
    """Return how many there are of each key, and for how many it is so."""
    found: dict[Any, list[int]] = defaultdict(lambda: [0, 0])
    for key, is_so in pairs:
        found[key][0] += 1
        found[key][1] += is_so
    return {key: (every, some) for key, (every, some) in found.items()}
