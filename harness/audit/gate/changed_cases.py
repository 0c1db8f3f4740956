"""Name the cases that a candidate decides otherwise than the baseline, the worst first. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from evals.kinds import FATES
from harness.audit.gate.release_decision import JudgedCase, ReleaseCase, records_text


class ChangedCase(NamedTuple):
    """A case with another fate, another verdict or other failures than before."""

    before: JudgedCase
    after: JudgedCase

    @property
    def text(self) -> str:
        """Return it on one line, with the records of both. To be escaped."""
        sides = (f"{_outcome(one)}{records_text(one.records)}" for one in self)
        return f"{self.after.case.text}: {' -> '.join(sides)}"

    def wire(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        case = self.after.case
        turn = {} if case.turn is None else {"turn": case.turn}
        named = {"decision_key": case.decision_key, "trace_id": case.trace_id, **turn}
        return {**named, "before": _wire_of(self.before), "after": _wire_of(self.after)}


def changed_cases(before: Sequence[JudgedCase], after: Sequence[JudgedCase]) -> list[ChangedCase]:
    """Return the cases that both have and that changed, by what became of them: the worst first."""
    known, others = _by_case(before), _by_case(after)
    pairs = (
        ChangedCase(one, other)
        for case in known.keys() & others.keys()
        for one, other in zip(known[case], others[case], strict=False)
    )
    changed = [one for one in pairs if _decision_of(one.before) != _decision_of(one.after)]
    return sorted(changed, key=lambda one: (FATES.index(one.after.fate), one.after.case.order))


def _by_case(turns: Iterable[JudgedCase]) -> dict[ReleaseCase, list[JudgedCase]]:
    found = defaultdict(list)
    for one in turns:
        found[one.case].append(one)
    return found


def _decision_of(one: JudgedCase) -> tuple[Any, ...]:
    return one.fate, one.verified, one.is_asked, one.is_shadow, one.failed


def _outcome(one: JudgedCase) -> str:
    asked = ", asked" if one.is_asked else ""
    failing = f", failing {' and '.join(sorted(one.failed))}" if one.failed else ""
    return f"{one.fate}{asked}{failing}"


def _wire_of(one: JudgedCase) -> dict[str, Any]:
    wire: dict[str, Any] = {"fate": one.fate, "records": list(one.records)}
    wire |= {"asked": True} if one.is_asked else {}
    return {**wire, **({"failed": sorted(one.failed)} if one.failed else {})}
