"""The law of sources: what outsiders write in results raises no ruling on a later call.

The labels of the policy say what an outsider writes. A session is played as it was told, or with
the values of its calls written wherever an outsider writes; and once more with all of that taken
away. The guard is a shadow, so that both go on alike whatever is said of them.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from critic import Proposal, verify_proposal
from evals.plan_verdicts import Refused, Verified
from harness.policy import Policy
from harness.policy.envelopes import PolicyTool
from harness.record import Decision
from harness.testing._draw.drawn_sources import said_in
from harness.testing._draw.primitives import Json
from harness.testing._laws.outsider_laws import (
    NO_TEXT_WRITTEN,
    NOTHING_WRITTEN,
    WrittenParts,
    doubted_targets,
    rewrite_item,
    write_values,
)
from harness.testing._laws.provenance_laws import levels_of
from harness.testing._streams.stream_trial import StreamTrial
from harness.wire import build

_MOST_ROUNDS: Final = 2
OF_SOURCES: Final = ("a public text", "a doubted target", "an allowed call")
"""What the law meets, where a policy judges where values come from."""


def public_texts_raise_no_ruling(trial: StreamTrial) -> None:
    """What outsiders write in results allows no tool and no target of a later call.

    Where the request names nothing, text does not turn a refusal into a question either, unless
    the policy is open. (Whoever a record is with is asked about at most.)
    """
    policy = _as_shadow(trial.policy)
    if policy.spec.provenance is None or not policy.tool:
        return
    silent = policy.spec.provenance == "closed" and trial.pick((False, True))
    told = trial.told_session(policy, _MOST_ROUNDS, silent=silent)
    steps = [call for event in told for call in event.get("calls", ())]
    written = write_values(trial.pick, said_in({"steps": steps}) or ["a"])
    told = trial.pick((told, list(_rewritten_results(policy, told, written))))
    bare = list(_rewritten_results(policy, told, NO_TEXT_WRITTEN if silent else NOTHING_WRITTEN))
    played, without = (trial.play(one, policy=policy) for one in (told, bare))
    pairs = list(zip(_rulings(played.decisions), _rulings(without.decisions), strict=True))
    for turn, (one, other) in enumerate(pairs):
        doubted = doubted_targets(_judge, other.proposal.wire())
        left = levels_of(one.report.verify)
        raised = [
            place
            for place, level in doubted.items()
            if left.get(place, 0) < (level if silent else 1)
        ]
        trial.met["a doubted target"] += bool(doubted)
        trial.met["an allowed call"] += bool(one.report.verify)
        trial.require(not raised, f"turn {turn + 1}: public text raised {raised}", played, without)
    trial.met["a public text"] += told != bare


def _as_shadow(policy: Policy) -> Policy:
    """Return the policy of a shadow that asks about parties."""
    guard = policy.guard.model_copy(update={"shadow": True})
    spec = policy.spec.model_copy(update={"party_recipients": None})
    return policy.model_copy(update={"guard": guard, "spec": spec})


def _judge(wire: Json) -> Verified | Refused:
    return verify_proposal(build(Proposal, wire))


def _rulings(decisions: Sequence[Decision]) -> list[Decision]:
    return [one for one in decisions if one.run is None]


def _rewritten_results(
    policy: Policy, events: Sequence[Json], written: WrittenParts
) -> Iterator[Json]:
    """Yield events with other bytes in place of what outsiders wrote in results."""
    tools = policy.tools
    asked = {call["id"]: call["tool"] for event in events for call in event.get("calls", ())}
    for event in events:
        if event["event"] != "result":
            yield event
        elif event["status"] != "completed":
            yield {**event, "error": written.text}
        else:
            tool = tools[asked[event["id"]]]
            yield {**event, "output": _rewritten_output(policy, tool, event["output"], written)}


def _rewritten_output(policy: Policy, tool: PolicyTool, output: Any, written: WrittenParts) -> Any:
    author = "public" if tool.result is None else tool.result.author
    item = {"content": output, "source": {"author": author}}
    table = next((one for one in policy.class_ if one.name == tool.yields), None)
    is_record = tool.result is not None and tool.result.format == "json" and table is not None
    if table is None or not is_record:
        return rewrite_item(item, {}, None, written)["content"]
    parties = dict.fromkeys(policy.record_fields or (), "party")
    fields = {**parties, **(table.fields or {})}
    return rewrite_item(item, fields, table.schema_, written)["content"]
