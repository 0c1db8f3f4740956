"""What a refusal says in words for people: worked out again from the inputs of its record. Pure.

Rule 1: what a person was asked is worded as for them, and what was refused as for the model.
Rule 2: a record has the tools of its own plan. A text names another tool, such as one that returned
        a value, if an earlier record of the page has it; else that is an earlier result.
Rule 3: a violation of which the inputs do not say the same has no words: its reason stands alone.
Rule 4: what was not enforced is worded as what would have been: nobody was told it.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final, NamedTuple

from critic.prepared import prepare_plan
from critic.provenance.value_facts import NamePair
from critic.replies.catalogue import Catalogue, KnownTool
from critic.replies.plan_facts import Asking, PlanFacts
from critic.replies.wording import word_by
from evals.manifest import CompiledContext
from evals.plan_verdicts import Refused
from harness.audit.report.parsed_inputs import ShownInputs
from harness.record import DecisionRecord

_MOST_TOOLS: Final = 1000
_UNENFORCED: Final = (
    (re.compile(r"(?<=\S )not run: "), "would not have been run: "),
    (re.compile(r"^Not run: "), "Would not have been run: "),
    (re.compile(r"(?<=\. A person )is asked(?= once the rest is right\.$)"), "would be asked"),
)
"""What is said of a call that was stopped, and of one that would have been."""

_WITHOUT_YES: Final = "Would not have been run without a person's yes"


class ToldWords(NamedTuple):
    """What is said of the violations of a decision, by their number.

    Attributes:
        told: what the model was told: of a call that ran all the same, it is not true.
        asked: what a person was asked.
    """

    told: Mapping[int, str] = MappingProxyType({})
    asked: Mapping[int, str] = MappingProxyType({})


class ToolsOfPage:
    """The tools of the last records of a page, as texts speak of them."""

    def __init__(self) -> None:
        self._tools: dict[NamePair, KnownTool] = {}
        self._last: CompiledContext | None = None

    def add(self, compiled: CompiledContext) -> None:
        """Keep the tools of a plan, and forget the oldest where there are too many."""
        if compiled is self._last:
            return
        self._last = compiled
        for pair, tool in Catalogue.of_compiled(compiled).by_pair.items():
            self._tools.pop(pair, None)
            self._tools[pair] = tool
        while len(self._tools) > max(_MOST_TOOLS, len(compiled.manifests.tools)):
            del self._tools[next(iter(self._tools))]

    def catalogue_for(self, compiled: CompiledContext) -> Catalogue:
        """Return all of them, with the classes of a plan."""
        return replace(Catalogue.of_compiled(compiled), tools=tuple(self._tools.values()))


def told_words(record: DecisionRecord, inputs: ShownInputs | None, tools: ToolsOfPage) -> ToldWords:
    """Return what is said of the violations of a decision."""
    verdict = record.report.verify
    if inputs is None or inputs.compiled is None:
        return ToldWords()
    tools.add(inputs.compiled)
    if not isinstance(verdict, Refused):
        return ToldWords()
    ctx, compiled, spec, plan, _ = inputs
    if ctx is None or compiled is None or spec is None or plan is None:
        return ToldWords()
    is_asked = record.action == "ask" or record.answer is not None
    asking = _find_asking(verdict, is_refused=record.action == "refuse" and not is_asked)
    try:
        facts = PlanFacts(prepare_plan(ctx, compiled, spec, plan), tools.catalogue_for(compiled))
        worded, asked = word_by(facts, verdict, asking)
    except Exception:  # the record is shown, whatever it is
        return ToldWords()
    said = {number: one.say for number, one in enumerate(worded.violations) if one.say is not None}
    if record.action == "shadow":
        return ToldWords(_word_unenforced(said, asked))
    asked = asked if is_asked else {}
    return ToldWords({number: text for number, text in said.items() if number not in asked}, asked)


def _word_unenforced(said: Mapping[int, str], asked: Mapping[int, str]) -> dict[int, str]:
    """Return what would have been said: nobody was told it, and nobody was asked."""
    told = dict(said)
    for stopped, would_be in _UNENFORCED:
        told = {number: stopped.sub(would_be, text, count=1) for number, text in told.items()}
    return told | {number: f"{_WITHOUT_YES}: {question}" for number, question in asked.items()}


def _find_asking(verdict: Refused, *, is_refused: bool) -> Asking:
    """Return whether a person was asked, or could be, as the guard told it."""
    if not verdict.approvable:
        return "later"
    return "never" if is_refused else "now"
