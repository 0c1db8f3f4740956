"""A repaired plan prepared for the checks, and the approvals that are left to ask for.

Rule 1: a reason step that a repair put in stands for a call whose args the planner has to write. It
        counts as producing what that call would produce.
Rule 2: a plan that changes loses its approvals, so all that its steps need are asked for.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from critic.prepared import PreparedPlan, prepare_plan
from critic.repairs.apply import RepairedPlan, added_tools
from critic.repairs.repair_kinds import AskApproval, CorrectArgs, ProduceOutput, Repair
from critic.surface import NO_TOOL
from critic.verify import found_in
from evals.kinds import MODE_RANK, ApprovalMode
from evals.plan import Proposal, ToolStep


def repaired_case(
    proposal: Proposal, repaired: RepairedPlan, repairs: Iterable[Repair]
) -> PreparedPlan:
    """Prepare the repaired plan of a proposal. `repairs` are those that were applied."""
    ctx, compiled, spec = proposal.ctx, proposal.compiled, proposal.spec
    case = prepare_plan(ctx, compiled, spec, repaired.plan)
    corrected, added = set[int](), set[str]()
    for repair in repairs:
        if isinstance(repair, CorrectArgs):
            corrected.add(repair.step)
        elif isinstance(repair, ProduceOutput) and repair.candidates:
            added.add(repair.output)
    produces = dict.fromkeys(range(len(repaired.origins), len(case.steps)), frozenset(added))
    for index, origin in enumerate(repaired.origins):
        step = proposal.plan.steps[origin]
        if origin in corrected and isinstance(step, ToolStep):
            produces[index] = case.surface.tools[step.adapter_id, step.capability_id].produces
    case.steps = [
        (index, replace(tool, produces=produces[index]) if index in produces else tool, fields)
        for index, tool, fields in case.steps
    ]
    return case


def approvals_to_ask(
    proposal: Proposal, repairs: Sequence[Repair], kept: set[int], approved_from: int
) -> Iterator[AskApproval]:
    """Yield the approvals that the kept and the added steps need, by the modes of their tools.

    `approved_from` is the rank from which on a call needs an approval.
    """
    ctx = proposal.ctx
    if any(repair.by == "planner" for repair in repairs):
        ctx = ctx.model_copy(update={"approvals": None})
    case = prepare_plan(ctx, proposal.compiled, proposal.spec, proposal.plan)
    asked: dict[ApprovalMode, set[int]] = {}
    for found in found_in(case):
        if found.approvable and found.step in kept:
            asked.setdefault(case.steps[found.step][1].mode, set()).add(found.step)
    for index, name in enumerate(added_tools(repairs), len(proposal.plan.steps)):
        tool = case.surface.tools[name.adapter_id, name.capability_id] if name else NO_TOOL
        if tool.rank >= approved_from:
            asked.setdefault(tool.mode, set()).add(index)
    for mode in sorted(asked, key=MODE_RANK.__getitem__):
        yield AskApproval(tier=mode, steps=tuple(sorted(asked[mode])))
