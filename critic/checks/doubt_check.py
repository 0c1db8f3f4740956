"""Add what provenance doubts to the checks that it belongs to."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial, wraps
from operator import attrgetter
from typing import Final

from critic.checks.violation import Found, Wording
from critic.doubts import Doubt, Doubts
from critic.prepared import PreparedPlan
from evals.kinds import Check, RefusalKind

_Run = Callable[[PreparedPlan], Iterator[Found]]

_DOUBTS_OF: Final[Mapping[Check, tuple[RefusalKind, Callable[[Doubts], Iterable[Doubt]]]]] = {
    "surface": ("violates_decision_spec", attrgetter("refused_tools")),
    "approval": ("approval_mode_mismatch", attrgetter("asks")),
    "evidence": ("missing_evidence", attrgetter("refused_values")),
}


def with_doubts(check: Check) -> Callable[[_Run], _Run]:
    """Let a check yield its doubts, too: those about a step after all else that it finds there."""
    kind, doubts_in = _DOUBTS_OF[check]

    def decorate(run: _Run) -> _Run:
        @wraps(run)
        def run_with_doubts(case: PreparedPlan) -> Iterator[Found]:
            if case.spec.provenance is None:
                return run(case)
            from critic.provenance import doubts_of  # noqa: PLC0415 - slow to load, often unused

            doubts = (
                Found(
                    check,
                    kind,
                    doubt.step,
                    partial(_word_doubt, doubt),
                    doubt.approvable,
                    doubt.stale,
                )
                for doubt in doubts_in(doubts_of(case))
            )
            # Sorting is stable, and both are in this order.
            return iter(sorted((*run(case), *doubts), key=_sort_key))

        return run_with_doubts

    return decorate


def _word_doubt(doubt: Doubt) -> Wording:
    return Wording(doubt.reason, doubt.path, doubt)


def _sort_key(found: Found) -> tuple[bool, int]:
    """Return a key that puts steps in ascending order, and what is of the whole plan last."""
    return found.step is None, found.step or 0
