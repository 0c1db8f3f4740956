"""What a model is told of a violation: what stopped its call, what would help, and who can do it.

Rule: a text names the tool and the argument as the model knows them, and no word of this project.
"""

from collections.abc import Mapping
from typing import Final, assert_never

from critic.checks.grounds import (
    ApprovalMissing,
    ArgsUnfit,
    ClassNotPinned,
    ConfinedSent,
    Ground,
    Lack,
    LateDependency,
    LateNotAllowed,
    LateSource,
    NeverFits,
    NotInSurface,
    OtherTrace,
    OutputMissing,
    PlaceOccupied,
    RepeatedCall,
    RepeatedId,
    StepEvidence,
    StepsSpent,
    TokensSpent,
    Unlisted,
    ValueMissing,
)
from critic.doubts import Doubt
from critic.replies.catalogue import Catalogue
from critic.replies.doubt_texts import word_doubt
from critic.replies.evidence_texts import EvidenceTexts, word_missing_class
from critic.replies.plan_facts import BY_OPERATOR, Asking, CalledStep, PlanFacts, Stop
from critic.replies.quoting import Pen
from critic.replies.schema_texts import nearest_name, word_schema_fault

BARE: Final = "Not run."
"""All that a model is told where a policy has `say = "none"`."""

_LACKS: Final[Mapping[Lack, str]] = {
    "failed": "that call did not complete",
    "unlike_schema": "its result does not match its schema",
    "no_tool": "that call is of no known tool",
    "nothing": "there is no such value",
    "null": "it is null",
    "several": "there is more than one",
    "too_deep": "with it the arguments nest too deep",
}


def word_stop(pen: Pen, facts: PlanFacts, stop: Stop, asking: Asking) -> str:
    """Return the text of a violation."""
    step = stop.step
    if step is None or not step.tool:
        return f"Not run: {_word_whole(pen, facts, stop.ground)}"
    if step.part is not None:
        from critic.replies.part_texts import word_part  # noqa: PLC0415 - for shell commands only

        return word_part(pen, step, step.part, stop, asking)
    if isinstance(stop.ground, NotInSurface):
        return word_unknown_tool(pen, step.tool, facts.catalogue)
    return f"{pen.name(step.tool)} not run: {_word_step(pen, facts, step, stop, asking)}"


def word_unknown_tool(pen: Pen, name: str, catalogue: Catalogue) -> str:
    """Return the text for a tool that is not there."""
    known = [*catalogue.by_name]
    close = nearest_name(name, known)
    if close is not None:
        return f"There is no tool {pen.quote(name)}: did you mean {pen.quote(close)}?"
    return f"There is no tool {pen.quote(name)}. The tools are {pen.names(known)}."


def word_denial(pen: Pen, tool: str) -> str:
    """Return the text for a call that a person said no to."""
    return f"{pen.name(tool)} not run: a person said no: do not try again."


def word_approval(asking: Asking) -> str:
    """Return the text for a call that a person has to approve."""
    match asking:
        case "now":
            return "it needs a person's yes, and a person is asked."
        case "later":
            return "it also needs a person's yes. A person is asked once the rest is right."
        case "never":
            return (
                "it needs a person's yes, and nobody can be asked now:"
                " tell the user what you wanted to do."
            )
        case _:
            assert_never(asking)


def _word_whole(pen: Pen, facts: PlanFacts, ground: Ground) -> str:
    match ground:
        case OutputMissing():
            return _word_output(pen, facts, ground)
        case ClassNotPinned():
            return word_missing_class(pen, facts, ground.classification, None)
        case StepsSpent() | TokensSpent():
            what = "steps" if isinstance(ground, StepsSpent) else "tokens"
            return f"no {what} left: answer with what you have."
        case OtherTrace():
            return "this is for another task. Begin the task anew."
        case Unlisted():
            return f"{ground.more:,} problems more are not listed. Correct these first."
        case _:
            return f"it is not allowed here: {BY_OPERATOR}"


def _word_step(pen: Pen, facts: PlanFacts, step: CalledStep, stop: Stop, asking: Asking) -> str:
    ground = stop.ground
    match ground:
        case Doubt():
            return word_doubt(pen, facts, step, stop, asking)
        case ApprovalMissing():
            return word_approval(asking)
        case StepEvidence():
            return EvidenceTexts(pen, facts, step).word(ground.fault)
        case ArgsUnfit():
            schema = None if step.capability is None else step.capability.args_schema
            return word_schema_fault(pen, pen.name(step.tool), schema, step.args, ground.fault)
        case RepeatedCall():
            return _word_repeated(facts, step, ground, asking)
        case _:
            return _word_other(pen, facts, ground)


def _word_other(pen: Pen, facts: PlanFacts, ground: Ground) -> str:
    match ground:
        case ConfinedSent():
            sent = pen.name(facts.class_of(ground.ref))
            return f"{pen.name(ground.argument)} would send {sent} out of here. Leave it out."
        case RepeatedId():
            return f"two calls have the id {pen.quote(ground.id)}. Give each an id of its own."
        case LateDependency() | LateSource():
            named = pen.quote(facts.call_id(ground.id))
            return f"it waits for {named}, which does not come before it. Change the order."
        case LateNotAllowed() | PlaceOccupied() | NeverFits() | ValueMissing():
            return _word_take(pen, ground)
        case _:
            return _word_whole(pen, facts, ground)


def _word_take(pen: Pen, ground: LateNotAllowed | PlaceOccupied | NeverFits | ValueMissing) -> str:
    match ground:
        case LateNotAllowed():
            return "no values of earlier calls can be taken here. Make the earlier call first."
        case PlaceOccupied():
            arg = pen.quote(ground.arg)
            what = "what it stands in, such as []"
            return f"{arg} cannot be filled in. Leave it out of the arguments, and write {what}."
        case NeverFits():
            return f"what is taken for {pen.quote(ground.arg)} never fits. Take another value."
        case ValueMissing():
            return f"it waits for what an earlier call returns, and {word_lack(ground.lacks)}."
        case _:
            assert_never(ground)


def word_lack(lacks: Lack) -> str:
    """Return why a value or a result that a call waits for is not there, as a clause."""
    return _LACKS[lacks]


def _word_repeated(facts: PlanFacts, step: CalledStep, ground: RepeatedCall, asking: Asking) -> str:
    if not ground.by_earlier_plan:
        return "the same call stands here twice. Make it once."
    turn = facts.turn_of(step)
    when = f"in turn {turn}" if turn else "before"
    again = " A person is asked whether to do it again." if asking == "now" else ""
    return f"already done {when}.{again or ' Ask the user whether to do it again.'}"


def _word_output(pen: Pen, facts: PlanFacts, ground: OutputMissing) -> str:
    wanted = pen.quote(ground.output)
    if not ground.is_declared:
        return f"{wanted} is missing from what this is to produce. Add it."
    tool = facts.catalogue.find_yielder([ground.output])
    helps = f"Call {pen.name(tool.name)} for it" if tool else "Add a call that produces it"
    return f"nothing here produces {wanted}. {helps}."
