"""The contract of one kind of decision: all that it demands beside what the tools demand."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

from evals.envelope import ARRAY, MEMBERS, OPTIONAL, RESTRICTION, Array, Envelope, Identifier
from evals.json_schemas import JsonSchema
from evals.kinds import ApprovalMode

Provenance = Literal["closed", "open"]
"""`closed`: the request names what may be acted on. `open`: for open-ended tasks, which ask more
and refuse less."""

LateApproval = Literal["sources", "values"]
"""What a person approves of a late plan. `sources`: where its late values come from, before it
runs. `values`: each late value, once it is there."""

PartyRecipients = Literal["ask", "allow"]
"""What a recipient is worth that stands only in a `party` field of a record."""


class DecisionSpec(Envelope):
    """The contract of one kind of decision.

    `approval_mode` is a ceiling over the safety mode; steps at or above `approval_required_from`
    need an approval; content of the evidence of `confined_evidence` classes must not leave through
    outputs or calls at `network` or above. `provenance` says how the origin of target values is
    judged; where it is absent, it is not. `party_recipients` says whether a recipient that stands
    only in a `party` field of a record is asked about (the default), or allowed. `late` lets plans
    take values that their steps return: where it is absent, no such plan passes.
    """

    id: Identifier
    required_outputs: Annotated[tuple[Identifier, ...], ARRAY]
    required_evidence: Annotated[tuple[Identifier, ...] | None, RESTRICTION, ARRAY] = None
    approval_mode: Annotated[ApprovalMode | None, RESTRICTION] = None
    approval_required_from: Annotated[ApprovalMode | None, RESTRICTION] = None
    output_schemas: Annotated[dict[Identifier, JsonSchema] | None, RESTRICTION, MEMBERS] = None
    confined_evidence: Annotated[tuple[Identifier, ...] | None, RESTRICTION, ARRAY] = None
    provenance: Annotated[Provenance | None, RESTRICTION] = None
    party_recipients: Annotated[PartyRecipients | None, OPTIONAL] = None
    late: Annotated[LateApproval | None, OPTIONAL] = None

    if TYPE_CHECKING:  # what the constructor takes: see rule 4 of `evals.envelope`

        def __init__(
            self,
            *,
            id: str,
            required_outputs: Array[str],
            required_evidence: Array[str] = ...,
            approval_mode: ApprovalMode = ...,
            approval_required_from: ApprovalMode = ...,
            output_schemas: dict[str, Any] = ...,
            confined_evidence: Array[str] = ...,
            provenance: Provenance = ...,
            party_recipients: PartyRecipients | None = None,
            late: LateApproval | None = None,
        ) -> None: ...
