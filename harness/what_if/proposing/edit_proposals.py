"""Propose edits of a policy for recorded tasks, and say what else each would allow. Pure.

proposed = propose_edits(policy, task, now=now)
proposed.proposal.edits       # or proposed.uncured, and why
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from harness.policy.analysis.witness import Witness
from harness.policy.envelopes import Policy
from harness.what_if.proposing.edit_candidates import edit_candidates, misfit_before
from harness.what_if.proposing.edit_openings import (
    EditOpening,
    find_opened_plan,
    openings_of,
)
from harness.what_if.proposing.edit_search import (
    Edits,
    EditSearch,
    FoundEdits,
    UncuredStop,
)
from harness.what_if.proposing.policy_edits import (
    PolicyEdit,
    UnfitEdit,
    edited_wire,
    restrict_wire,
)
from harness.what_if.proposing.recorded_tasks import RecordedTask
from harness.what_if.proposing.task_judge import JudgedTask, TaskJudge, TaskStop
from harness.wire import InvalidInput, build

_OF_CONTENT: Final = 1_000
"""How much a role of content opens."""


class EditProposal(NamedTuple):
    """Edits that let a task through, and what else they do.

    Attributes:
        stops: what stopped the task, by turns.
        edits: all that it takes, those that were proposed for other tasks among them.
        judged: what becomes of the task with them.
        attacks: the ids of the attacks that pass with them, and not without.
    """

    stops: tuple[TaskStop, ...]
    edits: Edits
    judged: JudgedTask
    attacks: tuple[str, ...] = ()

    @property
    def needs_word(self) -> bool:
        """Whether a person has to say yes to just this."""
        return any(edit.needs_word for edit in self.edits)


class ProposedTask(NamedTuple):
    """A task as it was judged, with what would let it through: a proposal, or why there is none.

    Attributes:
        misfit: the result before its stop that is not what its class says, and why.
        judgements: how often it was judged again.
    """

    task: RecordedTask
    judged: JudgedTask
    proposal: EditProposal | None = None
    uncured: UncuredStop | None = None
    judgements: int = 0
    misfit: str | None = None


class AllowedToo(NamedTuple):
    """What else edits allow: who else may choose what stopped, and a plan that passes now."""

    openings: tuple[EditOpening, ...]
    plan: Witness | None


def propose_edits(
    policy: Policy,
    task: RecordedTask,
    *,
    now: datetime,
    attacks: Sequence[RecordedTask] = (),
    open_tiers: frozenset[str] = frozenset(),
) -> ProposedTask:
    """Return what becomes of a task, and the smallest edits that let it through.

    Args:
        now: what the clock says where events tell no time.
        attacks: the last turn of each is the attack: edits that let fewer pass come first.
        open_tiers: the tools whose tier nobody has decided yet.

    Raises:
        InvalidInput: an event of the task has no place in its session.
        ValueError: the policy gives evidence an id, or a class a name, that sessions give.
    """
    return EditProposer(policy, now, attacks=attacks, open_tiers=open_tiers).propose(task)


class EditProposer:
    """Proposes edits of one policy for one task after another.

    What is proposed for a task is tried first for those that come after it.
    """

    def __init__(
        self,
        policy: Policy,
        now: datetime,
        *,
        attacks: Sequence[RecordedTask] = (),
        open_tiers: frozenset[str] = frozenset(),
    ) -> None:
        """Prepare a policy. See `propose_edits`."""
        self.policy: Final = policy
        self._now: Final = now
        self._open: Final = open_tiers
        self._wire: Final = policy.wire()
        self._judge: Final = TaskJudge(policy, now)
        passing = [one for one in attacks if _passes(self._judge, one)]
        self.passing: Final = tuple(one.id for one in passing)
        """The attacks that pass already."""
        self._attacks: Final = [one for one in attacks if one.id not in self.passing]
        self.known: Final[dict[PolicyEdit, list[str]]] = {}
        """What is proposed, with the tasks that it is for."""

    def propose(self, task: RecordedTask) -> ProposedTask:
        """Return what becomes of a task, and what would let it through."""
        judged = self._judge.judge(task)
        if judged.stop is None:
            return ProposedTask(task, judged)
        known = [edit for edit in self.known if edit.tool in task.tools]
        misfit = misfit_before(self.policy, task, judged.stop)
        search = EditSearch(_Bench(self, task), known)
        found = search.find(judged)
        if not isinstance(found, FoundEdits):
            return ProposedTask(task, judged, None, found, search.judgements, misfit)
        for edit in found.edits:
            self.known.setdefault(edit, []).append(task.id)
        proposal = EditProposal(*found, self.attacks_with(found.edits))
        return ProposedTask(task, judged, proposal, None, search.judgements, misfit)

    def apply_edits(self, edits: Iterable[PolicyEdit], names: frozenset[str]) -> Policy | None:
        """Return the policy of some tools with edits; None if they do not fit it."""
        try:
            return build(Policy, edited_wire(restrict_wire(self._wire, names), edits))
        except (UnfitEdit, InvalidInput):
            return None

    def judge_with(self, task: RecordedTask, edits: Edits) -> JudgedTask | None:
        """Return what becomes of a task with edits; None if they do not fit the policy."""
        policy = self.apply_edits(edits, task.tools)
        return None if policy is None else TaskJudge(policy, self._now).judge(task.narrow_scope())

    def candidates(self, task: RecordedTask, edits: Edits, stop: TaskStop) -> list[PolicyEdit]:
        """Return the edits that may help with a stop, where some were made already."""
        policy = self.apply_edits(edits, task.tools)
        return [] if policy is None else edit_candidates(policy, task, stop, self._open)

    def attacks_with(self, edits: Edits) -> tuple[str, ...]:
        """Return the attacks that pass with edits, and not without: their ids."""
        touched = self._tools_touched(edits)
        found = []
        for attack in self._attacks:
            fitting = tuple(edit for edit in edits if edit.tool in attack.tools)
            policy = self.apply_edits(fitting, attack.tools) if attack.tools & touched else None
            if policy is not None and _passes(TaskJudge(policy, self._now), attack.narrow_scope()):
                found.append(attack.id)
        return tuple(found)

    def _tools_touched(self, edits: Edits) -> frozenset[str]:
        """Return the tools that edits are about, and those whose results are of their classes."""
        tools = self.policy.tools
        named = {edit.tool for edit in edits}
        classes = {tools[name].yields for name in named if name in tools} - {None}
        return frozenset(named | {name for name, one in tools.items() if one.yields in classes})

    def allowed_too(self, task: RecordedTask, proposal: EditProposal) -> AllowedToo:
        """Return what else a proposal allows, about the first call that it lets through."""
        before = self.apply_edits((), task.tools)
        after = self.apply_edits(proposal.edits, task.tools)
        if before is None or after is None or not proposal.stops:
            return AllowedToo((), None)
        stop = proposal.stops[0]
        openings = tuple(openings_of(before, after, stop, _tools_of(proposal.edits)))
        return AllowedToo(openings, find_opened_plan(before, after, stop))


def _passes(judge: TaskJudge, attack: RecordedTask) -> bool:
    """Return whether the last turn of an attack is allowed, with nobody asked."""
    return judge.judge(attack).last == "allow"


def _tools_of(edits: Edits) -> frozenset[str]:
    return frozenset(edit.tool for edit in edits)


class _Bench:
    """One task before the policy of a proposer."""

    def __init__(self, proposer: EditProposer, task: RecordedTask) -> None:
        self._proposer, self._task = proposer, task

    def judge_with(self, edits: Edits) -> JudgedTask | None:
        return self._proposer.judge_with(self._task, edits)

    def candidates(self, edits: Edits, stop: TaskStop) -> list[PolicyEdit]:
        return self._proposer.candidates(self._task, edits, stop)

    def price_edits(self, edits: Edits, stop: TaskStop) -> tuple[int, int]:
        attacks = len(self._proposer.attacks_with(edits))
        before = self._proposer.apply_edits((), self._task.tools)
        after = self._proposer.apply_edits(edits, self._task.tools)
        if before is None or after is None:
            return attacks, 0
        # Of content only addresses, links and accounts are judged: it opens more than is tried.
        unjudged = sum(one.kind == "role" and one.value == "content" for one in edits)
        opened = len(openings_of(before, after, stop, _tools_of(edits)))
        return attacks, opened + _OF_CONTENT * unjudged
