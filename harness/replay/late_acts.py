"""What the calls of a late batch added to its session, by the record of its end. Pure."""

from collections.abc import Iterator
from typing import Any

from critic.late.opened_run import OpenedRun, open_run
from critic.late.settled_context import count_items
from critic.session.session_values import doubts_about, values_sent, yes_about
from evals.context import ApprovedValue, SentValues, WaivedCall
from evals.run import Opening, Run, ToolCall
from harness.canonical import canonical_json
from harness.record import sha256, without_approvals


class LateRun:
    """A run of a late plan: each call spends and sends when it is opened."""

    def __init__(self, run: Run) -> None:
        """Derive its openings."""
        self._run = run
        self._tools = run.proposal.compiled.manifests.tools
        self._opened: OpenedRun = open_run(run)

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
        spent = tuple(self._find_spent())
        known = {"approved": tuple(approved), "waived": tuple(waived)}
        return {"sent": tuple(self._find_sent()), "spent": spent, "possible_spent": spent, **known}

    def _openings_of_calls(self) -> Iterator[tuple[Opening, ToolCall]]:
        made = {call.step: call for call in self._run.calls}
        last = {one.step: one for one in self._run.openings or ()}
        return ((last[step], call) for step, call in made.items() if step in last)

    def _find_sent(self) -> Iterator[SentValues]:
        """Yield what the calls sent, each with how much was seen when it was opened."""
        before = len(self._run.proposal.compiled.manifests.evidence_manifest)
        for opening, call in self._openings_of_calls():
            tool = self._tools.get((call.adapter_id, call.capability_id))
            values = values_sent(call.args)
            if values and (tool is None or tool.approval_mode != "read_only"):
                known = sum(map(count_items, self._run.calls[: opening.after]))
                yield SentValues(seq=before + known, values=values)

    def _find_spent(self) -> Iterator[str]:
        for _, call in self._openings_of_calls():
            tool = self._tools.get((call.adapter_id, call.capability_id))
            is_destructive = tool is not None and tool.approval_mode == "destructive"
            if is_destructive and call.status != "failed":
                yield sha256(canonical_json(call.args))
