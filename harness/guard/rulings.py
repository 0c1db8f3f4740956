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
SAID_NO: Final = "a person said no to this call"
"""How a call failed that a person said no to, where the guard itself would allow it."""
FAILED: Final = (
    "Not run: the check of this call failed. Tell the user: the operator of this agent has to look."
)
"""What a model is told where the guard itself failed."""


class Question(Envelope):
    """A question to a person about one call. A yes covers exactly its `args`.

    `ask` is the question in the person's words, `reason` is for the operator of the policy. `path`
    is a JSON pointer into the plan.
    """

    call: CallId
    tool: Identifier
    args: JsonObject
    ask: Text
    reason: Text
    path: Annotated[Text | None, OPTIONAL] = None


class UnknownCall(Envelope):
    """A call of a tool that the policy lacks, and the message to the agent."""

    id: CallId
    tool: CallId
    say: Text


class Ruling(Envelope):
    """The ruling on a batch. In an `if` it is true only if the batch may run.

    `verdict` is the verdict of `verify` on the batch. The action may be stricter: nobody is there
    to ask, or a person said no. A yes to its questions counts until `expires_at`. `critic_error`
    means that the guard itself failed: there is no verdict, nothing may run, and the session is
    unchanged. Calls of `unknown` tools never run and are left out of the verdict; if there are no
    other calls, there is no plan.

    `reply` is the message to the model: the `say` of all violations, those first that no approval
    clears, and of unknown tools. It is absent if everything may run.
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
        """Return the refusal after an internal failure."""
        return cls(session=session, turn=turn, action="refuse", critic_error=message, reply=FAILED)


class OpeningRuling(Envelope):
    """The ruling on a call that was opened. In an `if` it is true only if the call may be made.

    `args` are what to send then, with the values that the call takes. `plan_digest` is that of the
    plan with its values, which an answer to its `questions` names. `reply` is the message to the
    model.
    """

    session: SessionId
    turn: Count
    id: CallId
    action: Action
    verdict: VerifyVerdict
    plan_digest: Identifier
    args: Annotated[JsonObject | None, OPTIONAL] = None
    questions: Annotated[tuple[Question, ...] | None, OPTIONAL, ARRAY] = None
    expires_at: Annotated[Time | None, OPTIONAL] = None
    note: Annotated[Text | None, OPTIONAL] = None
    reply: Annotated[Text | None, OPTIONAL] = None

    def __bool__(self) -> bool:
        return self.action == "allow"


class EventFault(Envelope):
    """The place of an error in an event, and the fix: one line, safe to print."""

    path: Text
    message: Text


class EventError(Envelope):
    """The answer to an invalid event or one that is out of order. It changed nothing.

    The message begins with `critic_error: ` if the guard itself failed. In an `if` it is false.
    """

    session: Annotated[SessionId | None, OPTIONAL] = None
    error: EventFault

    def __bool__(self) -> Literal[False]:
        return False


Answer = Ruling | OpeningRuling | SessionReport | EventError | None
"""What an event is answered. `open`, `said` and `result` are answered by None where all is well."""
