"""Find who can choose what each call does: a table from sources to sinks, by judged sessions."""

from collections.abc import Iterator
from itertools import islice, product
from typing import Final, Literal, NamedTuple

from critic import MODE_RANK
from harness.policy.analysis.backing import scalars_of
from harness.policy.analysis.policy_facts import PolicyFacts, ToolFacts
from harness.policy.analysis.trial_session import (
    Choice,
    asked_choices,
    choices_of,
    judge_choice,
    play_choice,
)
from harness.policy.envelopes import Policy, PolicyTool

ReachAnswer = Literal["allowed", "asked", "refused", "not tried"]

_ANSWERS: Final[dict[str | None, ReachAnswer]] = {
    "allow": "allowed",
    "ask": "asked",
    "refuse": "refused",
    None: "not tried",
}
_ORDER: Final[tuple[ReachAnswer, ...]] = ("allowed", "asked", "refused", "not tried")
_MOST_TRIED: Final = 12
"""How many sessions are judged for one argument and one source."""
_MOST_JUDGED: Final = 2_000
"""How many are judged for all: some seconds. What is left then is not tried."""
_WHO: Final = {
    "user": "the user",
    "operator": "the operator",
    "system": "a system of record",
    "member": "a member",
    "public": "anybody",
}


class ReachRow(NamedTuple):
    """One argument, and the ruling on a call if a result of some tool chose it.

    Attributes:
        sources: tools with the same labels on their results; one of them was tried.
        who: the author of the results by the policy.
        through: the tools that looked up the value before its use.
        answer: the laxest ruling on any such call.
    """

    tool: str
    argument: str
    role: str
    sources: tuple[str, ...]
    who: str
    through: tuple[str, ...]
    answer: ReachAnswer


def reach_rows(policy: Policy, name: str | None = None) -> Iterator[ReachRow]:
    """Yield a row for each argument with a role of a tool with effects, and each kind of result.

    Args:
        name: one tool, as agents call it; all by default.
    """
    facts, left = PolicyFacts(policy), _MOST_JUDGED
    groups = _groups_of(facts)
    for sink in facts.effects:
        if name not in (None, sink.tool.called):
            continue
        for (argument, role), alike in product(sink.roles.items(), groups):
            row, tried = _try_row(facts, sink, (argument, role), alike, min(left, _MOST_TRIED))
            left -= tried
            yield row


def _groups_of(facts: PolicyFacts) -> list[list[ToolFacts]]:
    """Return the tools, grouped by the labels on their results."""
    groups: dict[object, list[ToolFacts]] = {}
    for one in facts.tools:
        form = one.tool.result.format if one.tool.result else None
        standing = sorted(role for role in one.roles.values() if role == "locator")
        is_read = MODE_RANK[one.tool.approval_mode] == 0
        key = (one.author, one.is_web, form, one.tool.yields, tuple(standing), is_read)
        groups.setdefault(key, []).append(one)
    return list(groups.values())


def _try_row(
    facts: PolicyFacts, sink: ToolFacts, aim: tuple[str, str], alike: list[ToolFacts], most: int
) -> tuple[ReachRow, int]:
    """Return a row, and how many sessions were judged for it."""
    (argument, role), source = aim, next((one for one in alike if one is not sink), alike[0])
    best: tuple[ReachAnswer, tuple[str, ...]] = "not tried", ()
    tried = 0
    for choice in islice(choices_of(facts, source, sink, argument) if most else (), most):
        tried += 1
        answer = _ANSWERS[judge_choice(facts.policy, choice)]
        if _ORDER.index(answer) < _ORDER.index(best[0]):
            best = answer, _lookups_of(choice)
        if answer == "allowed":
            break
    who = "a web page" if source.is_web else _WHO[source.author]
    sources = tuple(one.tool.called for one in alike)
    return ReachRow(sink.tool.called, argument, role, sources, who, best[1], best[0]), tried


def _lookups_of(choice: Choice) -> tuple[str, ...]:
    """Return the tools that looked up the value after it was read."""
    calls = choice.before[1:]
    return tuple(one.tool.tool.called for one in calls if choice.value in scalars_of(one.args))


_MOST_ASKED: Final = 200
_APPROVER: Final = "approver"
_NONE_MADE: Final = (
    "no arguments could be made for its args_schema (examples in it help), or no tool yields what "
    "it needs"
)


def unreached_tools(policy: Policy) -> Iterator[tuple[PolicyTool, str]]:
    """Yield each tool without any passing call, even if the user asks and a person approves.

    Each comes with the reason of the last refusal. Tools with `must_reach = false` are left out.
    """
    facts = PolicyFacts(policy)
    for one in facts.tools:
        if one.tool.must_reach is False:
            continue
        why = _NONE_MADE
        for choice in islice(asked_choices(facts, one), _MOST_ASKED):
            judged = play_choice(policy, choice, approver=_APPROVER)
            if judged.is_last and judged.action == "allow":
                break
            why = judged.reasons[0]
        else:
            yield one.tool, why
