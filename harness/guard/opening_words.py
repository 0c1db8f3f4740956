"""Add texts to the rulings on opened calls. Loaded with the first one that stops something.

A call is worded as if it were asked for alone, with its values, once they are there.
"""

from collections.abc import Mapping
from typing import Any, Final

from critic import Plan, Proposal, Refused, Violation, verify_proposal
from critic.prepared import prepare_plan
from critic.replies.catalogue import Catalogue
from critic.replies.model_texts import BARE
from critic.replies.plan_facts import Asking, PlanFacts
from critic.replies.quoting import Pen, write_text
from critic.replies.wording import join_says, tell_violations, word_by
from critic.session.call_batch import CallTake
from critic.session.waiting_calls import OpenedCall
from evals.json_value import detach_json
from harness.guard.rulings import OpeningRuling, Question, Ruling

_OF_VALUES: Final[Mapping[tuple[str, str], str]] = {
    ("loop_guard", ""): "with its values it is a call of this turn once more. Make it once.",
    ("violates_decision_spec", "args"): "with its values its arguments nest too deep.",
}
"""What a call is told that is refused in its turn, and would not be alone, by kind and place."""


def word_opening(
    ruling: Ruling | OpeningRuling, opened: OpenedCall, catalogue: Catalogue, *, is_silent: bool
) -> dict[str, Any]:
    """Return the members of a ruling on an opened call that have texts."""
    verdict = ruling.verdict
    if not isinstance(verdict, Refused):
        return {} if ruling.action == "allow" else {"reply": BARE}
    settled = opened.judged.settled.proposal
    asking: Asking = "now" if ruling.action == "ask" else "later"
    says, asks = _texts_of(settled, opened.call.tool, catalogue, asking)
    told = [
        one.model_copy(
            update={"say": BARE if is_silent else says.get(_key(one)) or _plain(one, opened)}
        )
        for one in verdict.violations
    ]
    words: dict[str, Any] = {"verdict": tell_violations(verdict, told)}
    if ruling.action == "ask":
        words["questions"] = tuple(_question(opened, one, asks) for one in verdict.violations)
    if ruling.action != "allow":
        words["reply"] = BARE if is_silent else join_says(told)
    return words


def _key(one: Violation) -> tuple[str, str]:
    """Return what a violation is found by, in the plan and in that of its call alone."""
    *_, place = (one.path or "").split("/", 3)[3:] or [""]
    return one.kind, place


def _plain(one: Violation, opened: OpenedCall) -> str:
    """Return the text about a value that did not come, or about what came with the values."""
    _, found, position = (one.path or "").rpartition("/takes/")
    takes = opened.call.takes
    if why := _OF_VALUES.get((one.kind, _key(one)[1])):
        return write_text(lambda pen: f"{pen.name(opened.call.tool)} not run: {why}")
    if not found or not position.isdecimal() or int(position) >= len(takes):
        return BARE
    take = takes[int(position)]
    tools = {call.id: call.tool for call in opened.running.calls}
    return write_text(lambda pen: _word_missing_value(pen, opened.call.tool, take, tools))


def _word_missing_value(pen: Pen, tool: str, take: CallTake, tools: Mapping[str, str]) -> str:
    at = f" at {pen.quote(take.at)}" if take.at else ""
    source = f"what {pen.name(tools.get(take.call, take.call))} returned{at}"
    what = f"its {pen.quote(take.arg)} was to be {source}, and there is no such value"
    return f"{pen.name(tool)} not run: {what}."


def _texts_of(
    settled: Proposal | None, tool: str, catalogue: Catalogue, asking: Asking
) -> tuple[dict[tuple[str, str], str], dict[tuple[str, str], str]]:
    """Return the texts for the model and for a person, of what a call alone is refused for."""
    if settled is None:
        return {}, {}
    last = settled.plan.steps[-1]
    alone = settled.model_copy(update={"plan": Plan(steps=[last], declared_outputs=())})
    verdict = verify_proposal(alone)
    if not isinstance(verdict, Refused):
        return {}, {}
    case = prepare_plan(alone.ctx, alone.compiled, alone.spec, alone.plan)
    told, asked = word_by(PlanFacts(case, catalogue, (tool,)), verdict, asking)
    says = {_key(one): one.say for one in told.violations if one.say is not None}
    asks = {_key(verdict.violations[number]): text for number, text in asked.items()}
    return says, asks


def _question(
    opened: OpenedCall, violation: Violation, asks: dict[tuple[str, str], str]
) -> Question:
    call = opened.call
    optional = {} if violation.path is None else {"path": violation.path}
    return Question(
        call=call.id,
        tool=call.tool,
        args=detach_json(dict(call.args)),
        ask=asks.get(_key(violation), violation.reason),
        reason=violation.reason,
        **optional,
    )
