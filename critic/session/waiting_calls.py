"""Calls of a session that wait for one another: judged with their values, or found by them."""

from collections.abc import Container, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from datetime import datetime
from itertools import chain
from typing import Any, NamedTuple, Protocol

from critic.late.opened_run import PlanProgress
from critic.late.opened_steps import JudgedStep
from critic.late.openings import OpeningError, StepOpener
from critic.session.call_batch import Batch, Call, RunningBatch, same_args
from critic.session.changed import change_fields
from critic.session.ledger import tokens_of
from critic.session.session import Ran, Session
from evals.context import Approval, Spent
from evals.plan import Proposal
from evals.run import Opening
from evals.timestamps import is_unexpired


class AskedArgs(Protocol):
    """A call as an agent asks for it: its tool and arguments."""

    @property
    def tool(self) -> str:
        """The name that the policy has."""
        ...

    @property
    def args(self) -> Mapping[str, Any]:
        """What is sent."""
        ...


class OpenedCall(NamedTuple):
    """An opening of a call: its batch with it, what was judged, and how many items were known."""

    running: RunningBatch
    opening: Opening
    judged: JudgedStep
    known: int

    @property
    def call(self) -> Call:
        """The call with its values."""
        call = self.running.calls[self.opening.step]
        return call._replace(args=self.judged.settled.args)


def judge_call(
    session: Session,
    place: tuple[int, int],
    as_of: datetime | None,
    approvals: tuple[Approval, ...] = (),
    *,
    is_enforced: bool = True,
) -> OpenedCall:
    """Return what an opening of a call that waits says now. The session does not change.

    Args:
        place: its turn and step.
        is_enforced: what it says is kept to. A shadow says what its turn knows, and stops nothing.

    Raises:
        OpeningError: what it waits for has not ended, or something was seen or made beside it.
    """
    turn, step = place
    running = session.running[turn]
    if is_enforced and not _knows_all(session, running):
        raise OpeningError(
            "its turn did not see all that its session saw and did: ask for it in a new one"
        )
    with _opener_of(session, running) as opener:
        judged = opener.judge(step, as_of, approvals)
        known = running.seen + len(opener.context.items)
    optional: dict[str, Any] = {} if as_of is None else {"as_of": as_of}
    optional |= {"approvals": approvals} if approvals else {}
    opening = Opening(step=step, after=len(running.ended), verdict=judged.verdict, **optional)
    openings = (*running.openings, opening)
    return OpenedCall(replace(running, openings=openings), opening, judged, known)


def _knows_all(session: Session, running: RunningBatch) -> bool:
    """Return whether a batch that waits knows all that its session saw, made and spent."""
    if not running.is_late:
        return True
    spent, ledger = running.ctx.spent or Spent(), session.ledger
    has_seen = len(session.trail) == running.seen + len(running.results)
    has_made = ledger.steps == (spent.steps or 0) + len(running.made)
    known = (spent.tokens or 0) + tokens_of(session.rules, running)
    return has_seen and has_made and ledger.tokens <= known


def _holds(session: Session, running: RunningBatch, as_of: datetime | None) -> bool:
    """Return whether a plan that waits for nothing may go on: what allowed it has not expired.

    Of one that waits, each opening judges what has.
    """
    ctx, facts, seen = running.ctx, running.ctx.session, session.trail.first_items(running.seen)
    said = (facts.approved or (), facts.waived or ()) if facts else ()
    ends = [one.expires_at for one in chain(ctx.approvals or (), *said)]
    ends += [end for ref, end in session.trail.expiries.items() if ref in seen]
    held = (one for one in ends if is_unexpired(one, ctx.as_of))
    return running.is_late or all(is_unexpired(one, as_of) for one in held)


@contextmanager
def _opener_of(session: Session, running: RunningBatch) -> Iterator[StepOpener]:
    """Give what opens the next calls of a batch: it goes on from that of the batches before."""
    place = running.derived
    with place.lock:
        progress, place.value = place.value, None
        if progress is None or not progress.leads_to(running.ended, running.openings):
            progress = PlanProgress(_begin_opener(running.batch(session.rules, session.trail)))
        progress.go_on(running.ended, running.openings, running.made)
        place.value = progress
        yield progress.opener


def _begin_opener(batch: Batch) -> StepOpener:
    proposal = Proposal(ctx=batch.ctx, compiled=batch.tools, spec=batch.spec, plan=batch.plan)
    return StepOpener(proposal, batch.before)


def find_step(
    session: Session,
    call: AskedArgs,
    as_of: datetime | None,
    but: Container[int],
) -> int | None:
    """Return the first step of the open plan that a call carries out, if there is one.

    Args:
        but: steps that other calls carry out.
    """
    turn = session.open_plan
    if turn is None:
        return None
    running, sent = session.running[turn], same_args(call.args)
    if not (_knows_all(session, running) and _holds(session, running, as_of)):
        return None
    with _opener_of(session, running) if running.is_late else nullcontext() as opener:
        for step in running.waiting:
            if step in but or running.calls[step].tool != call.tool:
                continue
            planned = _settled_args(running, step, opener, as_of)
            if planned is not None and same_args(planned) == sent:
                return step
    return None


def _settled_args(
    running: RunningBatch, step: int, opener: StepOpener | None, as_of: datetime | None
) -> Mapping[str, Any] | None:
    """Return what a step sends; None where what it waits for has not completed."""
    if opener is None:
        return running.calls[step].args
    try:
        settled = opener.settle(step, as_of)
    except OpeningError:
        return None
    return None if settled.sent is None else settled.args


def before_opening(session: Session, turn: int) -> Session:
    """Return a session without the last opening of a batch, which asks."""
    running = session.running[turn]
    return session.with_running(replace(running, openings=running.openings[:-1]))


def take_opening(session: Session, call_id: str, call: OpenedCall, *, is_made: bool) -> Session:
    """Return a session after an opening.

    Args:
        is_made: the call may run: it spends from now on, and its result is awaited.
    """
    if not is_made:
        return session.with_running(call.running)
    step = call.opening.step
    running = call.running.with_made(step, call.judged.settled.args)
    ledger = session.ledger.after_opening(session.rules, running, step, call.known)
    return change_fields(session.await_result(call_id, running, step), ledger=ledger)


def let_run(session: Session, call_id: str, place: tuple[int, int]) -> Session:
    """Return a session after the agent carries out a call of a plan that waits for nothing.

    Its result is awaited under the id.
    """
    turn, step = place
    running = session.running[turn]
    made = running.with_made(step, running.calls[step].args)
    return session.await_result(call_id, made, step)


def find_call(session: Session, call_id: str) -> tuple[int, int] | None:
    """Return the turn and the step of a call that waits to be opened."""
    for turn, running in session.running.items():
        for step in running.waiting if call_id in running.waiting_ids else ():
            if running.calls[step].id == call_id:
                return turn, step
    return None


def stop_batch(session: Session, turn: int) -> Ran:
    """Return a session after no more calls of a batch are made.

    It is scored when those that run have ended.
    """
    running = replace(session.running[turn], is_stopped=True)
    stopped = session.with_running(running)
    return stopped.score_batch(running) if running.is_over else Ran(stopped, None)
