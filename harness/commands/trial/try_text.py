"""The output of `critic try`: the outcome of each task, and the proposals."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from evals.escaping import escape_name
from harness.canonical import ascii_json
from harness.what_if.proposing.edit_proposals import (
    AllowedToo,
    EditProposal,
    EditProposer,
    ProposedTask,
)
from harness.what_if.proposing.edit_words import (
    edit_text,
    opening_text,
    refusal_text,
    stop_text,
)
from harness.what_if.proposing.policy_edits import PolicyEdit
from harness.what_if.proposing.policy_patch import TaskEdit
from harness.what_if.proposing.task_judge import TaskStop
from harness.what_if.proposing.untried_tools import find_untried


class TriedTasks(NamedTuple):
    """The tasks with their proposals, the proposer, and the number of attacks."""

    tasks: Sequence[ProposedTask]
    proposer: EditProposer
    attacks: int


class _Offer(NamedTuple):
    """A proposal, and the tasks that it lets through."""

    proposal: EditProposal
    tasks: list[ProposedTask]

    @property
    def names(self) -> list[str]:
        return [one.task.id for one in self.tasks]


def _offers(tried: TriedTasks) -> list[_Offer]:
    """Return the distinct proposals. Those that need a person's word come last."""
    found: dict[frozenset[PolicyEdit], _Offer] = {}
    for one in tried.tasks:
        if one.proposal is not None:
            key = frozenset(one.proposal.edits)
            found.setdefault(key, _Offer(one.proposal, [])).tasks.append(one)
    return sorted(found.values(), key=lambda offer: offer.proposal.needs_word)


def patched_edits(tried: TriedTasks) -> tuple[list[TaskEdit], list[TaskEdit]]:
    """Return the edits of a patch, and the edits in its comments, which need a person's word."""
    known = tried.proposer.known
    free = {
        edit
        for offer in _offers(tried)
        if not offer.proposal.needs_word
        for edit in offer.proposal.edits
    }
    made = [TaskEdit(edit, tuple(tasks)) for edit, tasks in known.items() if edit in free]
    asked = [TaskEdit(edit, tuple(tasks)) for edit, tasks in known.items() if edit not in free]
    return made, asked


# --- text ---------------------------------------------------------------------------------------


def trial_lines(tried: TriedTasks) -> Iterator[str]:
    """Yield a line for each task, the totals, and the proposals."""
    yield from _task_lines(tried)
    yield _sum_text(tried)
    yield from proposal_lines(tried)


def _task_lines(tried: TriedTasks) -> Iterator[str]:
    width = max(len(escape_name(one.task.id)) for one in tried.tasks)
    for one in tried.tasks:
        name = f"{escape_name(one.task.id):{width}}"
        yield f"{name} {one.judged.outcome:7}{_why(one)}".rstrip()


def proposal_lines(tried: TriedTasks) -> Iterator[str]:
    """Yield the proposals, and the stops without one."""
    for offer in _offers(tried):
        yield from _offer_lines(tried, offer)
    for one in tried.tasks:
        if one.uncured is not None:
            yield f"{escape_name(one.task.id)}: {one.uncured.why}"


def _why(one: ProposedTask) -> str:
    if one.judged.stop is not None:
        misfit = "" if one.misfit is None else f"; {one.misfit}"
        return f"  {stop_text(one.judged.stop)}{misfit}"
    return "  by the tier of a tool alone" if one.judged.outcome == "asked" else ""


def _sum_text(tried: TriedTasks) -> str:
    sums = _sums(tried)
    counted = f"{sums['allowed']} allowed, {sums['asked_by_tier']} asked by tier alone, "
    counted += f"{sums['asked']} asked, {sums['refused']} refused"
    text = f"{len(tried.tasks)} task{'' if len(tried.tasks) == 1 else 's'}: {counted}"
    if tried.attacks:
        text += f"; {tried.attacks} attack{'' if tried.attacks == 1 else 's'}"
        text += f", {len(tried.proposer.passing)} pass"
    return text


def _sums(tried: TriedTasks) -> dict[str, int]:
    sums = {"allowed": 0, "asked_by_tier": 0, "asked": 0, "refused": 0}
    for one in tried.tasks:
        by_tier = one.judged.outcome == "asked" and one.judged.stop is None
        sums["asked_by_tier" if by_tier else one.judged.outcome] += 1
    return sums


def _offer_lines(tried: TriedTasks, offer: _Offer) -> Iterator[str]:
    needs = "needs your word, " if offer.proposal.needs_word else ""
    yield f"{needs}for {', '.join(map(escape_name, offer.names))}:"
    yield from (f"  {edit_text(edit)}" for edit in offer.proposal.edits)
    too = tried.proposer.allowed_too(offer.tasks[0].task, offer.proposal)
    yield from (f"  also allows: {line}" for line in _allowed_lines(too))
    if tried.attacks:
        names = ", ".join(map(escape_name, offer.proposal.attacks)) or "none"
        yield f"  attacks that would pass: {names}"


def _allowed_lines(too: AllowedToo) -> list[str]:
    found = [opening_text(one) for one in too.openings]
    if not found and too.plan is not None:
        found.append(f"a call that is refused now: {refusal_text(too.plan.verdict.reasons)}")
    return found


# --- JSON ---------------------------------------------------------------------------------------


def wire_lines(tried: TriedTasks) -> Iterator[str]:
    """Yield the same as one JSON object."""
    wire: dict[str, Any] = {
        "tasks": [_task_wire(one) for one in tried.tasks],
        "totals": _sums(tried),
        "proposals": proposals_wire(tried),
        "untried": [
            one.path
            for one in find_untried(tried.proposer.policy, [task.task for task in tried.tasks])
        ],
    }
    if tried.attacks:
        wire["attacks"] = {"count": tried.attacks, "passing": [*tried.proposer.passing]}
    yield ascii_json(wire)


def proposals_wire(tried: TriedTasks) -> list[dict[str, Any]]:
    """Return the proposals as JSON."""
    return [_offer_wire(tried, offer) for offer in _offers(tried)]


def _task_wire(one: ProposedTask) -> dict[str, Any]:
    judged = one.judged
    wire: dict[str, Any] = {"id": one.task.id, "outcome": judged.outcome}
    if judged.outcome == "asked":
        wire["by_tier_alone"] = judged.stop is None
    if judged.stop is not None:
        wire["stop"] = _stop_wire(judged.stop)
    if one.misfit is not None:
        wire["misfit"] = one.misfit
    if one.uncured is not None:
        wire["uncured"] = one.uncured.why
    return wire


def _stop_wire(stop: TaskStop) -> dict[str, Any]:
    return {
        "turn": stop.turn,
        "tool": stop.tool,
        "path": stop.path,
        "value": stop.value,
        "reason": stop.reason,
        "text": stop_text(stop),
    }


def _offer_wire(tried: TriedTasks, offer: _Offer) -> dict[str, Any]:
    proposal = offer.proposal
    too = tried.proposer.allowed_too(offer.tasks[0].task, proposal)
    wire: dict[str, Any] = {
        "tasks": offer.names,
        "needs_word": proposal.needs_word,
        "edits": [_edit_wire(edit) for edit in proposal.edits],
        "outcome": proposal.judged.outcome,
        "attacks": [*proposal.attacks],
        "allows": [{**one._asdict(), "text": opening_text(one)} for one in too.openings],
    }
    if too.plan is not None:
        wire["plan"] = too.plan.document
    return wire


def _edit_wire(edit: PolicyEdit) -> dict[str, Any]:
    return {**edit._asdict(), "needs_word": edit.needs_word, "text": edit_text(edit)}
