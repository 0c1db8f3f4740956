"""What a refusal says in words for people: worked out again from the inputs of its record. Pure.

Rule 1: what a person was asked is worded as for them, and what was refused as for the model.
Rule 2: a record has the tools of its own plan. A text names another tool, such as one that returned
        a value, if an earlier record of the page has it; else that is an earlier result.
Rule 3: a violation of which the inputs do not say the same has no words: its reason stands alone.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

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


def told_words(
    record: DecisionRecord, inputs: ShownInputs | None, tools: ToolsOfPage
) -> Mapping[int, str]:
    """Return what is said of the violations of a decision, by their number."""
    verdict = record.report.verify
    if inputs is None or inputs.compiled is None:
        return {}
    tools.add(inputs.compiled)
    if not isinstance(verdict, Refused):
        return {}
    ctx, compiled, spec, plan, _ = inputs
    if ctx is None or compiled is None or spec is None or plan is None:
        return {}
    is_asked = record.action == "ask" or record.answer is not None
    asking = _find_asking(verdict, is_refused=record.action == "refuse" and not is_asked)
    try:
        facts = PlanFacts(prepare_plan(ctx, compiled, spec, plan), tools.catalogue_for(compiled))
        worded, asked = word_by(facts, verdict, asking)
    except Exception:  # the record is shown, whatever it is
        return {}
    said = {number: one.say for number, one in enumerate(worded.violations) if one.say is not None}
    return said | asked if is_asked else said


def _find_asking(verdict: Refused, *, is_refused: bool) -> Asking:
    """Return whether a person was asked, or could be, as the guard told it."""
    if not verdict.approvable:
        return "later"
    return "never" if is_refused else "now"
