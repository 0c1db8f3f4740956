"""Takes the critic's decision from its reply, and compares it with what the critic was shown."""

from collections.abc import Iterator, Sequence

from harness.loops.code.agent_output import how_it_ended, read_reply
from harness.loops.code.critic_decision import (
    Continue,
    Done,
    Error,
    MalformedReply,
    decision_was_shown,
    parse_decision,
)
from harness.loops.code.session_lines import AgentRun, Diff


def decision_in(run: AgentRun, reply: str, shown: Sequence[str]) -> Done | Continue | Error:
    """Return the decision in the `reply` of a critic that was shown these texts.

    Raises:
        MalformedReply: the critic failed, or its reply does not end with exactly one decision.
    """
    if run.exit_code != 0:
        raise MalformedReply(f"the critic {how_it_ended(run)}")
    if run.truncated:
        raise MalformedReply("the reply is too long to be a decision")
    decision = parse_decision(reply)
    if isinstance(decision, Done) and decision_was_shown(reply, shown):
        raise MalformedReply("the reply repeats word for word what the actor wrote")
    return decision


def feedback_text(decision: Continue | Error) -> str:
    """Return the text that the next actor gets for this decision."""
    if isinstance(decision, Error):
        return f"{decision.analysis}\n\nHow to recover: {decision.recovery}"
    return "\n".join([decision.feedback, *(f"- {issue}" for issue in decision.remaining_issues)])


def texts_of_actor(actor: AgentRun, diff: Diff | None) -> Iterator[str]:
    """Yield what an actor printed, and the lines of its diff: both sides together, and each."""
    yield from (actor.stdout, actor.stderr, read_reply(actor.stdout).text)
    lines = ((diff and diff.content()) or b"").decode("utf-8", "replace").split("\n")
    for signs in ("", "+", "-"):
        side = (line for line in lines if not signs or line[:1] in ("", " ", signs))
        yield "\n".join(line[1:] for line in side)
