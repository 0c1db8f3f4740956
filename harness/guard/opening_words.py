"""Add texts to the rulings on opened calls. Loaded with the first one that stops something.

A call is worded as if it were asked for alone, with its values, once they are there.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from critic import Plan, Refused, Violation, verify_proposal
from critic.checks.grounds import Ground, ValueMissing
from critic.prepared import prepare_plan
from critic.replies.catalogue import Catalogue
from critic.replies.model_texts import BARE, word_denial, word_lack
from critic.replies.plan_facts import Asking, PlanFacts
from critic.replies.quoting import Pen, write_text
from critic.replies.wording import join_says, tell_violations, word_by
from critic.session.call_batch import Call, CallTake
from critic.session.waiting_calls import OpenedCall
from evals.json_value import detach_json
from harness.guard.course import Course
from harness.guard.rulings import OpeningRuling, Question, Ruling

_OF_VALUES: Final[Mapping[tuple[str, str], str]] = {
    ("loop_guard", ""): "with its values it is a call of this turn once more. Make it once.",
    ("violates_decision_spec", "args"): "with its values its arguments nest too deep.",
}
"""What a call is told that is refused in its turn, and would not be alone, by kind and place."""


class OpeningWords:
    """Adds texts to the rulings on opened calls of one policy."""

    def __init__(self, catalogue: Catalogue, asking: Asking, *, is_silent: bool) -> None:
        """Use the names of a policy's tools, and whether a person is asked."""
        self._catalogue: Final = catalogue
        self._asking: Final = asking
        self._is_silent: Final = is_silent

    def word(
        self, ruling: Ruling | OpeningRuling, opened: OpenedCall, course: Course
    ) -> dict[str, Any]:
        """Return the members of a ruling on an opened call that have texts.

        Args:
            course: its session, which knows the denials and the open question.
        """
        verdict, denies = ruling.verdict, course.is_denied(opened.call)
        if not isinstance(verdict, Refused):
            if ruling.action == "allow":
                return {}
            said = write_text(partial(word_denial, tool=opened.call.tool)) if denies else BARE
            return {"reply": BARE if self._is_silent else said}
        says, asks = self._texts_of(opened, is_denied=denies)
        told = [
            one.model_copy(
                update={
                    "say": BARE if self._is_silent else says.get(_key(one)) or _plain(one, opened)
                }
            )
            for one in verdict.violations
        ]
        words: dict[str, Any] = {"verdict": tell_violations(verdict, told)}
        if ruling.action != "allow":
            words["reply"] = BARE if self._is_silent else join_says(told)
        asked = None if course.question is None else course.question.opening
        if ruling.action == "ask" and asked is not None:
            questions = (_question(asked.call, one, asks) for one in verdict.violations)
            words["questions"] = tuple(questions)
        return words

    def _texts_of(
        self, opened: OpenedCall, *, is_denied: bool
    ) -> tuple[dict[tuple[str, str], str], dict[tuple[str, str], str]]:
        """Return the texts for the model and for a person, of what a call alone is refused for."""
        settled = opened.judged.settled.proposal
        if settled is None:
            return {}, {}
        last = settled.plan.steps[-1]
        alone = settled.model_copy(update={"plan": Plan(steps=[last], declared_outputs=())})
        verdict = verify_proposal(alone)
        if not isinstance(verdict, Refused):
            return {}, {}
        case = prepare_plan(alone.ctx, alone.compiled, alone.spec, alone.plan)
        facts, denied = (
            PlanFacts(case, self._catalogue, (opened.call.tool,)),
            {0} if is_denied else (),
        )
        told, asked = word_by(facts, verdict, self._asking, denied)
        says = {_key(one): one.say for one in told.violations if one.say is not None}
        asks = {_key(verdict.violations[number]): text for number, text in asked.items()}
        return says, asks


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
    grounds = (found.words() for found in opened.judged.settled.refused)
    ground = next((found.ground for found in grounds if found.path == one.path), None)
    return write_text(lambda pen: _word_missing_value(pen, opened.call.tool, take, tools, ground))


def _word_missing_value(
    pen: Pen, tool: str, take: CallTake, tools: Mapping[str, str], ground: Ground | None
) -> str:
    at = f" at {pen.quote(take.at)}" if take.at else ""
    source = f"what {pen.name(tools.get(take.call, take.call))} returned{at}"
    why = word_lack(ground.lacks if isinstance(ground, ValueMissing) else "nothing")
    return f"{pen.name(tool)} not run: its {pen.quote(take.arg)} was to be {source}, and {why}."


def _question(call: Call, violation: Violation, asks: dict[tuple[str, str], str]) -> Question:
    optional = {} if violation.path is None else {"path": violation.path}
    return Question(
        call=call.id,
        tool=call.tool,
        args=detach_json(dict(call.args)),
        ask=asks.get(_key(violation), violation.reason),
        reason=violation.reason,
        **optional,
    )
