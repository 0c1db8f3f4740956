"""What the calls of a late batch added to its session, by the record of its end. Pure."""

from collections.abc import Iterator
from typing import Any

from critic.late.opened_run import OpenedRun, open_run
from critic.late.settled_context import count_items
from critic.session.session_values import doubts_about, values_sent, yes_about
from evals.context import ApprovedValue, SentValues, WaivedCall
from evals.plan import Plan, Proposal, ToolStep
from evals.run import Opening, Run, ToolCall
from harness.canonical import canonical_json
from harness.record import sha256, without_approvals
from harness.replay.other_calls import read_other_calls


class LateRun:
    """A run of a late plan: each call spends and sends when it is opened."""

    def __init__(self, run: Run) -> None:
        """Derive its openings."""
        self._run = run
        self._tools = run.proposal.compiled.manifests.tools
        self._opened: OpenedRun = open_run(run)
        openings = zip(run.openings or (), self._opened.judged, strict=False)
        self._settled = {one.step: judged.settled.sent for one, judged in openings}

    def list_acts(self) -> dict[str, Any]:
        """Return the members of an entry of its end that say what it sent, spent and was given."""
        approved, waived = list[ApprovedValue](), list[WaivedCall]()
        openings = self._run.openings or ()
        for opening, judged in zip(openings, self._opened.judged, strict=False):
            settled = judged.settled.proposal
            if opening.approvals and opening.verdict.ok and settled is not None:
                case, doubts = doubts_about(without_approvals(settled, None))
                values, calls = yes_about(case, doubts).until(opening.approvals[0].expires_at)
                approved += values
                waived += calls
        other = read_other_calls(self._run.calls, self._settled_proposal())
        sent, spent = self._find_sent(), [*self._find_spent()]
        return {
            "sent": (*sent, *other.sent),
            "spent": (*spent, *other.spent),
            "possible_spent": (*spent, *other.possible_spent),
            "approved": tuple(approved),
            "waived": tuple(waived),
        }

    def _settled_proposal(self) -> Proposal:
        """Return the proposal with the steps as they were opened."""
        proposal = self._run.proposal
        steps = [self._settled.get(at) or step for at, step in enumerate(proposal.plan.steps)]
        plan = Plan(steps=steps, declared_outputs=proposal.plan.declared_outputs)
        return proposal.model_copy(update={"plan": plan})

    def _openings_of_calls(self) -> Iterator[tuple[Opening, ToolStep, ToolCall]]:
        """Yield the opening, the step as it was opened, and the last call of each."""
        made = {call.step: call for call in self._run.calls}
        last = {one.step: one for one in self._run.openings or ()}
        for step, call in made.items():
            settled = self._settled.get(step)
            if step in last and settled is not None:
                yield last[step], settled, call

    def _find_sent(self) -> Iterator[SentValues]:
        """Yield what was opened to be sent, each with how much was seen by then."""
        seen = len(self._run.proposal.compiled.manifests.evidence_manifest)
        for opening, step, _ in self._openings_of_calls():
            tool = self._tools.get((step.adapter_id, step.capability_id))
            values = values_sent(step.args)
            if values and (tool is None or tool.approval_mode != "read_only"):
                known = sum(map(count_items, self._run.calls[: opening.after]))
                yield SentValues(seq=seen + known, values=values)

    def _find_spent(self) -> Iterator[str]:
        for _, step, call in self._openings_of_calls():
            tool = self._tools.get((step.adapter_id, step.capability_id))
            is_destructive = tool is not None and tool.approval_mode == "destructive"
            if is_destructive and call.status != "failed":
                yield sha256(canonical_json(step.args))
