"""The rows that one turn has in each table. Pure.

It reads parsed JSON and is total: what is not there, or is not what it should be, is None.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, Final, NamedTuple

import orjson

from evals.kinds import MODE_RANK
from evals.timestamps import parse_time
from harness.audit.tables.table_columns import Row, TableName
from harness.canonical import canonical_json
from harness.log.search.turns import TurnRecords
from harness.record import RecordFacts
from harness.record.index_row import IndexRow, time_of
from harness.record.members import elements_of, member_of
from harness.record.record_facts import planned_step

_NUMBER: Final = re.compile(
    r"(?:[$€£¥₹]|[A-Z]{3} )?([+-]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][+-]?\d{1,3})?)",
    re.ASCII,
)
"""A text that is a number: with its currency before it, or commas between thousands."""

_SHORTEST: Final = 3  # characters of a value that is looked for in evidence


class ReadRecord(NamedTuple):
    """A record with its inputs as JSON; None for what cannot be had.

    Attributes:
        own_hash: its hash.
        hidden: the inputs and members that it has and that cannot be had: they were taken out.
    """

    row: IndexRow
    own_hash: str
    wire: Mapping[str, Any]
    ctx: Any
    plan: Any
    hidden: frozenset[str] = frozenset()


class ContextFacts(NamedTuple):
    """What a context says of tools and evidence: tiers by tool, and its items."""

    tiers: Mapping[tuple[str, str], str]
    items: Sequence[Any]


NO_CONTEXT: Final = ContextFacts({}, ())
"""What is said where there is no context."""


def context_facts(compiled: Any) -> ContextFacts:
    """Return what a compiled context says, as parsed JSON."""
    manifests = member_of(compiled, "manifests")
    tools = elements_of(member_of(manifests, "tool_manifest"))
    tiers = {
        (member_of(one, "adapter_id"), member_of(one, "capability_id")): one["approval_mode"]
        for one in tools
        if isinstance(member_of(one, "approval_mode"), str)
    }
    return ContextFacts(tiers, elements_of(member_of(manifests, "evidence_manifest")))


def rows_of_turn(
    turn: TurnRecords, records: Sequence[ReadRecord], context: ContextFacts, upto: int
) -> dict[TableName, list[Row]]:
    """Return the rows of a turn in each table.

    Args:
        turn: its records, and what became of it.
        records: those of them that can be read, in order; at least one.
        context: what its last record could see.
        upto: the last record of the log at the time.
    """
    common, plan = _common_columns(turn, records, upto), _first_of(one.plan for one in records)
    hidden = frozenset[str]().union(*(one.hidden for one in records))
    calls = [{**common, **one} for one in _calls(turn, records, plan, context)]
    effects = [{**common, **one} for one in _effects(plan, calls, context)]
    now = _last_of(_time_of(member_of(one.ctx, "as_of")) for one in records)
    evidence = [{**common, **one} for one in _evidence(plan, context, now)]
    answers = [{**common, **one} for one in _answers(turn, records)]
    own = _turn_columns(turn, records, calls)
    stale = any(one["expired"] and (one["use"] != "known") for one in evidence)
    own["stale"] = None if hidden & _OF_EVIDENCE and not stale else stale
    own["taken_out"] = sorted(hidden)
    return {
        "turns": [{**common, **own}],
        "calls": calls,
        "effects": effects,
        "evidence": evidence,
        "answers": answers,
    }


_OF_EVIDENCE: Final = {"ctx", "compiled", "plan"}
"""The inputs that say which evidence was used after it had expired."""


def _common_columns(turn: TurnRecords, records: Sequence[ReadRecord], upto: int) -> Row:
    row = records[0].row
    session = _first_of(member_of(one.ctx, "session") for one in records)
    return {
        "seq": turn.first,
        "upto": upto,
        "trace": _trace_of(records[0].wire) or row.trace,
        "session": _text(member_of(session, "id")) or row.session,
        "turn": row.turn,
        "tenant": _first_of(_text(member_of(one.ctx, "tenant_id")) for one in records),
        "user": _first_of(_text(member_of(one.ctx, "user_id")) for one in records),
        "ruled_at": _moment(row.at_us),
        "fate": turn.fate,
    }


def _trace_of(wire: Any) -> str | None:
    return _text(member_of(wire, "trace_id")) or _text(
        member_of(member_of(wire, "report"), "trace_id")
    )


def _turn_columns(
    turn: TurnRecords, records: Sequence[ReadRecord], calls: Sequence[Row]
) -> dict[str, Any]:
    rows, first = [one.row for one in records], records[0].row
    refused = _first_of(one if one.kind else None for one in rows) or first
    report = _first_of(member_of(one.wire, "report") for one in records)
    ended = {member_of(one.wire, "begun") for one in records}
    settled = _last_of(
        one.wire if one.row.status == "settled" and one.own_hash not in ended else None
        for one in records
    )
    return {
        "ended_at": _moment(rows[-1].at_us),
        "records": list(turn.records),
        "plan": first.plan,
        "spec": _text(member_of(report, "decision_key")),
        "mode": first.mode,
        "asked": bool(turn.facts & RecordFacts.ASKED),
        "after_yes": turn.after_yes,
        "shadow": turn.shadow,
        "settled": _text(member_of(settled, "outcome")),
        "settled_by": _text(member_of(settled, "by")),
        "kind": refused.kind,
        "kinds": (refused.kinds or "").split(),
        "checks": (refused.checks or "").split(),
        "tool": refused.tool,
        "tools": list(dict.fromkeys(one["tool"] for one in calls if one["tool"])),
        **_tier_columns(_highest(one["tier"] for one in calls)),
        "steps": first.steps,
        **{name: _last_of(getattr(one, name) for one in rows) for name in _MEASURES},
        "ruleset": _text(member_of(records[-1].wire, "ruleset_version")),
    }


_MEASURES: Final = ("tokens", "wall_ms", "cost_micros")


def _calls(
    turn: TurnRecords, records: Sequence[ReadRecord], plan: Any, context: ContextFacts
) -> Iterator[Row]:
    """Yield a row for each call of the plan, and for each that was made and is not in it.

    The effects of its command get no row: the call has the highest tier among them.
    """
    steps = elements_of(member_of(plan, "steps"))
    made: dict[int, list[Any]] = {}
    strayed = []
    for call in (each for one in records for each in _calls_made(one)):
        at = planned_step(call, steps)
        strayed += [call] if at is None else []
        made.setdefault(-1 if at is None else at, []).append(call)
    hidden = frozenset[str]().union(*(one.hidden for one in records))
    unmade = None if "run" in hidden else _ran_unseen(turn.facts, bool(made))
    for at, step in enumerate(steps):
        if member_of(step, "kind") == "tool" and member_of(step, "of") is None:
            row = _call_row(step, at, made.get(at, []), context, unmade)
            parts = (one for one in steps if member_of(one, "of") == at)
            tiers = [row["tier"], *(context.tiers.get(_names_of(one)) for one in parts)]
            yield {**row, **_tier_columns(_highest(tiers)), "planned": True}
    commands = {_names_of(one) for one in steps if member_of(one, "shell") is not None}
    for call in strayed:
        row = _call_row(call, None, [call], context, unmade)
        # Nobody read what such a command does.
        unread = _tier_columns(None) if _names_of(call) in commands else {}
        yield {**row, **unread, "planned": None if "plan" in hidden else False}
    yield from _calls_taken_out(turn.facts, hidden, bool(strayed), unmade)


def _calls_taken_out(
    facts: RecordFacts, hidden: frozenset[str], is_any_strayed: bool, unmade: bool | None
) -> Iterator[Row]:
    """Yield a row, which says nothing of it, for each call of which only this is known: it was.

    There is one where the plan was taken out and no call is known, and where the run was taken
    out and had a call that no plan has.
    """
    blank = _call_row(None, None, [], NO_CONTEXT, unmade)
    if "plan" in hidden and not is_any_strayed:
        yield blank | {"planned": True}
    if "run" in hidden and facts & RecordFacts.STRAYED:
        yield blank | {"planned": False, "ran": True}


def _effects(plan: Any, calls: Sequence[Row], context: ContextFacts) -> Iterator[Row]:
    """Yield a row for each thing that the command of a call does: it ran where the call did."""
    ran = {call["step"]: call["ran"] for call in calls if call["planned"]}
    for at, step in enumerate(elements_of(member_of(plan, "steps"))):
        of = member_of(step, "of")
        if of in ran:
            yield {
                "step": of,
                "part": at,
                "effect": _text(member_of(step, "capability_id")),
                **_tier_columns(context.tiers.get(_names_of(step))),
                "args": _spell(member_of(step, "args")),
                "ran": ran[of],
            }


def _names_of(step: Any) -> tuple[Any, Any]:
    """Return the tool of a step or a call, as tiers are found by it."""
    names = (member_of(step, "adapter_id"), member_of(step, "capability_id"))
    return names if all(isinstance(one, str) for one in names) else (None, None)


def _highest(tiers: Iterable[str | None]) -> str | None:
    known = [one for one in tiers if one is not None and one in MODE_RANK]
    return max(known, key=MODE_RANK.__getitem__, default=None)


def _ran_unseen(facts: RecordFacts, is_any_made: bool) -> bool | None:
    """Return whether a call ran of which there is no result: None if nobody knows."""
    if facts & RecordFacts.BEGAN:
        return None
    if is_any_made:
        return False
    return None if facts & RecordFacts.UNKNOWN else bool(facts & RecordFacts.RAN)


def _calls_made(one: ReadRecord) -> Sequence[Any]:
    return elements_of(member_of(member_of(one.wire, "run"), "calls"))


def _call_row(
    step: Any, at: int | None, made: Sequence[Any], context: ContextFacts, unmade: bool | None
) -> Row:
    names = _names_of(step)
    last, args = (made[-1] if made else None), member_of(step, "args")
    return {
        "step": at,
        "tool": None if names[0] is None else "/".join(names),
        **_tier_columns(context.tiers.get(names)),
        "args": _spell(args),
        "amounts": [*_numbers_in(args, "")],
        "ran": True if made else unmade,
        "status": _text(member_of(last, "status")),
        "attempts": len(made),
        "duration_ms": _count(member_of(last, "duration_ms")),
        "cost_micros": _count(member_of(last, "cost_micros")),
    }


def _tier_columns(tier: str | None) -> Row:
    """Return a tier and its place among all: as texts, they sort otherwise."""
    return {"tier": tier, "tier_rank": None if tier is None else MODE_RANK.get(tier)}


def _numbers_in(value: Any, at: str) -> Iterator[tuple[str, float]]:
    """Yield every number with its JSON pointer: texts too that are a number and nothing else."""
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for name, item in items:
            yield from _numbers_in(item, _place_in(at, name))
    elif isinstance(value, str):
        if found := _NUMBER.fullmatch(value.strip()):
            yield at, float(found[1].replace(",", ""))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield at, _as_float(value)


def _place_in(at: str, name: object) -> str:
    return f"{at}/{str(name).replace('~', '~0').replace('/', '~1')}"


def _as_float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:  # a number of more than 308 digits
        return float("inf") if value > 0 else float("-inf")


def _evidence(plan: Any, context: ContextFacts, now: datetime | None) -> Iterator[Row]:
    """Yield a row for each item that is pinned, and for each that was only known."""
    steps, args = elements_of(member_of(plan, "steps")), list[tuple[str, bytes]]()
    pins: dict[str, list[int]] = {}
    for at, step in enumerate(steps):
        for ref in elements_of(member_of(step, "evidence_refs")):
            pins.setdefault(str(ref), []).append(at)
        args += _texts_in(member_of(step, "args"), f"/steps/{at}/args")
    for item in context.items:
        name = str(member_of(item, "id"))
        yield _item_row(item, name, pins.pop(name, None), args, now)
    for name, places in pins.items():  # of nothing that there is
        yield _item_row(None, name, places, args, now)


def _item_row(
    item: Any,
    name: str,
    pinned: list[int] | None,
    args: Iterable[tuple[str, bytes]],
    now: datetime | None,
) -> Row:
    expires = _time_of(member_of(item, "expires_at"))
    expired = expires is not None and now is not None and expires <= now
    holds = _args_in(item, args)
    use = "pinned" if pinned else "held" if holds else "known"
    return {
        "item": name,
        "class": _text(member_of(item, "classification")),
        "author": _text(member_of(member_of(item, "source"), "author")),
        "use": use,
        "steps": pinned or [],
        "expires_at": None if expires is None else expires.replace(tzinfo=None),
        "expired": expired,
        "holds": holds,
    }


def _args_in(item: Any, args: Iterable[tuple[str, bytes]]) -> list[str]:
    """Return the places of the arguments whose text stands in an item, as whole words."""
    content = member_of(item, "content")
    text = b"" if content is None else _spell_fast(content)
    return [at for at, value in args if value in text and _stands_in(value, text)]


def _spell_fast(value: Any) -> bytes:
    try:
        return orjson.dumps(value)
    except TypeError:  # what it does not spell: a number of more than 64 bits
        return str(value).encode("utf-8", "replace")


def _stands_in(value: bytes, text: bytes) -> bool:
    at = text.find(value)
    while at >= 0:
        end = at + len(value)
        if not (text[at - 1 : at].isalnum() or text[end : end + 1].isalnum()):
            return True
        at = text.find(value, at + 1)
    return False


def _texts_in(value: Any, at: str) -> Iterator[tuple[str, bytes]]:
    """Yield each scalar of a value as JSON spells it, with its pointer, unless it is very short."""
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for name, item in items:
            yield from _texts_in(item, _place_in(at, name))
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        text = _spell_fast(value)[1:-1] if isinstance(value, str) else _spell_fast(value)
        yield from [(at, text)] if len(text) >= _SHORTEST else []


def scalar_texts(value: Any) -> Iterator[str]:
    """Yield every scalar of a value as text: numbers as they are spelled."""
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from scalar_texts(item)
    elif value is not None:
        yield value if isinstance(value, str) else _spell_fast(value).decode()


def _answers(turn: TurnRecords, records: Sequence[ReadRecord]) -> Iterator[Row]:
    """Yield a row for each answer and each approval, and for a question that is open."""
    used = {
        str(member_of(one, "approval_id"))
        for record in records
        for one in elements_of(member_of(record.wire, "approvals"))
    }
    told = dict[tuple[str, str | None], Row]()
    for record in records:
        answer = member_of(record.wire, "answer")
        given, who = _text(member_of(answer, "answer")), _text(member_of(answer, "approver"))
        if given is not None:
            told.setdefault((given, who), _answer_row(record, given, who))
        for name, approver in _approvals(record):
            row = told.setdefault(("yes", approver), _answer_row(record, "yes", approver))
            row.update(approval=name, used=name in used)
    is_known = not any("ctx" in record.hidden for record in records)
    for row in told.values():
        is_lost = row["answer"] == "yes" and row["approval"] is None and not is_known
        yield row | ({"used": None} if is_lost else {})
    if not told and turn.facts & RecordFacts.ASKED:
        yield _answer_row(records[0], None, None) | {"answered_at": None, "record": None}


def _answer_row(record: ReadRecord, answer: str | None, approver: str | None) -> Row:
    row = {"record": record.row.seq, "answered_at": _moment(record.row.at_us), "answer": answer}
    return {**row, "approver": approver, "approval": None, "used": False}


def _approvals(record: ReadRecord) -> Iterator[tuple[str, str | None]]:
    """Yield the approvals of the plan that a record has: their ids, and who gave them."""
    for one in elements_of(member_of(record.ctx, "approvals")):
        digest = str(member_of(one, "plan_digest")).removeprefix("sha256:")
        if digest == record.row.plan:
            yield str(member_of(one, "approval_id")), _text(member_of(one, "approver"))


def _spell(value: Any) -> str | None:
    try:
        return None if value is None else canonical_json(value).decode()
    except (ValueError, TypeError, RecursionError):
        return None


def _first_of(values: Iterable[Any]) -> Any:
    return next((one for one in values if one is not None), None)


def _last_of(values: Iterable[Any]) -> Any:
    return _first_of([*values][::-1])


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _count(value: Any) -> int | None:
    return value if type(value) is int else None


@lru_cache(maxsize=4096)
def _parsed_time(text: str) -> datetime | None:
    try:
        return parse_time(text)
    except ValueError:
        return None


def _time_of(value: Any) -> datetime | None:
    return _parsed_time(value) if isinstance(value, str) else None


def _moment(micros: int | None) -> datetime | None:
    try:
        return None if micros is None else time_of(micros).replace(tzinfo=None)
    except OverflowError:
        return None
