"""The calls of a run that are not those that were allowed. Pure."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from critic.session.session_values import values_sent
from evals.context import SentValues
from evals.plan import Proposal, ToolStep, parts_by_command
from evals.run import ToolCall
from harness.canonical import canonical_json
from harness.record import sha256


class OtherActs(NamedTuple):
    """What calls did that are not the allowed ones.

    Attributes:
        sent: the values that they sent, after all that was seen before the turn.
        spent: the digests of destructive calls that may have had an effect.
        possible_spent: the same, with calls of tools that the record does not know.
    """

    sent: tuple[SentValues, ...]
    spent: tuple[str, ...]
    possible_spent: tuple[str, ...]


def read_other_calls(calls: Iterable[ToolCall], proposal: Proposal) -> OtherActs:
    """Return what the calls of a run did that are not those of their steps."""
    others = [*_stray_calls(calls, proposal)]
    seen = len(proposal.compiled.manifests.evidence_manifest)
    return OtherActs(
        tuple(SentValues(seq=seen, values=one.sent) for one in others if one.sent),
        tuple(one.digest for one in others if one.spends),
        tuple(one.digest for one in others if one.spends is not False),
    )


class _StrayCall(NamedTuple):
    """A call that is not the allowed one: what it sent, its digest, and whether it spends.

    None where its tool is none of those that the record knows.
    """

    sent: tuple[Any, ...]
    digest: str
    spends: bool | None


def _stray_calls(calls: Iterable[ToolCall], proposal: Proposal) -> Iterator[_StrayCall]:
    commands = parts_by_command(proposal.plan)
    for call in calls:
        step = proposal.plan.steps[call.step]
        pair = call.adapter_id, call.capability_id
        if not isinstance(step, ToolStep):
            continue
        is_of_step = pair == (step.adapter_id, step.capability_id)
        if is_of_step and canonical_json(call.args) == canonical_json(step.args):
            continue
        tool = proposal.compiled.manifests.tools.get(pair)
        mode = tool.approval_mode if tool is not None else None
        only_reads = is_of_step and mode == "read_only" and call.step not in commands
        sent = () if only_reads else values_sent(call.args)
        spends = None if mode is None else mode == "destructive" and call.status != "failed"
        yield _StrayCall(sent, sha256(canonical_json(call.args)), spends)
