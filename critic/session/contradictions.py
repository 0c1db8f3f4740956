"""Refuse a session that travelled if its state contradicts itself, before anything builds on it.

Rule 1: a state that a session can reach by its own methods is never refused.
Rule 2: what passes can go on: its awaited results, its open question and its end do not fail.
"""

from collections.abc import Iterable, Sequence

from critic.session.call_batch import RunningBatch
from critic.session.session import Session
from critic.session.session_evidence import Trail
from critic.session.session_rules import CALL_ID, OPERATOR_ID, USER_ID
from evals.escaping import escape_name, pointer
from evals.manifest import EvidenceItem


class ContradictoryState(ValueError):
    """A state contradicts itself. `path` is a JSON pointer to where it does."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(message)
        self.path = path


def require_consistent(session: Session) -> None:
    """Require that what a session says about itself agrees.

    Raises:
        ContradictoryState: it does not.
    """
    _require_numbers(session, session.trail.items[len(session.rules.evidence) :])
    for at, batch in enumerate(session.running.values()):
        path = pointer("running", at)
        if not session.earlier < batch.turn <= session.turn:
            raise ContradictoryState(f"{path}/turn", "there was no such turn")
        if session.turns[batch.turn - session.earlier - 1].action != "allow":
            raise ContradictoryState(f"{path}/turn", "the batch of this turn was not allowed")
        if batch.is_over:
            raise ContradictoryState(f"{path}/ended", "all calls of a running batch ended")
        require_consistent_batch(batch, session.trail, path)
    for at, (name, place) in enumerate(session.open_calls.items()):
        _require_awaited(session, name, place, pointer("awaited", at))


def _require_numbers(session: Session, items: Iterable[EvidenceItem]) -> None:
    """Require that ids of evidence count on from 1, as later ones go on from the counts."""
    ids = [item.id for item in items]
    counted = ((USER_ID, "texts", session.texts), (CALL_ID, "results", session.results))
    for prefix, field, count in counted:
        found = [name for name in ids if name.startswith(prefix)]
        if len(found) != count:
            said = f"{count} were counted, but the evidence has {len(found)}"
            raise ContradictoryState(f"/{field}", said)
        _require_in_order(found, prefix)
    rest = [name for name in ids if not name.startswith((USER_ID, CALL_ID))]
    if rest not in ([], [f"{OPERATOR_ID}1"]):
        raise ContradictoryState("/evidence", "a session does not make evidence of such an id")


def _require_in_order(ids: Sequence[str], prefix: str) -> None:
    for number, name in enumerate(ids, 1):
        if name != f"{prefix}{number}":
            said = f"{escape_name(name)} stands where {prefix}{number} should"
            raise ContradictoryState("/evidence", said)


def require_consistent_batch(batch: RunningBatch, trail: Trail, path: str) -> None:
    """Require that a batch refers to its own calls, and to evidence that there is.

    Args:
        path: a JSON pointer to the batch.

    Raises:
        ContradictoryState: it does not.
    """
    if batch.seen > len(trail):
        raise ContradictoryState(f"{path}/seen", f"there are {len(trail)} items of evidence")
    if any(at >= len(trail) for at in batch.results):
        raise ContradictoryState(f"{path}/results", f"there are {len(trail)} items of evidence")
    refs = {ref for step in batch.plan.steps for ref in step.evidence_refs or ()}
    known = refs & trail.by_id.keys()
    if len(trail.first_items(batch.seen).pick_items(known)) < len(refs):
        said = "a step pins evidence that the batch had not seen"
        raise ContradictoryState(f"{path}/plan", said)
    _require_opened(batch, path)
    ended = [call.step for call in batch.ended]
    if len({*ended}) < len(ended) or any(step >= len(batch.calls) for step in ended):
        said = "a call ended twice, or is not among the calls of its batch"
        raise ContradictoryState(f"{path}/ended", said)


def _require_opened(batch: RunningBatch, path: str) -> None:
    """Require that only what may run of a batch ran, and what was opened follows its calls."""
    made, count = [*batch.made], len(batch.calls)
    if len({*made}) < len(made) or any(step >= count for step in made):
        raise ContradictoryState(f"{path}/made", "a call is made twice, or is not of its batch")
    if not batch.waits and (made or batch.openings or batch.is_stopped):
        raise ContradictoryState(f"{path}/made", "the calls of this batch do not wait")
    if batch.waits and any(call.step not in made for call in batch.ended):
        raise ContradictoryState(f"{path}/ended", "a call ended that was not opened")
    after = [one.after for one in batch.openings]
    if after != sorted(after) or any(one > len(batch.ended) for one in after):
        raise ContradictoryState(f"{path}/openings", "they do not follow the calls that ended")
    opened = {one.step for one in batch.openings}
    if any(step >= count for step in opened) or (batch.is_late and not {*made} <= opened):
        raise ContradictoryState(f"{path}/openings", "they are not of the calls that are made")


def _require_awaited(session: Session, name: str, place: tuple[int, int], path: str) -> None:
    turn, step = place
    batch = session.running.get(turn)
    if batch is None:
        raise ContradictoryState(f"{path}/turn", "a call is awaited of a batch that does not run")
    if step >= len(batch.calls):
        raise ContradictoryState(f"{path}/step", "its batch has fewer calls")
    if batch.waits and step not in batch.made:
        raise ContradictoryState(f"{path}/step", "the call at this step was not opened")
    if not batch.is_plan and batch.calls[step].id != name:
        raise ContradictoryState(f"{path}/id", "the call at this step has another id")
    if any(call.step == step for call in batch.ended):
        raise ContradictoryState(f"{path}/step", "a call is awaited that has ended")
