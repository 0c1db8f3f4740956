"""The repairs of a refused plan: a closed set, each with who can do it.

Rule 1: `by` says who can do a repair. No revision of the plan can do what an approver or an
        operator has to do.
Rule 2: a step is named by its index in the refused plan, even where earlier steps are dropped.
Rule 3: lists of candidates are cut after `MOST_CANDIDATES`; any single candidate is enough.
"""

from typing import Annotated, Final, Literal

from pydantic import Field

from evals.envelope import ARRAY, OPTIONAL, Count, Envelope, EvidenceRef, Identifier
from evals.json_value import Text
from evals.kinds import ApprovalMode

# Enough to choose from, and small enough that advice on a plan of thousands of steps stays linear.
MOST_CANDIDATES: Final = 5

_Candidates = Annotated[tuple[EvidenceRef, ...], ARRAY, Field(min_length=1)]
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
    """Drop the step: it may not run here, repeats an earlier step, or is an unneeded read.

    A read is unneeded where no evidence supports it and no required output or other step needs it.
    """

    kind: Literal["drop_step"] = "drop_step"
    step: Count


class CorrectArgs(_ByPlanner):
    """Give other args, takes or evidence steps at `path`, or drop the step.

    Only the planner knows what was meant.
    """

    kind: Literal["correct_args"] = "correct_args"
    step: Count
    path: Text


class ValueSource(Envelope):
    """A place in what a step of the refused plan returns: `at` is a pointer into its output."""

    step: Count
    at: Text


class TakeValue(_ByPlanner):
    """Take the value at `path` from what an earlier step returns: nobody named the one written.

    Any of the candidates will do. A step that is taken from needs an id.
    """

    kind: Literal["take_value"] = "take_value"
    step: Count
    path: Text
    candidates: Annotated[tuple[ValueSource, ...], ARRAY, Field(min_length=1)]


class PinEvidence(_ByPlanner):
    """Pin evidence of a class at the step, or at any step where none is named."""

    kind: Literal["pin_evidence"] = "pin_evidence"
    step: Annotated[Count | None, OPTIONAL] = None
    classification: Identifier
    candidates: _Candidates


class BackArgument(_ByPlanner):
    """Pin, at the step, evidence that backs a value of the bound argument.

    For arguments that are bound together it backs all of them, and the first is named.
    """

    kind: Literal["back_argument"] = "back_argument"
    step: Count
    argument: Text
    candidates: _Candidates


class UnpinEvidence(_ByPlanner):
    """Remove the pinned ref: it is not in the manifest, or it has expired."""

    kind: Literal["unpin_evidence"] = "unpin_evidence"
    step: Count
    ref: EvidenceRef


class DropClaim(_ByPlanner):
    """Remove the class from `requires_evidence`: no evidence has it, only the step needs it."""

    kind: Literal["drop_claim"] = "drop_claim"
    step: Count
    classification: Identifier


class DropId(_ByPlanner):
    """Give the step another id, or none: an earlier step has this one."""

    kind: Literal["drop_id"] = "drop_id"
    step: Count


class DropDependency(_ByPlanner):
    """Remove a dependency that names no earlier step."""

    kind: Literal["drop_dependency"] = "drop_dependency"
    step: Count
    dependency: Identifier


class DeclareOutput(_ByPlanner):
    """Add the output to `declared_outputs`."""

    kind: Literal["declare_output"] = "declare_output"
    output: Identifier


class ProduceOutput(_ByPlanner):
    """Add a step that can produce the output: a call of a candidate.

    Without candidates no tool lists the output, and a reason step will do.
    """

    kind: Literal["produce_output"] = "produce_output"
    output: Identifier
    candidates: Annotated[tuple[Capability, ...], ARRAY] = ()


class SetTrace(_ByPlanner):
    """Set the plan's trace_id to this trace, or leave it out."""

    kind: Literal["set_trace"] = "set_trace"
    trace_id: Identifier


class Shorten(_ByPlanner):
    """Drop this many steps, in addition to those that other repairs drop."""

    kind: Literal["shorten"] = "shorten"
    steps: Annotated[Count, Field(ge=1)]


class SaveTokens(_ByPlanner):
    """Cut the plan by `tokens`. Dropping `steps` is enough."""

    kind: Literal["save_tokens"] = "save_tokens"
    tokens: Annotated[Count, Field(ge=1)]
    steps: Annotated[tuple[Count, ...], ARRAY]


class AskApproval(Envelope):
    """Have a person approve the repaired plan for these steps, which have the mode `tier`.

    Steps that the planner is to add count on after those of the refused plan.
    """

    kind: Literal["ask_approval"] = "ask_approval"
    by: Literal["approver"] = "approver"
    tier: ApprovalMode
    steps: Annotated[tuple[Count, ...], ARRAY, Field(min_length=1)]


class ObtainEvidence(_ByOperator):
    """Add fresh evidence of one of these classes to the manifest: it has none that would do.

    `content` says what the content must do, such as `satisfies the content_schema`, where the class
    alone is not enough.
    """

    kind: Literal["obtain_evidence"] = "obtain_evidence"
    step: Annotated[Count | None, OPTIONAL] = None
    classifications: Annotated[tuple[Identifier, ...], ARRAY, Field(min_length=1)]
    content: Annotated[Text | None, OPTIONAL] = None


class AllowTool(_ByOperator):
    """Let the plan call a tool that lists the output: none that it may call does, even approved."""

    kind: Literal["allow_tool"] = "allow_tool"
    output: Identifier
    candidates: Annotated[tuple[Capability, ...], ARRAY, Field(min_length=1)]


class GrantBudget(_ByOperator):
    """Grant more steps or tokens: what is left is too little for any plan that would do.

    The plan, with the other repairs, is over by `by_how_much`.
    """

    kind: Literal["grant_budget"] = "grant_budget"
    of: Literal["steps", "tokens"]
    by_how_much: Annotated[Count, Field(ge=1)]


StepRepair = (
    DropStep
    | CorrectArgs
    | TakeValue
    | PinEvidence
    | BackArgument
    | UnpinEvidence
    | DropClaim
    | DropId
    | DropDependency
)
PlanRepair = DeclareOutput | ProduceOutput | SetTrace | Shorten | SaveTokens
OthersRepair = AskApproval | ObtainEvidence | AllowTool | GrantBudget
Repair = Annotated[StepRepair | PlanRepair | OthersRepair, Field(discriminator="kind")]
"""One repair, of any kind. `by` says who can do it."""

Disposition = Literal["replan", "reject"]
"""The advice on a refusal: revise the plan, or leave it to others."""


class Advice(Envelope):
    """Advice on a refusal: let the planner revise the plan, or reject it.

    With `reject`, no revision alone is enough: the repairs that are not the planner's say who else
    must act. An approver acts after the planner, since an approval is of one exact plan.
    """

    disposition: Disposition
    repairs: Annotated[tuple[Repair, ...], ARRAY]
