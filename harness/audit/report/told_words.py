"""What a refusal says in words for people: worked out again from the inputs of its record. Pure.

Rule 1: what a person was asked is worded as for them, and what was refused as for the model. Only
        the tools of the plan are known: of another one, a result is called an earlier result.
Rule 2: a violation of which the inputs do not say the same has no words: its reason stands alone.
"""

from collections.abc import Mapping

from critic.prepared import prepare_plan
from critic.replies.catalogue import Catalogue
from critic.replies.plan_facts import Asking, PlanFacts
from critic.replies.wording import word_by
from critic.verdicts import Refused
from harness.audit.report.parsed_inputs import ShownInputs
from harness.record import DecisionRecord


def told_words(record: DecisionRecord, inputs: ShownInputs | None) -> Mapping[int, str]:
    """Return what is said of the violations of a decision, by their number."""
    verdict = record.report.verify
    if inputs is None or not isinstance(verdict, Refused):
        return {}
    ctx, compiled, spec, plan, _ = inputs
    if ctx is None or compiled is None or spec is None or plan is None:
        return {}
    is_asked = record.action == "ask" or record.answer is not None
    asking = _find_asking(verdict, is_refused=record.action == "refuse" and not is_asked)
    try:
        facts = PlanFacts(prepare_plan(ctx, compiled, spec, plan), Catalogue.of_compiled(compiled))
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
