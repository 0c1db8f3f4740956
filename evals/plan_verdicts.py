"""The verdict on a plan: closed sets of kinds, and no verdict that contradicts itself can be built.

Rule 1: a verdict is true or false in an `if`, because a bare pydantic model is always true.
Rule 2: a field that follows from others is derived, or checked against what follows from them.
"""

from collections.abc import Iterable
from typing import Annotated, Any, Final, Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from evals.envelope import ARRAY, OPTIONAL, Count, Envelope, EvidenceRef, OnlyTrue
from evals.json_value import Text
from evals.kinds import APPROVABLE_KINDS, KINDS_OF, Check, RefusalKind

RULESET_VERSION = "3"
"""Raised by every change that makes `verify` or `consolidate` answer differently for any input."""

MOST_LISTED: Final = 1000
"""The number of violations that a refusal lists, so that any refusal can be recorded and read."""


ConditionKind = Literal[
    "value",
    "args_schema",
    "confinement",
    "approval",
    "evidence",
    "binding",
    "provenance",
    "repeat",
]
"""What an opening judges, in the order of the checks."""


class Violation(Envelope):
    """One reason to refuse. `path` is a JSON pointer into the plan.

    `approvable` is there, and true, where an approval of this exact plan would clear it. `stale` is
    the id of an item that shows the value in question and has expired. `reason` is for the operator
    of a policy; `say`, where it is told, is for the model that made the call.
    """

    check: Check
    kind: RefusalKind
    reason: Text
    offending_step: Annotated[Count | None, OPTIONAL] = None
    path: Annotated[Text | None, OPTIONAL] = None
    approvable: Annotated[OnlyTrue | None, OPTIONAL] = None
    stale: Annotated[EvidenceRef | None, OPTIONAL] = None
    say: Annotated[Text | None, OPTIONAL] = None

    @model_validator(mode="after")
    def _kind_of_its_check(self) -> Self:
        if self.kind not in KINDS_OF[self.check]:
            raise self_contradiction(f"check {self.check} never refuses with {self.kind}")
        if self.approvable and self.kind not in APPROVABLE_KINDS:
            raise self_contradiction(f"no approval clears {self.kind}")
        return self


class _Answer(Envelope):
    """Base of both verdicts. `ok` is a boolean: in Python, the number 1 equals `True`."""

    @model_validator(mode="before")
    @classmethod
    def _ok_is_boolean(cls, value: Any) -> Any:
        if isinstance(value, dict) and type(value.get("ok", True)) is not bool:
            raise PydanticCustomError("bool_type", "ok must be true or false")
        return value


class Condition(Envelope):
    """What the opening of a step will judge. `path` is a JSON pointer into the step."""

    kind: ConditionKind
    step: Count
    path: Text
    reason: Text


class Verified(_Answer):
    """The plan may run. `caveats` name what could not be checked.

    `conditions` are there where the plan is late: what the openings of its steps have to judge.
    """

    ok: Literal[True] = True
    reasons: Annotated[tuple[Text, ...], ARRAY]
    caveats: Annotated[tuple[Text, ...], ARRAY] = ()
    conditions: Annotated[tuple[Condition, ...] | None, OPTIONAL, ARRAY, Field(min_length=1)] = None

    def __bool__(self) -> Literal[True]:
        return True


class Refused(_Answer):
    """The plan must not run. Kind and step are those of the first violation, and so is the reason.

    Where texts are told, `reasons` are those of all violations, those first that no approval
    clears. What is recorded and compared is the `bare` refusal.

    After `MOST_LISTED` violations one more says how many were left out: it has the check and the
    kind of the first of them, no step, and the path "".
    """

    ok: Literal[False] = False
    kind: RefusalKind
    reasons: Annotated[tuple[Text, ...], ARRAY]
    offending_step: Annotated[Count | None, OPTIONAL] = None
    violations: Annotated[tuple[Violation, ...], ARRAY, Field(min_length=1)]

    def __bool__(self) -> Literal[False]:
        return False

    @property
    def approvable(self) -> bool:
        """Return whether an approval of this exact plan would clear every violation."""
        return all(violation.approvable for violation in self.violations)

    @property
    def bare(self) -> "Refused":
        """This refusal as it is recorded: without texts for models, with the first reason alone."""
        if len(self.reasons) == 1 and all(one.say is None for one in self.violations):
            return self
        return Refused.because(
            tuple(one.model_copy(update={"say": None}) for one in self.violations)
        )

    @classmethod
    def because(cls, violations: tuple[Violation, ...]) -> Self:
        """Return the refusal for these violations, in the order of the checks; the first names it.

        Raises:
            IndexError: there are no violations.
        """
        first = violations[0]
        if first.offending_step is None:
            return cls(kind=first.kind, reasons=(first.reason,), violations=violations)
        return cls(
            kind=first.kind,
            reasons=(first.reason,),
            offending_step=first.offending_step,
            violations=violations,
        )

    @model_validator(mode="after")
    def _first_violation_leads(self) -> Self:
        first = self.violations[0]
        if (self.kind, self.offending_step) != (first.kind, first.offending_step) or (
            self.reasons != (first.reason,)
            and self.reasons != tuple(one.reason for one in first_uncleared(self.violations))
        ):
            raise self_contradiction(
                "kind, reasons and offending_step are not the first violation's"
            )
        return self


VerifyVerdict = Annotated[Verified | Refused, Field(discriminator="ok")]
"""The verdict of `verify`. `ok` tells the two apart; in an `if`, a refusal is false."""


def first_uncleared(violations: Iterable[Violation]) -> list[Violation]:
    """Return violations in their order, those first that no approval clears."""
    return sorted(violations, key=lambda one: bool(one.approvable))


def self_contradiction(what: str) -> PydanticCustomError:
    """Return the error of a verdict or report that contradicts itself."""
    return PydanticCustomError("contradiction", "{what}", {"what": what})
