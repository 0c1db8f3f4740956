"""What would mend a refused plan: a closed set of repairs, each in somebody's power.

Rule 1: `by` says in whose power a repair is. What an approver or an operator has to do, no
        revision of the plan can do for them.
Rule 2: a step is named by its position in the refused plan, whatever else is dropped before it.
Rule 3: lists of candidates are cut after `MOST_CANDIDATES`: each will do, and one is enough.
"""

from typing import Annotated, Final, Literal

from pydantic import Field

from evals.envelope import (
    ARRAY,
    OPTIONAL,
    ApprovalMode,
    Count,
    Envelope,
    EvidenceRef,
    Identifier,
)
from evals.json_value import Text

# Enough to choose from, and small enough that advice on a plan of thousands of steps stays linear.
MOST_CANDIDATES: Final = 5

Candidates = Annotated[tuple[EvidenceRef, ...], ARRAY, Field(min_length=1)]
"""Ids of fresh evidence, in the order of the manifest. Pinning any one of them will do."""


class Capability(Envelope):
    """A tool of the surface."""

    adapter_id: Identifier
    capability_id: Identifier


class _ByPlanner(Envelope):
    by: Literal["planner"] = "planner"


class _ByOperator(Envelope):
    by: Literal["operator"] = "operator"


class DropStep(_ByPlanner):
    """Leave the step out: it may not run here, or it repeats an earlier one, or nothing is lost.

    Nothing is lost where there is no evidence for it, and no need of what it reads.
    """

    kind: Literal["drop_step"] = "drop_step"
    step: Count


class CorrectArgs(_ByPlanner):
    """Give other args at `path`, or drop the step. Only the planner knows what it meant."""

    kind: Literal["correct_args"] = "correct_args"
    step: Count
    path: Text


class PinEvidence(_ByPlanner):
    """Pin evidence of a class, at the step; without a step, at any."""

    kind: Literal["pin_evidence"] = "pin_evidence"
    step: Annotated[Count | None, OPTIONAL] = None
    classification: Identifier
    candidates: Candidates


class BackArgument(_ByPlanner):
    """Pin, at the step, evidence that a value of the bound argument stands in."""

    kind: Literal["back_argument"] = "back_argument"
    step: Count
    argument: Text
    candidates: Candidates


class UnpinEvidence(_ByPlanner):
    """Do not pin this: it does not exist, or it has expired."""

    kind: Literal["unpin_evidence"] = "unpin_evidence"
    step: Count
    ref: EvidenceRef


class DropClaim(_ByPlanner):
    """Do not ask for this class: nothing but the step itself demands it, and there is none."""

    kind: Literal["drop_claim"] = "drop_claim"
    step: Count
    classification: Identifier


class DropId(_ByPlanner):
    """Give the step an id of its own, or none: an earlier step has this one."""

    kind: Literal["drop_id"] = "drop_id"
    step: Count


class DropDependency(_ByPlanner):
    """Do not depend on what is no earlier step."""

    kind: Literal["drop_dependency"] = "drop_dependency"
    step: Count
    dependency: Identifier


class DeclareOutput(_ByPlanner):
    """Declare the output."""

    kind: Literal["declare_output"] = "declare_output"
    output: Identifier


class ProduceOutput(_ByPlanner):
    """Add a step that can produce the output: a call of a candidate, or a reason step."""

    kind: Literal["produce_output"] = "produce_output"
    output: Identifier
    candidates: Annotated[tuple[Capability, ...], ARRAY] = ()


class SetTrace(_ByPlanner):
    """Name this trace, or none."""

    kind: Literal["set_trace"] = "set_trace"
    trace_id: Identifier


class Shorten(_ByPlanner):
    """Drop as many steps, over and above those that other repairs drop."""

    kind: Literal["shorten"] = "shorten"
    steps: Annotated[Count, Field(ge=1)]


class SaveTokens(_ByPlanner):
    """Plan for as many tokens less. Dropping these steps would save them."""

    kind: Literal["save_tokens"] = "save_tokens"
    tokens: Annotated[Count, Field(ge=1)]
    steps: Annotated[tuple[Count, ...], ARRAY]


class AskApproval(Envelope):
    """Have a person approve the mended plan for these steps, which are of mode `tier`."""

    kind: Literal["ask_approval"] = "ask_approval"
    by: Literal["approver"] = "approver"
    tier: ApprovalMode
    steps: Annotated[tuple[Count, ...], ARRAY, Field(min_length=1)]


class ObtainEvidence(_ByOperator):
    """Bring fresh evidence of one of these classes into the manifest: there is none."""

    kind: Literal["obtain_evidence"] = "obtain_evidence"
    step: Annotated[Count | None, OPTIONAL] = None
    classifications: Annotated[tuple[Identifier, ...], ARRAY, Field(min_length=1)]


class GrantBudget(_ByOperator):
    """Grant more of what is used up: the plan is over by so much, and nothing is left."""

    kind: Literal["grant_budget"] = "grant_budget"
    of: Literal["steps", "tokens"]
    by_how_much: Annotated[Count, Field(ge=1)]


StepRepair = (
    DropStep
    | CorrectArgs
    | PinEvidence
    | BackArgument
    | UnpinEvidence
    | DropClaim
    | DropId
    | DropDependency
)
PlanRepair = DeclareOutput | ProduceOutput | SetTrace | Shorten | SaveTokens
OthersRepair = AskApproval | ObtainEvidence | GrantBudget
Repair = Annotated[StepRepair | PlanRepair | OthersRepair, Field(discriminator="kind")]

Disposition = Literal["replan", "reject"]


class Advice(Envelope):
    """What to do about a refusal: the planner can mend it, or no revision alone will do.

    With `reject`, the repairs that are not the planner's say who else must act. An approver comes
    after the planner, since an approval is of one exact plan.
    """

    disposition: Disposition
    repairs: Annotated[tuple[Repair, ...], ARRAY]
