"""Find what else an edit opens: sessions in which others choose what stopped a task. Pure."""

from collections.abc import Iterator
from itertools import islice
from typing import Final, NamedTuple

from critic.session import Action
from harness.policy.analysis.policy_facts import PolicyFacts, ToolFacts
from harness.policy.analysis.trial_session import Choice, choices_of, judge_choice
from harness.policy.analysis.witness import Search, Witness
from harness.policy.envelopes import Policy
from harness.what_if.proposing.policy_edits import argument_of
from harness.what_if.proposing.task_judge import TaskStop

_STRICTNESS: Final[dict[Action | None, int]] = {"allow": 0, "ask": 1, "refuse": 2, None: 3}
_MOST_OF_SOURCE: Final = 3
_MOST_SOURCES: Final = 4


class EditOpening(NamedTuple):
    """A result that may choose what a call is aimed at, where it could not before.

    `action` is what is said to such a call now.
    """

    source: str
    tool: str
    argument: str
    action: Action


def openings_of(
    before: Policy, after: Policy, stop: TaskStop, edited: frozenset[str]
) -> list[EditOpening]:
    """Return the sessions that are judged more laxly after an edit, about the call that stopped.

    Args:
        before, after: policies of the tools of one task.
        edited: the tools that the edits are about, whose results are tried.
    """
    found: dict[EditOpening, None] = {}
    aim = next((one for one in PolicyFacts(before).tools if one.tool.called == stop.tool), None)
    for choice in () if aim is None else _choices(after, aim, argument_of(stop.path), edited):
        now = judge_choice(after, choice)
        if now in ("allow", "ask") and _STRICTNESS[now] < _STRICTNESS[judge_choice(before, choice)]:
            source = choice.before[0].tool.tool.called
            found[EditOpening(source, stop.tool, choice.name, now)] = None
    return list(found)


def _choices(after: Policy, aim: ToolFacts, name: str, edited: frozenset[str]) -> Iterator[Choice]:
    """Yield sessions in which results as they count now choose what a call was aimed at before."""
    facts = PolicyFacts(after)
    for argument in [name] if name else _targets(aim):
        for source in _sources(facts, aim.tool.called, edited):
            yield from islice(choices_of(facts, source, aim, argument), _MOST_OF_SOURCE)


def _sources(facts: PolicyFacts, sink: str, edited: frozenset[str]) -> list[ToolFacts]:
    """Return the tools whose results may choose more: all, where the call itself has changed."""
    if sink in edited:
        return facts.tools[:_MOST_SOURCES]
    return [one for one in facts.tools if one.tool.called in edited]


def _targets(sink: ToolFacts) -> list[str]:
    return [one for one, role in sink.roles.items() if role in ("recipient", "object")][:1]


def find_opened_plan(before: Policy, after: Policy, stop: TaskStop) -> Witness | None:
    """Return a plan that passes after an edit and did not before, if a small one shows it."""
    tool = after.tools.get(stop.tool)
    return None if tool is None else Search(after, before, len(after.tool)).for_tool(tool.pair)
