"""Add texts to a ruling: the reply to the model, and the question to a person.

Loaded for refusals only.

Rule: texts are added to answers, never to records: they may change at any time.
"""

from collections.abc import Callable
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from critic import Refused
from critic.prepared import prepare_plan
from critic.replies.model_texts import BARE, word_unknown_tool
from critic.replies.plan_facts import Asking, PlanFacts
from critic.replies.quoting import write_text
from critic.replies.wording import join_says, silence_refusal, word_by
from critic.session.batch_judging import known_of, share_doubts
from critic.session.call_batch import Batch, Call
from evals.json_value import detach_json
from evals.plan import is_command_part, parts_by_command
from harness.canonical import canonical_json
from harness.guard.course import Course
from harness.guard.rulings import OpeningRuling, Question, Ruling, UnknownCall
from harness.policy import Policy
from harness.policy.policy_rules import catalogue_of

if TYPE_CHECKING:
    from critic.session.waiting_calls import OpenedCall


class RulingWords:
    """Adds texts to the rulings of one policy."""

    def __init__(self, policy: Policy) -> None:
        """Use the names of a policy's tools."""
        self._catalogue: Final = catalogue_of(policy)
        self._is_silent: Final = policy.guard.say == "none"

    def word(self, ruling: Ruling, batch: Batch | None, course: Course) -> Ruling:
        """Return a ruling with its texts. A ruling of a shadow has no reply.

        Args:
            batch: the batch; None if the policy has none of the tools.
            course: its session, which knows the denials.
        """
        unknown = tuple(map(self._word_unknown, ruling.unknown or ()))
        said = [one.say for one in unknown]
        told: dict[str, object] = {"unknown": unknown} if unknown else {}
        if batch is not None and isinstance(ruling.verdict, Refused):
            verdict, questions = self._word_verdict(ruling, ruling.verdict, batch, course)
            told["verdict"] = verdict
            said += [] if ruling else [join_says(verdict.violations)]
            if ruling.action == "ask":
                told["questions"] = questions
        if said:
            told["reply"] = BARE if self._is_silent else "\n".join(said)
        return ruling.model_copy(update=told) if told else ruling

    def word_opening(
        self, ruling: Ruling | OpeningRuling, opened: "OpenedCall", course: Course
    ) -> dict[str, object]:
        """Return the members of a ruling on an opened call that have texts."""
        from harness.guard.opening_words import OpeningWords  # noqa: PLC0415 - few turns need it

        words = OpeningWords(self._catalogue, _find_asking(ruling), is_silent=self._is_silent)
        return words.word(ruling, opened, course)

    def _word_unknown(self, call: UnknownCall) -> UnknownCall:
        if self._is_silent:
            return call.model_copy(update={"say": BARE})
        say = write_text(lambda pen: word_unknown_tool(pen, call.tool, self._catalogue))
        return call.model_copy(update={"say": say})

    def _word_verdict(
        self, ruling: Ruling, verdict: Refused, batch: Batch, course: Course
    ) -> tuple[Refused, tuple[Question, ...]]:
        proposal = batch.proposal
        case = prepare_plan(proposal.ctx, proposal.compiled, proposal.spec, proposal.plan)
        calls = [batch.calls[batch.call_at(step)] for step in range(len(batch.plan.steps))]
        names = tuple(call.tool for call in calls)
        asking, denied = _find_asking(ruling), course.denied_steps(batch)
        share_doubts(batch, case)
        with known_of(batch, case) as known:
            finder, ids = _turn_finder(batch, course), _call_ids(batch)
            facts = PlanFacts(case, self._catalogue, names, finder, known, ids)
            told, every = word_by(facts, verdict, asking, denied)
        asked = _first_of_commands(batch, verdict, every)
        questions = (
            Question(
                call=call.id,
                tool=call.tool,
                args=detach_json(dict(call.args)),
                ask=ask + _late_values(batch, call),
                reason=violation.reason,
                path=violation.path,
            )
            for number, ask in asked.items()
            for violation in [verdict.violations[number]]
            for call in [calls[violation.offending_step or 0]]
        )
        return silence_refusal(verdict) if self._is_silent else told, tuple(questions)


def _first_of_commands(batch: Batch, verdict: Refused, asked: dict[int, str]) -> dict[int, str]:
    """Return the questions, of each command the first one, with the count of the others."""
    plan = batch.plan
    if not parts_by_command(plan):
        return asked
    from critic.replies.part_texts import count_others  # noqa: PLC0415 - for shell commands only

    first: dict[int, int] = {}
    others: dict[int, set[int | None]] = {}
    for number in asked:
        step = verdict.violations[number].offending_step
        if step is None or not is_command_part(plan.steps[step]):
            first[-1 - number] = number
            continue
        of = batch.call_at(step)
        begun = verdict.violations[first.setdefault(of, number)].offending_step
        others.setdefault(of, set()).update({step} - {begun})
    return {number: count_others(asked[number], others.get(of, ())) for of, number in first.items()}


def _call_ids(batch: Batch) -> dict[str, str]:
    """Return the ids that the agent gave its calls, by those of the steps that wait."""
    steps = (
        (step.id, batch.calls[batch.call_at(at)].id) for at, step in enumerate(batch.plan.steps)
    )
    return {name: call for name, call in steps if name is not None}


def _late_values(batch: Batch, call: Call) -> str:
    """Return what is known of the values that are not there yet, for the person who is asked."""
    if not call.takes:
        return ""
    from harness.guard.late_value_texts import word_late_values  # noqa: PLC0415 - few calls need it

    return word_late_values(batch, call)


def _find_asking(ruling: Ruling | OpeningRuling) -> Asking:
    """Return whether a person is asked, now or later."""
    if not (isinstance(ruling.verdict, Refused) and ruling.verdict.approvable):
        return "later"
    return "never" if ruling.action == "refuse" else "now"


def _turn_finder(batch: Batch, course: Course) -> Callable[[int], int | None]:
    """Return a function that finds the earlier turn with the call of a step."""

    def find_turn(index: int) -> int | None:
        call = batch.calls[batch.call_at(index)]
        pair, made = batch.rules.pair_of(call.tool), course.session.ledger.made
        args = sha256(canonical_json(dict(call.args))).hexdigest()
        return next(
            (
                one.turn or None
                for one in made
                if (one.spent.adapter_id, one.spent.capability_id) == pair
                and one.spent.args_digest.removeprefix("sha256:") == args
            ),
            None,
        )

    return find_turn
