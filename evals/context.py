"""The run that a plan is for: its limits, what was spent, who approved what, and what was seen."""

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import Field

from evals.capability import ArgKind, Role, ToolName
from evals.envelope import (
    ARRAY,
    OPTIONAL,
    RESTRICTION,
    Array,
    Count,
    Envelope,
    Identifier,
    OnlyTrue,
)
from evals.json_value import PresentJson, Text
from evals.kinds import ApprovalMode
from evals.timestamps import Time

# The defaults of the published critic that this one grew from.
DEFAULT_MAX_STEPS = 12
DEFAULT_BUCKET_TOKENS = 8000

# An hour of work of one agent, roughly.
DEFAULT_SESSION_STEPS = 100
DEFAULT_SESSION_TOKENS = 1_000_000

CallId = Annotated[Text, Field(min_length=1, max_length=256)]
"""The id of a call in a session: any text of 1 to 256 characters."""

SessionId = CallId
"""The id of a session: any text of 1 to 256 characters."""

SHA256: Final = r"^(sha256:)?[0-9a-f]{64}$"
"""The pattern of a SHA-256 as text."""

Sha256 = Annotated[str, Field(pattern=SHA256)]
"""64 hexadecimal digits, with or without a `sha256:` prefix."""


class RunBudget(Envelope):
    """The budget of one trace: steps, tokens, milliseconds, and millionths of a currency."""

    max_steps: Count = DEFAULT_MAX_STEPS
    bucket_tokens: Count = DEFAULT_BUCKET_TOKENS
    wall_ms: Annotated[Count | None, RESTRICTION] = None
    cost_micros: Annotated[Count | None, RESTRICTION] = None

    if TYPE_CHECKING:  # what the constructor takes: see rule 4 of `evals.envelope`

        def __init__(
            self,
            *,
            max_steps: int = ...,
            bucket_tokens: int = ...,
            wall_ms: int = ...,
            cost_micros: int = ...,
        ) -> None: ...


class SpentCall(Envelope):
    """A destructive call that an earlier plan of the trace made, or may have made.

    `args_digest` is `digest(args)`: 64 hexadecimal digits, with or without a `sha256:` prefix. It
    counts where the call completed, timed out or has an unknown outcome.
    """

    adapter_id: Identifier
    capability_id: Identifier
    args_digest: Sha256
    id: Annotated[CallId | None, OPTIONAL] = None

    if TYPE_CHECKING:  # what the constructor takes: see rule 4 of `evals.envelope`

        def __init__(
            self,
            *,
            adapter_id: str,
            capability_id: str,
            args_digest: str,
            id: str | None = None,
        ) -> None: ...


class Spent(Envelope):
    """The amounts that earlier plans of the same trace have used already."""

    steps: Annotated[Count | None, RESTRICTION] = None
    tokens: Annotated[Count | None, RESTRICTION] = None
    calls: Annotated[tuple[SpentCall, ...] | None, RESTRICTION, ARRAY] = None

    if TYPE_CHECKING:  # what the constructor takes: see rule 4 of `evals.envelope`

        def __init__(
            self,
            *,
            steps: int = ...,
            tokens: int = ...,
            calls: Array[SpentCall] = ...,
        ) -> None: ...


class Approval(Envelope):
    """A person's approval of one exact plan.

    `plan_digest` is `digest(plan)`: 64 hexadecimal digits, with or without a `sha256:` prefix.
    `steps` are the positions that it covers; absent means all of them. `context_digest` is
    `critic.context_digest(ctx, compiled, spec)`: where it is present, the approval holds for no
    other trace, manifests or spec. `late`: the approver was shown where each late value comes from.
    """

    approval_id: Identifier
    plan_digest: Identifier
    steps: Annotated[tuple[Count, ...] | None, RESTRICTION, ARRAY] = None
    approver: Identifier
    expires_at: Annotated[Time | None, RESTRICTION] = None
    context_digest: Annotated[Identifier | None, RESTRICTION] = None
    late: Annotated[OnlyTrue | None, OPTIONAL] = None

    if TYPE_CHECKING:  # what the constructor takes: see rule 4 of `evals.envelope`

        def __init__(
            self,
            *,
            approval_id: str,
            plan_digest: str,
            steps: Array[int] = ...,
            approver: str,
            expires_at: datetime | str = ...,
            context_digest: str = ...,
            late: Literal[True] | None = None,
        ) -> None: ...


