"""Make the plan of a batch: one step for each call, with the evidence that its tool asks for.

Rule 1: a model names no evidence. The session pins every fresh item of a class that the tool
        demands or binds.
Rule 2: the plan shares nothing with the calls that it is made of.
Rule 3: what shell commands do are steps after those of the calls: a call has the index of its step.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from critic.session.call_batch import Call
from critic.session.session_evidence import Trail
from critic.session.session_rules import SessionRules
from evals.canonical_json import canonical_json
from evals.json_value import detach_json
from evals.manifest import EvidenceItem
from evals.needs import needs_of
from evals.plan import Plan, Step, ToolStep


def plan_of_batch(
    rules: SessionRules,
    calls: Sequence[Call],
    trail: Trail,
    as_of: datetime | None,
    *,
    session: str,
    turn: int,
) -> Plan:
    """Return the plan of a batch. Its id names the session, the turn and the calls."""
    fresh: dict[str, list[str]] = {}
    steps: list[Step] = []
    for at, call in enumerate(calls):
        # What the spec requires of the whole plan, one step pins.
        whole = (rules.spec.required_evidence or ()) if at == 0 else ()
        classes = dict.fromkeys((*_classes(rules, call.tool), *whole))
        for name in classes:
            if name not in fresh:
                fresh[name] = trail.fresh_ids(name, as_of)
        steps.append(_make_step(rules, call, tuple(ref for name in classes for ref in fresh[name])))
    steps += _parts_of_commands(rules, calls, trail)
    names = {"calls": [call.id for call in calls], "session": session, "turn": turn}
    plan_id = hashlib.sha256(canonical_json(names)).hexdigest()
    return Plan(steps=steps, declared_outputs=(), plan_id=plan_id)


def _make_step(rules: SessionRules, call: Call, refs: tuple[str, ...]) -> ToolStep:
    adapter_id, capability_id = rules.pair_of(call.tool)
    optional: dict[str, Any] = {"evidence_refs": refs} if refs else {}
    if call.estimated_tokens is not None:
        optional["estimated_tokens"] = call.estimated_tokens
    if (
        rules.shell is not None
        and (reading := rules.shell.reading_of(call.tool, call.shell)) is not None
    ):
        optional["shell"] = detach_json(reading)
    return ToolStep(
        adapter_id=adapter_id,
        capability_id=capability_id,
        args=detach_json(dict(call.args)),
        **optional,
    )


def _parts_of_commands(rules: SessionRules, calls: Sequence[Call], trail: Trail) -> Iterator[Step]:
    """Yield what the shell commands of the calls do."""
    if rules.shell is None or not rules.has_commands(call.tool for call in calls):
        return
    texts = texts_said(trail.items)
    for at, call in enumerate(calls):
        yield from rules.shell.parts_at(at, call.tool, call.args, call.shell, texts)


def facts_in(step: Step) -> dict[str, Any] | None:
    """Return the facts by which the command of a step was read; None without any."""
    shell = step.shell if isinstance(step, ToolStep) else None
    return None if shell is None else shell.get("facts")


def _classes(rules: SessionRules, name: str) -> tuple[str, ...]:
    """Return the classes of evidence that a tool demands or binds."""
    tool = rules.tools.get(name)
    if tool is None:
        return ()
    needs = needs_of(tool.capability)
    bound = (kind for binding in needs.bound.values() for kind in binding.classes)
    return (*(need.classification for need in needs.demands), *bound)


def texts_said(items: Iterable[EvidenceItem]) -> list[str]:
    """Return what the user said."""
    return [
        item.content
        for item in items
        if item.source is not None and item.source.author == "user" and type(item.content) is str
    ]
