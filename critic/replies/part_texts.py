"""The texts about a step of a shell command: which step, what it does, and what becomes of it."""

from collections.abc import Collection
from typing import Any, Final, assert_never

from critic.checks.grounds import ApprovalMissing, ArgsUnfit, NotInSurface, RepeatedCall
from critic.command.effect_tools import CARRIES
from critic.doubts import Doubt
from critic.replies.plan_facts import BY_OPERATOR, Asking, CalledStep, CommandPart, Stop
from critic.replies.quoting import Pen

_WHY: Final = 160
"""Characters of what a step does, which may name many paths."""


def word_part(pen: Pen, step: CalledStep, part: CommandPart, stop: Stop, asking: Asking) -> str:
    """Return what a model is told about a step of a command."""
    shown = f"{pen.name(step.tool)} not run: {_name_part(pen, step, part)}"
    match stop.ground:
        case ArgsUnfit() if CARRIES in step.args:
            return f"{shown}: {_word_chain(pen, step)}: refused, and no yes clears it."
        case NotInSurface():
            return f"{shown}: refused, and no yes clears it. Leave it out."
        case ApprovalMissing() | Doubt() | RepeatedCall():
            return f"{shown}: {_word_asking(asking)}"
        case _:
            return f"{shown}: it is not allowed here: {BY_OPERATOR}"


def ask_about_part(pen: Pen, step: CalledStep, part: CommandPart) -> str:
    """Return the question about a step of a command."""
    return f"{_name_part(pen, step, part)}: needs approval"


def count_others(question: str, others: Collection[Any]) -> str:
    """Return a question about a command with how many more of its steps need approval."""
    if not others:
        return question
    noun = "step needs" if len(others) == 1 else "steps need"
    return f"{question}, and {len(others)} more {noun} it"


def _name_part(pen: Pen, step: CalledStep, part: CommandPart) -> str:
    text, why = step.args.get("command"), str(step.args.get("why"))
    cut = why if len(why) <= _WHY else f"{why[: _WHY - 3]}..."
    return f"step {part.number} of {part.total} {pen.quote(text)}: {cut}"


def _word_chain(pen: Pen, step: CalledStep) -> str:
    sent = pen.names([str(one) for one in step.args[CARRIES]])
    hosts = pen.names([str(one) for one in step.args.get("host", ())] or ["the network"])
    return f"sends {sent} to {hosts}"


def _word_asking(asking: Asking) -> str:
    match asking:
        case "now":
            return "needs a person's yes, and a person is asked."
        case "later":
            return "needs a person's yes."
        case "never":
            return "needs a person's yes, and nobody can be asked now."
        case _:
            assert_never(asking)
