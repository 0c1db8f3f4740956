"""The outline of a recorded decision: all that is read where nothing is derived from it. Pure.

Rule 1: what a decision of this version says here is what its record says.
Rule 2: what is not read may be anything: only its bytes were checked.
"""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final

from pydantic import BaseModel, ConfigDict, ValidationError

from evals.envelope import ARRAY, Identifier
from evals.kinds import RecordedAction
from evals.timestamps import Time
from harness.record.drafts import CanonicalLine


class _Outline(BaseModel):
    """Base of what is read of an envelope: some of its fields."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        frozen=True, strict=True, extra="ignore", hide_input_in_errors=True
    )


class VerdictOutline(_Outline):
    """Whether a plan was let through."""

    ok: bool


class ReportOutline(_Outline):
    """The subject of a report, and when it was made. `score` is as it was recorded."""

    trace_id: Identifier
    decision_key: Identifier
    verify: VerdictOutline
    score: Any = None
    decided_at: Time


class RunOutline(_Outline):
    """The calls of a run, as they were recorded."""

    calls: Annotated[tuple[Any, ...], ARRAY]


class DecisionOutline(_Outline):
    """A recorded decision."""

    report: ReportOutline
    action: RecordedAction
    run: RunOutline | None = None
    error: CanonicalLine | None = None


_KEPT: Final = DecisionOutline.__pydantic_validator__


def outline_of(document: Mapping[str, Any]) -> DecisionOutline | None:
    """Return the outline of a record, given as parsed JSON; None if it is not of a decision."""
    if "kind" in document:
        return None
    try:
        outline: DecisionOutline = _KEPT.validate_python(document)
    except ValidationError:
        return None
    return outline
