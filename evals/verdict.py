"""The verdict of an evaluator. Its status follows from its findings: they cannot contradict."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Self

from pydantic import model_validator
from pydantic_core import PydanticCustomError

from evals.envelope import ARRAY, OPTIONAL, Array, Envelope, EvidenceRef, Identifier
from evals.field import CustomType
from evals.json_value import Text
from evals.kinds import EvaluatorId

Severity = Literal["info", "warn", "error"]
Status = Literal["pass", "warn", "fail"]


def _check_share(value: Any) -> float:
    # An integer too: canonical JSON spells 1.0 as 1.
    if type(value) in (int, float) and 0 <= value <= 1:
        return float(value)
    raise PydanticCustomError("share", "must be a number from 0 to 1")


Share = Annotated[float, CustomType(_check_share, {"type": "number", "minimum": 0, "maximum": 1})]
"""A score from 0 to 1."""


class Finding(Envelope):
    """One observation. The message is one line that is safe to print anywhere."""

    severity: Severity
    message: Text
    evidence_ref: Annotated[EvidenceRef | None, OPTIONAL] = None


def status_of(findings: Iterable[Finding]) -> Status:
    """Return `fail` if any finding is an error, else `warn` if any is a warning, else `pass`."""
    severities = {finding.severity for finding in findings}
    if "error" in severities:
        return "fail"
    return "warn" if "warn" in severities else "pass"


class EvaluatorVerdict(Envelope):
    """One evaluator's score (0 to 1), its findings, and the status that follows from them."""

    evaluator_id: EvaluatorId
    evaluator_version: Identifier
    score: Share
    status: Status
    findings: Annotated[tuple[Finding, ...], ARRAY]
    trace_id: Identifier

    if TYPE_CHECKING:  # what the constructor takes: see rule 4 of `evals.envelope`

        def __init__(
            self,
            *,
            evaluator_id: EvaluatorId,
            evaluator_version: str,
            score: float,
            status: Status,
            findings: Array[Finding],
            trace_id: str,
        ) -> None: ...

    @model_validator(mode="after")
    def _status_follows_findings(self) -> Self:
        derived = status_of(self.findings)
        if self.status != derived:
            raise PydanticCustomError(
                "contradiction",
                "status is {status} but the findings say {derived}",
                {"status": self.status, "derived": derived},
            )
        return self


def make_verdict(
    evaluator_id: EvaluatorId, trace_id: str, score: float, findings: Iterable[Finding]
) -> EvaluatorVerdict:
    """Return the verdict of an evaluator, with its status derived and its present version."""
    listed = tuple(findings)
    return EvaluatorVerdict(
        evaluator_id=evaluator_id,
        evaluator_version=EVALUATOR_VERSIONS[evaluator_id],
        score=score,
        status=status_of(listed),
        findings=listed,
        trace_id=trace_id,
    )


EVALUATOR_VERSIONS: Final[Mapping[EvaluatorId, str]] = MappingProxyType(
    {
        "policy": "2",
        "utility": "2",
        "latency": "2",
        "safety": "2",
        "cost": "2",
    }
)
"""Raise one when its evaluator's verdict changes for any run, and star that in the changelog."""
