"""Read a log by SQLite and JSON alone, and say what became of its turns: no code of the project.

It follows the table of fates in words, one record after the other, where the project joins bits.
"""

import json
import sqlite3
from pathlib import Path
from typing import Any, NamedTuple

Json = dict[str, Any]


class ReadTurn(NamedTuple):
    """A turn: the numbers of its records, what became of it, who answered, and how it was asked."""

    records: list[int]
    fate: str
    approver: str | None
    asked: bool
    overruled: bool


class PlainReader:
    """The records of a log and their inputs, as JSON."""

    def __init__(self, path: Path) -> None:
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
            self._stored = dict(database.execute("SELECT digest, body FROM inputs"))
            rows = database.execute("SELECT body FROM records ORDER BY seq").fetchall()
        self.records: list[Json] = [json.loads(self._whole(body)) for (body,) in rows]

    def _whole(self, body: bytes) -> bytes:
        before, mark, after = body.partition(b"\0")
        if not mark:
            return before
        return before + self._whole(self._stored[after[:32].hex()]) + self._whole(after[32:])

    def _input(self, record: Json, name: str) -> Any:
        if "inputs" not in record:
            return None
        return json.loads(self._whole(self._stored[record["inputs"][name]]))

    def turns(self) -> list[ReadTurn]:
        """Return the turns, by their first records."""
        grouped: dict[Any, list[Json]] = {}
        for record in self.records:
            if record.get("kind") == "closed":  # it is of no turn
                continue
            ctx = self._input(record, "ctx") or {}
            trace = record.get("report", record).get("trace_id")
            plan = record.get("inputs", {}).get("plan")
            turn = ctx.get("session", {}).get("turn")
            grouped.setdefault((trace, turn, plan), []).append(record)
        return [self._turn(records) for records in grouped.values()]

    def _turn(self, records: list[Json]) -> ReadTurn:
        answers = [one["answer"] for one in records if "answer" in one]
        approvers = [one["approver"] for one in answers if "approver" in one]
        verdicts = [one["report"]["verify"]["ok"] for one in records if "report" in one]
        asked = any(one.get("action") == "ask" for one in records)
        numbers = [one["seq"] for one in records]
        named = approvers[-1] if approvers else None
        return ReadTurn(numbers, self._fate(records), named, asked, False in verdicts)

    def _fate(self, records: list[Json]) -> str:
        actions = {one.get("action") for one in records}
        plan = self._input(records[0], "plan") or {"steps": []}
        calls = [call for one in records for call in one.get("run", {}).get("calls", [])]
        if calls and (not actions & {"allow", "shadow"} or _strays(calls, plan["steps"])):
            return "ran_although_refused"
        ended = {one.get("begun") for one in self.records}
        if any(one.get("kind") == "begun" and one["hash"] not in ended for one in records):
            return "open"
        if any(one.get("kind") == "critic_error" for one in records) and not calls:
            return "failed"
        if "shadow" in actions:
            return "ran_in_shadow"
        return self._ruled(records, calls, plan["steps"])

    def _ruled(self, records: list[Json], calls: list[Json], steps: Any) -> str:
        answers = {one["answer"]["answer"] for one in records if "answer" in one}
        if not any(one.get("action") == "allow" for one in records):
            return _not_allowed(records, answers)
        if not calls:
            return "asked_no" if answers & {"no", "lapsed"} else "not_run"
        return self._ran(records, calls, steps, answers)

    def _ran(self, records: list[Json], calls: list[Json], steps: Any, answers: set[str]) -> str:
        planned = {at for at, step in enumerate(steps) if step["kind"] == "tool"}
        if any(call["status"] != "completed" for call in calls):
            return "ran_in_part"
        if planned - {call["step"] for call in calls}:
            return "ran_in_part"
        of_plan = [
            one
            for record in records
            for one in self._input(record, "ctx").get("approvals", [])
            if one["plan_digest"].removeprefix("sha256:") == record["inputs"]["plan"]
        ]
        return "ran_after_yes" if of_plan or "yes" in answers else "ran"


def _not_allowed(records: list[Json], answers: set[str]) -> str:
    refused = [one for one in records if one.get("action") == "refuse" and "answer" not in one]
    if refused:
        return "refused"
    return "asked_no" if answers else "asked_open"


def _strays(calls: list[Json], steps: list[Json]) -> bool:
    names = ("adapter_id", "capability_id", "args")
    return any(
        call["step"] >= len(steps)
        or any(
            json.dumps(call[name], sort_keys=True)
            != json.dumps(steps[call["step"]].get(name), sort_keys=True)
            for name in names
        )
        for call in calls
    )
