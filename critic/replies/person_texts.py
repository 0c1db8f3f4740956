"""What a person is asked about a call: the whole call, why they are asked, whether to go on."""

from collections.abc import Mapping
from typing import Final

from critic.checks.grounds import ApprovalMissing, RepeatedCall
from critic.replies.doubted import DoubtedValue
from critic.replies.plan_facts import CalledStep, PlanFacts, Stop
from critic.replies.quoting import Pen, name_place
from critic.replies.summaries import summarize_call
from evals.kinds import ApprovalMode

_TIERS: Final[Mapping[ApprovalMode, str]] = {
    "read_only": "It reads what you may not want read.",
    "local_write": "It changes files of the agent.",
    "network": "Others will see it, and it cannot be taken back.",
    "delegated": "It is done in your name.",
    "destructive": "This cannot be undone.",
}
_BY_OTHERS: Final = frozenset(
    ("untrusted", "reached_member", "reached_public", "reached_web", "unseen", "new_link")
)


def word_question(pen: Pen, facts: PlanFacts, step: CalledStep, stop: Stop) -> str:
    """Return the question about a violation of a step that an approval clears."""
    if step.part is not None:
        from critic.replies.part_texts import ask_about_part  # noqa: PLC0415 - for commands only

        return ask_about_part(pen, step, step.part)
    known = facts.catalogue.by_pair.get(step.pair)
    template = None if known is None else known.summary
    summary = summarize_call(pen, step.tool, step.args, template)
    return (
        _ask_value(pen, facts, summary, stop.value)
        if stop.value
        else f"{summary}. {_why(facts, step, stop)} Go on?"
    )


def _why(facts: PlanFacts, step: CalledStep, stop: Stop) -> str:
    match stop.ground:
        case ApprovalMissing():
            return _TIERS[stop.ground.mode]
        case RepeatedCall():
            turn = facts.turn_of(step)
            return f"It was done already{f' in turn {turn}' if turn else ''}."
        case _:
            return "You did not ask for it."


def _ask_value(pen: Pen, facts: PlanFacts, summary: str, value: DoubtedValue) -> str:
    if not value.path:
        return f"{summary}. It names nobody and nothing that it is for. Go on?"
    named, quoted = name_place(pen, value.path), pen.quote(value.value)
    if value.role == "time" and value.item is None:
        return f"{summary}. {named} {quoted} cannot be read as a day. Go on?"
    item = value.item or value.stale
    where = "is in neither your message nor any result"
    if item is not None:
        source = facts.source_of(pen, item).replace("the user's", "your")
        where = f"comes from {source}"
    if value.origin in _BY_OTHERS:
        otherwise = ", which you did not name" if item is not None else ""
        return f"{summary}. Use {quoted} as {named}? It {where}{otherwise}."
    return f"{summary}. {named} {quoted} {where}. Go on?"
