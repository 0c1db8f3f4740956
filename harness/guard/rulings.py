"""The answers of a guard on the wire: a ruling, the report of a session, or an error."""

from typing import Annotated, Final, Literal

from critic import VerifyVerdict
from critic.session import Action, SessionReport
from evals.context import CallId, SessionId
from evals.envelope import ARRAY, OPTIONAL, Count, Envelope, Identifier
from evals.json_value import JsonObject, Text
from evals.timestamps import Time

NOT_RUN: Final = "Not run."
"""What a model is told at least of a call that is not made."""
FAILED: Final = (
    "Not run: the check of this call failed. Tell the user: the operator of this agent has to look."
)
"""What a model is told where the guard itself failed."""


class Question(Envelope):
    """A question to a person about one call, whose `args` are all that a yes is to.

    `ask` is the question in words for whoever decides; `reason` is for the operator of the policy.
    `path` is a JSON pointer into the plan.
    """

    call: CallId
    tool: Identifier
    args: JsonObject
    ask: Text
    reason: Text
    path: Annotated[Text | None, OPTIONAL] = None


class UnknownCall(Envelope):
    """A call of a tool that the policy does not have, and what to tell the agent about it."""

    id: CallId
    tool: CallId
    say: Text


class Ruling(Envelope):
    """The ruling on a batch: in an `if` it is true only where the batch may run.

    `verdict` is what `verify` says of the batch. The action may be stricter: nobody is there to be
    asked, a person said no. Until `expires_at`, a yes to its questions counts. `critic_error` says
    that the guard itself failed: a verdict is missing, nothing may run, and the session is as it
    was. Calls of `unknown` tools are never made, and have no part in the rest: where there are no
    others, there is no plan.

    `reply` is what to tell the model: the `say` of all violations, those first that no approval
    clears, and of unknown tools. It is there unless all may run.
    """

    session: SessionId
    turn: Count
    action: Action
    verdict: Annotated[VerifyVerdict | None, OPTIONAL] = None
    plan_digest: Annotated[Identifier | None, OPTIONAL] = None
    questions: Annotated[tuple[Question, ...] | None, OPTIONAL, ARRAY] = None
    expires_at: Annotated[Time | None, OPTIONAL] = None
    note: Annotated[Text | None, OPTIONAL] = None
    critic_error: Annotated[Text | None, OPTIONAL] = None
    unknown: Annotated[tuple[UnknownCall, ...] | None, OPTIONAL, ARRAY] = None
    reply: Annotated[Text | None, OPTIONAL] = None

    def __bool__(self) -> bool:
        return self.action == "allow"

    @classmethod
    def of_failure(cls, session: str, turn: int, message: str) -> "Ruling":
        """Return the refusal where the guard itself failed."""
        return cls(session=session, turn=turn, action="refuse", critic_error=message, reply=FAILED)


class EventFault(Envelope):
    """Where an event is wrong, and what to do: one line, safe to print."""

    path: Text
    message: Text


class EventError(Envelope):
    """An event that changed nothing and allows nothing: invalid, or in the wrong place.

    The message begins with `critic_error: ` where the guard itself failed. In an `if` it is false.
    """

    session: Annotated[SessionId | None, OPTIONAL] = None
    error: EventFault

    def __bool__(self) -> Literal[False]:
        return False


Answer = Ruling | SessionReport | EventError | None
"""What an event is answered. `open`, `said` and `result` are answered by None where all is well."""
