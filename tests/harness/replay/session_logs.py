"""Logs of guarded sessions, and the ways in which facts in them are rewritten."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from critic import Proposal, consolidate, verify_proposal
from harness.log import SqlDecisionLog
from harness.record import Begun, Decision
from harness.replay import replay
from harness.wire import build
from tests.harness.log.decisions import action_of, meddle
from tests.harness.replay.forging import forged
from tests.support.guarding import (
    ASKS,
    Json,
    answers_to,
    call,
    close,
    desk,
    guard_of,
    open_,
    result,
    yes,
)

EVENTS: list[Any] = [
    open_(request="Do the transfer of plan.md, shred old.md, see https://a.example/x"),
    call("make_note", name="new.md", text="x"),
    result("made"),
    call("shred", name="old.md"),
    result("done"),
    call("read_note", name="plan.md"),
    result("wire it to iban-4711-22"),
    call("transfer", iban="iban-4711-22", reason="x"),
    yes(),
    result({}),
    call("read_note", name="https://a.example/y"),
    result("x"),
    call("shred", name="new.md"),
    result("done"),
    close(),
]


class Rewriting:
    """A log whose records are changed before they are kept, and hold together all the same."""

    def __init__(self, log: SqlDecisionLog, change: Callable[[Json], Any]) -> None:
        self.log, self.change = log, change

    def append(self, decision: Decision) -> Any:
        proposal = self.changed(decision.proposal)
        report = consolidate(
            trace_id=proposal.ctx.trace_id,
            decision_key=proposal.spec.id,
            verify=verify_proposal(proposal),
            score=decision.report.score,
            decided_at=decision.report.decided_at,
        )
        # Where the verdict is another one now, so is what was made of it.
        is_same = report.verify.ok == decision.report.verify.ok
        action = decision.action if is_same else action_of(report.verify)
        parts: Json = {"run": decision.facts, "error": decision.error, "begun": decision.begun}
        parts["answer"] = decision.answer
        given: Any = {name: part for name, part in parts.items() if part is not None}
        return self.log.append(Decision(proposal=proposal, report=report, action=action, **given))

    def begin(self, begun: Begun) -> Any:
        changed = self.changed(begun.proposal)
        return self.log.begin(
            Begun(
                proposal=changed,
                action=begun.action,
                approvals=begun.approvals,
                begun_at=begun.begun_at,
            )
        )

    def changed(self, proposal: Proposal) -> Proposal:
        wire = proposal.wire()
        items = wire["compiled"]["manifests"]["evidence_manifest"]
        self.change({**wire["ctx"], "evidence": items})
        return build(Proposal, wire)


def recorded(path: Path, change: Callable[[Json], Any], events: list[Any]) -> None:
    """Let a guard answer events, and keep what it records with a change to each context."""
    with SqlDecisionLog.open(path) as log:
        answers_to(guard_of(desk(), log=Rewriting(log, change)), events)


def nothing(_ctx: Json) -> None:
    pass


def at(turn: int, change: Callable[[Json], Any]) -> Callable[[Json], None]:
    def changed(ctx: Json) -> None:
        if ctx["session"]["turn"] == turn:
            change(ctx)

    return changed


TRANSFER: Json = {"adapter_id": "desk", "capability_id": "transfer"}
A_YES: Json = {
    "value": "iban-9",
    "role": "recipient",
    "tool": TRANSFER,
    "approval_mode": "delegated",
}

REWRITTEN: list[tuple[int, Callable[[Json], Any], str]] = [
    (2, lambda ctx: ctx["spent"].update(steps=0), "spent.steps"),
    (3, lambda ctx: ctx["spent"].pop("calls"), "spent.calls"),
    (2, lambda ctx: ctx["session"].pop("sent"), "sent"),
    (2, lambda ctx: ctx["session"]["sent"].append({"seq": 9, "values": ["iban-9"]}), "sent"),
    (2, lambda ctx: ctx["session"].update(own=[{"kind": "note", "value": "old.md"}]), "own"),
    (6, lambda ctx: ctx["session"].pop("own"), "own"),
    (6, lambda ctx: ctx["session"].pop("ran"), "ran"),
    (3, lambda ctx: ctx["session"]["ran"].append(TRANSFER), "ran"),
    (5, lambda ctx: ctx["session"].pop("approved"), "approved"),
    (2, lambda ctx: ctx["session"].update(approved=[A_YES]), "approved"),
    (2, lambda ctx: ctx["session"].update(waived=[{"tool": TRANSFER, "targets": []}]), "waived"),
    (6, lambda ctx: ctx["evidence"][1].update(content="iban-9"), "evidence"),
    (6, lambda ctx: ctx["evidence"].pop(1), "evidence"),
    (6, lambda ctx: ctx["evidence"].reverse(), "evidence"),
]
"""A turn, what is changed in its facts, and the fact that earlier records contradict then."""


def _cut(path: Path, where: str) -> None:
    recorded(path, nothing, EVENTS)
    meddle(path, (f"DELETE FROM records WHERE {where}", ()))  # noqa: S608 - our own text


def _of_other_rules(path: Path) -> None:
    turn, change, _ = REWRITTEN[0]
    recorded(path, at(turn, change), EVENTS)
    with SqlDecisionLog.open_for_reading(path) as log:
        wrong = next(one.seq for one in replay(log) if one.status == "tampered")
    forged(path, wrong, lambda record: record.update(evaluator_versions={}))


def _of_two(path: Path) -> None:
    with SqlDecisionLog.open(path) as log:
        one, two = guard_of(desk(), log=log), guard_of(desk(), log=log)
        answers_to(one, EVENTS[:5])
        answers_to(two, ASKS)
        answers_to(one, [*EVENTS[5:], *EVENTS])


SESSION_LOGS: dict[str, Callable[[Path], None]] = {
    "as it was": lambda path: recorded(path, nothing, EVENTS),
    **{
        f"turn {turn} with other {fact} ({number})": partial(
            recorded, change=at(turn, change), events=EVENTS
        )
        for number, (turn, change, fact) in enumerate(REWRITTEN)
    },
    "without a beginning": lambda path: _cut(path, "seq = 5"),
    "without a turn": lambda path: _cut(path, "seq BETWEEN 3 AND 6"),
    "without its first turn": lambda path: _cut(path, "seq <= 3"),
    "of other rules": _of_other_rules,
    "of two at once": _of_two,
}
"""What makes a log of guarded sessions at a path, by what is special about the log."""
