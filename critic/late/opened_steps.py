"""The steps of a late plan that were opened, in order, and what the checks count of them."""

from collections.abc import Container, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple, TypeVar

from critic.checks.violation import Found
from critic.late.settled_plan import SettledStep
from critic.surface import HAS_ARGS_SCHEMA, ToolEntry
from evals.canonical_json import canonical_json
from evals.capability import ToolCapability
from evals.json_schemas import Effort
from evals.kinds import MODE_RANK
from evals.plan import ToolStep
from evals.plan_verdicts import MOST_LISTED, Refused, Verified

_T = TypeVar("_T")

_DESTRUCTIVE: Final = MODE_RANK["destructive"]


class EarlierOpening(NamedTuple):
    """An opening that passed.

    Attributes:
        step: the index of the step.
        after: how many calls had ended by then.
        as_of: the time, where there was one.
    """

    step: int
    after: int
    as_of: datetime | None = None


class Opened(NamedTuple):
    """A step that may run: when it was opened, its tool if that is known, and what it sends."""

    step: int
    after: int
    as_of: datetime | None
    tool: ToolCapability | None
    sent: ToolStep


class _AndMore(set[_T]):
    """What one set holds, and what is added to this one."""

    def __init__(self, before: Container[_T]) -> None:
        super().__init__()
        self._before = before

    def __contains__(self, one: object) -> bool:
        return super().__contains__(one) or one in self._before


class EarlierSteps:
    """What the checks of a step count together with the steps before it.

    They judge all steps of a plan as one: what is spent is spent for each of them.

    Attributes:
        count: how many steps there are.
        tokens: what they take.
        values: how many values were judged by their provenance.
        effort: what it may still cost to judge arguments by their schemas.
    """

    def __init__(self) -> None:
        """Begin with none."""
        self.count: int = 0
        self.tokens: int = 0
        self.values: int = 0
        self._ids: Final[set[str]] = set()
        self._calls: Final[set[tuple[Any, ...]]] = set()
        self.effort: Final = Effort()

    def ids_and_more(self) -> set[str]:
        """Return their ids, to add to: those stay as they are."""
        return _AndMore(self._ids)

    def calls_and_more(self) -> set[tuple[Any, ...]]:
        """Return their destructive calls by adapter, capability and canonical args, to add to."""
        return _AndMore(self._calls)

    def add(self, tool: ToolEntry, fields: Mapping[str, Any], values: int) -> None:
        """Add a step, of which so many values were judged."""
        self.count += 1
        self.tokens += max(fields["estimated_tokens"] or 0, tool.least_tokens)
        pair, args = (fields["adapter_id"], fields["capability_id"]), fields["args"]
        if fields["id"] is not None:
            self._ids.add(fields["id"])
        if tool.rank == _DESTRUCTIVE:
            self._calls.add((*pair, canonical_json(args)))
        self.values += values
        validator = tool.validator() if tool.traits & HAS_ARGS_SCHEMA else None
        if validator is not None and (validator.is_wide or not validator.is_valid(args)):
            self.effort.faults(validator, args)


class JudgedStep(NamedTuple):
    """The verdict on a step, and what was judged."""

    verdict: Verified | Refused
    settled: SettledStep


def refuse_step(found: Sequence[Found]) -> Refused:
    """Return the refusal for what was found, as far as a verdict lists it."""
    return Refused.because(tuple(one.violation() for one in found[:MOST_LISTED]))
