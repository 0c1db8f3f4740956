"""The answers of a person to the questions of an agent of LangChain."""

from typing import Annotated

from evals.context import CallId, Sha256
from evals.envelope import OPTIONAL, Envelope, Identifier
from evals.json_value import JsonObject


class CallAnswer(Envelope):
    """The answer of a person about one call. `args` are those that they changed it to."""

    yes: bool
    args: Annotated[JsonObject | None, OPTIONAL] = None


class ApprovalAnswer(Envelope):
    """The value of `Command(resume=...)`. A call that `calls` does not name is not made.

    `plan_digest` is that of the question. The application authenticates `approver`.
    """

    plan_digest: Sha256
    approver: Identifier
    calls: dict[CallId, CallAnswer]