class ApprovedValue(Envelope):
    """A value that a person approved in this session: in this role, for this tool, at this tier.

    It holds for calls of the tool at `approval_mode` or below.
    """

    value: PresentJson
    role: Role
    tool: ToolName
    approval_mode: ApprovalMode
    expires_at: Annotated[Time | None, RESTRICTION] = None

    if TYPE_CHECKING:  # what the constructor takes: see rule 4 of `evals.envelope`

        def __init__(
            self,
            *,
            value: Any,
            role: Role,
            tool: ToolName,
            approval_mode: ApprovalMode,
            expires_at: datetime | str = ...,
        ) -> None: ...


class OwnValue(Envelope):
    """A thing that a completed call of this session made: its kind, and what it is called."""

    kind: ArgKind
    value: PresentJson

    if TYPE_CHECKING:  # what the constructor takes: see rule 4 of `evals.envelope`

        def __init__(
            self,
            *,
            kind: str,
            value: Any,
        ) -> None: ...


class SentValues(Envelope):
    """What a call above `read_only` sent, and when: items with a lower `seq` were seen before."""

    seq: Count
    values: Annotated[tuple[PresentJson, ...], ARRAY]

    if TYPE_CHECKING:  # what the constructor takes: see rule 4 of `evals.envelope`

        def __init__(
            self,
            *,
            seq: int,
            values: Array[Any],
        ) -> None: ...


class WaivedCall(Envelope):
    """A call outside the scope that a person approved: its tool and its target values."""

    tool: ToolName
    targets: Annotated[tuple[PresentJson, ...], ARRAY]
    expires_at: Annotated[Time | None, RESTRICTION] = None

    if TYPE_CHECKING:  # what the constructor takes: see rule 4 of `evals.envelope`

        def __init__(
            self,
            *,
            tool: ToolName,
            targets: Array[Any],
            expires_at: datetime | str = ...,
        ) -> None: ...


class SessionFacts(Envelope):
    """The acts of the session before this plan, as `critic.session` computes them from its events.

    `ran` are the tools with a completed call, `own` the things that completed calls made, `sent`
    what calls above `read_only` sent, `approved` the values that a person approved, and `waived`
    the calls outside the scope that a person approved.
    """

    id: SessionId
    turn: Count
    ran: Annotated[tuple[ToolName, ...] | None, OPTIONAL, ARRAY] = None
    own: Annotated[tuple[OwnValue, ...] | None, OPTIONAL, ARRAY] = None
    sent: Annotated[tuple[SentValues, ...] | None, RESTRICTION, ARRAY] = None
    approved: Annotated[tuple[ApprovedValue, ...] | None, OPTIONAL, ARRAY] = None
    waived: Annotated[tuple[WaivedCall, ...] | None, OPTIONAL, ARRAY] = None

    if TYPE_CHECKING:  # what the constructor takes: see rule 4 of `evals.envelope`

        def __init__(
            self,
            *,
            id: str,
            turn: int,
            ran: Array[ToolName] | None = None,
            own: Array[OwnValue] | None = None,
            sent: Array[SentValues] = ...,
            approved: Array[ApprovedValue] | None = None,
            waived: Array[WaivedCall] | None = None,
        ) -> None: ...


class RunContext(Envelope):
    """The run that a plan is for. `as_of` is the time: the caller gives it, no clock is read.

    `scope` are the tools that the request is for. `tenant_id` and `user_id` say whom it is for:
    they are recorded, and nothing is decided by them.
    """

    trace_id: Identifier
    safety_mode: ApprovalMode
    run_id: Annotated[Identifier | None, OPTIONAL] = None
    tenant_id: Annotated[Identifier | None, OPTIONAL] = None
    user_id: Annotated[Identifier | None, OPTIONAL] = None
    run_budget: Annotated[RunBudget | None, RESTRICTION] = None
    spent: Annotated[Spent | None, RESTRICTION] = None
    approvals: Annotated[tuple[Approval, ...] | None, OPTIONAL, ARRAY] = None
    as_of: Annotated[Time | None, OPTIONAL] = None
    scope: Annotated[tuple[ToolName, ...] | None, OPTIONAL, ARRAY] = None
    session: Annotated[SessionFacts | None, OPTIONAL] = None

    if TYPE_CHECKING:  # what the constructor takes: see rule 4 of `evals.envelope`

        def __init__(
            self,
            *,
            trace_id: str,
            safety_mode: ApprovalMode,
            run_id: str | None = None,
            tenant_id: str | None = None,
            user_id: str | None = None,
            run_budget: RunBudget = ...,
            spent: Spent = ...,
            approvals: Array[Approval] | None = None,
            as_of: datetime | str | None = None,
            scope: Array[ToolName] | None = None,
            session: SessionFacts | None = None,
        ) -> None: ...
