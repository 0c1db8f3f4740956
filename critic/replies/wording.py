"""Word a refusal: the same verdict, with a text for the model in each violation.

Rule: what is worded here is told and never kept. `Refused.bare` takes it out again.
"""

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from typing import Final

from critic.prepared import prepare_plan
from critic.replies.catalogue import Catalogue
from critic.replies.model_texts import BARE, word_denial, word_stop
from critic.replies.person_texts import word_question
from critic.replies.plan_facts import Asking, PlanFacts, Stop
from critic.replies.quoting import write_question, write_text
from critic.verify import found_in
from evals.plan import Proposal
from evals.plan_verdicts import Refused, Verified, Violation, first_uncleared

MOST_WORDED: Final = 100
"""How many violations of one refusal get texts."""


def word_refusal(
    proposal: Proposal, verdict: Verified | Refused, catalogue: Catalogue | None = None
) -> Verified | Refused:
    """Return the verdict of `verify` on a proposal, with the texts of its violations.

    `Violation.say` is what to tell a model, and `Refused.reasons` has the reasons of all
    violations, those first that no approval clears. What passes is returned as it is.

    Args:
        catalogue: the tools of the agent; without it, those of the proposal.
    """
    if isinstance(verdict, Verified):
        return verdict
    case = prepare_plan(proposal.ctx, proposal.compiled, proposal.spec, proposal.plan)
    facts = PlanFacts(case, catalogue or Catalogue.of_compiled(proposal.compiled))
    return word_by(facts, verdict, "now" if verdict.approvable else "later")[0]


def word_by(
    facts: PlanFacts, verdict: Refused, asking: Asking, denied: Collection[int] = ()
) -> tuple[Refused, dict[int, str]]:
    """Return a refusal with its texts, by the facts of its plan, and the questions to a person.

    The questions are by the number of their violation.

    Args:
        denied: the steps that a person said no to.
    """
    told, asked = [*verdict.violations], dict[int, str]()
    for number, stop in stops_of(facts, verdict):
        say = write_text(partial(word_stop, facts=facts, stop=stop, asking=asking))
        told[number] = _with_say(stop.violation, say)
        if stop.step is not None and asking == "now":
            ask = partial(word_question, facts=facts, step=stop.step, stop=stop)
            asked[number] = write_question(ask)
    for number, one in enumerate(told[:MOST_WORDED]):
        if one.offending_step in denied:
            tool = facts.step(one.offending_step or 0).tool
            told[number] = _with_say(one, write_text(partial(word_denial, tool=tool)))
    return tell_violations(verdict, told), asked


def stops_of(facts: PlanFacts, verdict: Refused) -> Iterator[tuple[int, Stop]]:
    """Yield the violations of the verdict on a plan with the facts behind them, by their number."""
    found = zip(verdict.violations[:MOST_WORDED], found_in(facts.case), strict=False)
    for number, (violation, one) in enumerate(found):
        words = one.words()
        if words.reason == violation.reason:  # else it is of no check, or of those left out
            yield number, facts.stop_at(violation, words.ground)


def silence_refusal(verdict: Refused) -> Refused:
    """Return a refusal whose texts say no more than that it is one."""
    return tell_violations(verdict, [_with_say(one, BARE) for one in verdict.violations])


def tell_violations(verdict: Refused, told: Sequence[Violation]) -> Refused:
    """Return a refusal with these violations, and the reasons of all of them."""
    reasons = tuple(one.reason for one in first_uncleared(told))
    return verdict.model_copy(update={"violations": tuple(told), "reasons": reasons})


def join_says(violations: Sequence[Violation]) -> str:
    """Return what a model is told: each text once, those first that no approval clears."""
    texts = [one.say for one in first_uncleared(violations) if one.say is not None]
    left = len(violations) - len(texts)
    more = [f"{left:,} problems more are not listed."] if left and texts else []
    return "\n".join([*dict.fromkeys(texts), *more])


def _with_say(violation: Violation, say: str) -> Violation:
    return violation.model_copy(update={"say": say})
