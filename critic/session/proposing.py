"""Make the plan of a batch: one step for each call, with the evidence that its tool asks for.

Rule 1: a model names no evidence. The session pins every fresh item of a class that the tool
        demands or binds.
Rule 2: the plan shares nothing with the calls that it is made of.
Rule 3: what shell commands do are steps after those of the calls: a call has the index of its step.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from critic.session.call_batch import Call, CallTake
from critic.session.session_evidence import Trail
from critic.session.session_rules import SessionRules
from evals.canonical_json import canonical_json
from evals.json_value import detach_json
from evals.manifest import EvidenceItem
from evals.needs import needs_of
from evals.plan import Plan, Step, Take, ToolStep


def plan_of_batch(
    rules: SessionRules,
    calls: Sequence[Call],
    trail: Trail,
    as_of: datetime | None,
    *,
    session: str,
    turn: int,
) -> Plan:
    """Return the plan of a batch. Its id names the session, the turn and the calls.

    It is late where a call waits for another one: then each step has an id, made of its position.
    """
    fresh: dict[str, list[str]] = {}
    waits = _Waits(calls)
    steps: list[Step] = []
    for at, call in enumerate(calls):
        # What the spec requires of the whole plan, one step pins.
        whole = (rules.spec.required_evidence or ()) if at == 0 else ()
        classes = dict.fromkeys((*_classes(rules, call.tool), *whole))
        for name in classes:
            if name not in fresh:
                fresh[name] = trail.fresh_ids(name, as_of)
        refs = tuple(ref for name in classes for ref in fresh[name])
        steps.append(_make_step(rules, call, refs, waits.fields_of(at)))
    steps += _parts_of_commands(rules, calls, trail)
    names = {"calls": [call.id for call in calls], "session": session, "turn": turn}
    plan_id = hashlib.sha256(canonical_json(names)).hexdigest()
    return Plan(steps=steps, declared_outputs=(), plan_id=plan_id)


class _Waits:
    """What the calls of a batch wait for, by the ids of steps."""

    def __init__(self, calls: Sequence[Call]) -> None:
        self._calls = calls
        self._places = {call.id: at for at, call in enumerate(calls)}
        self.is_late = any(call.takes or call.after for call in calls)

    def fields_of(self, at: int) -> dict[str, Any]:
        """Return the fields of a step that say what it waits for."""
        if not self.is_late:
            return {}
        call, fields = self._calls[at], dict[str, Any](id=_step_id(at))
        named = [*(take.call for take in call.takes), *call.after]
        # Of a call that never runs nothing comes: no step has that id.
        places = sorted({self._places.get(name, len(self._calls)) for name in named})
        if call.takes:
            takes = (Take(arg=one.arg, step=self._id(one.call), at=one.at) for one in call.takes)
            fields["takes"] = tuple(takes)
        return fields | ({"evidence_steps": tuple(map(_step_id, places))} if places else {})

    def _id(self, name: str) -> str:
        return _step_id(self._places.get(name, len(self._calls)))


def _step_id(at: int) -> str:
    return f"c{at}"


def restore_call(call: Call, step: ToolStep, names: Mapping[str, str]) -> Call:
    """Return a call with what it waits for, as its step says it. `names`: of calls, by step ids."""
    takes = tuple(
        CallTake(one.arg, names.get(one.step, one.step), one.at) for one in step.takes or ()
    )
    taken = {one.call for one in takes}
    after = [names.get(one, one) for one in step.evidence_steps or ()]
    return call._replace(takes=takes, after=tuple(one for one in after if one not in taken))


def order_turn(rules: SessionRules, calls: Sequence[Call]) -> list[Call]:
    """Return calls of which those with effects wait for the reads before them.

    What says itself what it waits for is left as it is, and so is a turn with a shell command: what
    that does is judged as it is asked for.
    """
    if rules.has_commands(call.tool for call in calls):
        return list(calls)
    reads, ordered = list[str](), list[Call]()
    for call in calls:
        tool = rules.tools.get(call.tool)
        if tool is not None and tool.capability.approval_mode == "read_only":
            reads.append(call.id)
        elif reads and not (call.takes or call.after):
            call = call._replace(after=tuple(reads))  # noqa: PLW2901 - the same call, ordered
        ordered.append(call)
    return ordered


def _make_step(
    rules: SessionRules, call: Call, refs: tuple[str, ...], waits: dict[str, Any]
) -> ToolStep:
    adapter_id, capability_id = rules.pair_of(call.tool)
    optional: dict[str, Any] = {**waits, **({"evidence_refs": refs} if refs else {})}
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
    from critic.command.plan_parts import command_of_call  # noqa: PLC0415 - for shell commands only

    commands = [
        command_of_call(at, argument, call.args, call.shell, waits=bool(call.takes))
        for at, call in enumerate(calls)
        if (argument := rules.shell.arguments.get(call.tool)) is not None
    ]
    yield from rules.shell.parts_of(commands, texts_said(trail.items))


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
