"""What a person meant a ruling to be: allowed, asked about or refused, and because of what.

Rule 1: every violation has a check and a kind; most have a finer name too, of the key of the policy
        that was not met. One that no rule here knows has none, and no case can mean it by a name.
"""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, NamedTuple, Self, get_args

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from critic import Check, RefusalKind, Refused, Verified, Violation
from evals.envelope import ARRAY, OPTIONAL, Envelope, OnlyTrue
from evals.escaping import escape_line, escape_name
from evals.json_value import Text
from harness.canonical import ascii_json

if TYPE_CHECKING:
    from critic.session import Action

FindingName = Literal[
    "approval_mode",
    "approval_required_from",
    "args_schema",
    "bound_args",
    "bound_together",
    "bucket_tokens",
    "confined_evidence",
    "denied",
    "depends_on",
    "evidence_refs",
    "evidence_steps",
    "id",
    "late",
    "max_questions",
    "max_steps",
    "on_ask",
    "on_refusal",
    "output_schema",
    "provenance",
    "repeated_call",
    "required_evidence",
    "required_outputs",
    "requires_evidence",
    "safety_mode",
    "takes",
    "trace_id",
    "unknown_tool",
]
"""Why a call may not run: the key of the policy or of the plan that it does not go with."""

Because = Literal[Check, RefusalKind, FindingName]
"""The check, the kind or the name of a violation."""

_NAMES: Final[tuple[tuple[Check, str, FindingName], ...]] = (
    ("coverage", r"plan is for trace ", "trace_id"),
    ("coverage", r"", "required_outputs"),
    ("surface", r"plan step \d+ calls .+ which is not in the surface$", "unknown_tool"),
    ("surface", r"step \d+ args do not match the args_schema", "args_schema"),
    ("surface", r"step \d+ sends content of confined evidence ", "confined_evidence"),
    ("surface", r"step \d+ has (takes|evidence_steps), ", "late"),
    ("surface", r"step \d+ takes a value for ", "takes"),
    ("surface", r"step \d+ takes .+, which never fits: ", "output_schema"),
    ("surface", r"", "provenance"),
    ("approval", r"step \d+ mode \w+ > safety_mode ", "safety_mode"),
    ("approval", r"step \d+ mode \w+ > spec approval_mode ", "approval_mode"),
    ("approval", r"step \d+ mode \w+ needs approval: ", "approval_required_from"),
    ("approval", r"step \d+ is a call that a person said no to ", "denied"),
    ("approval", r"", "provenance"),
    ("evidence", r"plan pins no fresh evidence of required class ", "required_evidence"),
    ("evidence", r"step \d+ (requires|has no pinned) evidence ", "requires_evidence"),
    ("evidence", r"step \d+ pins evidence ", "evidence_refs"),
    ("evidence", r"step \d+ has no value for argument ", "bound_args"),
    (
        "evidence",
        r"step \d+ arguments? .+ not backed by one and the same pinned item$",
        "bound_together",
    ),
    ("evidence", r"step \d+ argument .+ is not backed by pinned evidence", "bound_args"),
    ("evidence", r"", "provenance"),
    ("loop", r"plan has \d+ steps?[ ,]", "max_steps"),
    ("loop", r"plan exceeds bucket_tokens$", "bucket_tokens"),
    ("loop", r"step \d+ repeats the id ", "id"),
    ("loop", r"step \d+ depends on ", "depends_on"),
    ("loop", r"step \d+ repeats the destructive call ", "repeated_call"),
    ("loop", r"step \d+ takes from ", "takes"),
    ("loop", r"step \d+ pins ", "evidence_steps"),
)
"""What a violation of a check is called whose reason begins so: the first that fits."""


_MOST_MEANT: Final = 100
"""How many violations one expectation names."""


class NamedViolation(NamedTuple):
    """A reason why a call may not run as it is, with its names; None where it has none.

    `path` is a JSON pointer into the plan, and `say` what the model is told of it, if anything.
    """

    check: str | None
    kind: str | None
    name: FindingName | None
    path: str | None
    reason: str
    say: str | None = None

    def fits(self, because: str) -> bool:
        """Return whether one of its names is this one."""
        return because in (self.check, self.kind, self.name)

    @property
    def text(self) -> str:
        """Its names, where it is and why, on one line that is safe to print."""
        names = [one for one in (self.check, self.kind, self.name) if one is not None]
        place = f" at {escape_name(self.path)}" if self.path else ""
        return f"{', '.join(dict.fromkeys(names))}{place}: {escape_line(self.reason)}"


def name_violation(violation: Violation) -> NamedViolation:
    """Return a violation with the name of the rule that it breaks."""
    found: FindingName | None = None
    if violation.path or violation.check == "coverage":  # else it counts those that are not listed
        found = next(
            (
                name
                for check, pattern, name in _NAMES
                if check == violation.check and re.match(pattern, violation.reason, re.DOTALL)
            ),
            None,
        )
    return NamedViolation(
        violation.check, violation.kind, found, violation.path, violation.reason, violation.say
    )


class JudgedRuling(NamedTuple):
    """What became of a plan or of the calls of a turn, and why."""

    action: "Action"
    violations: tuple[NamedViolation, ...] = ()

    @property
    def text(self) -> str:
        """The action in one word, and each violation on a line of its own."""
        lines: list[str] = [self.action]
        for one in self.violations:
            lines.append(f"  {one.text}")
            if one.say is not None:
                lines.append(f"    to the model: {escape_line(one.say)}")
        return "\n".join(lines)


class ExpectedViolation(Envelope):
    """A violation by its check, by one of its names, or by the place in the plan that it is at."""

    check: Annotated[Check | None, OPTIONAL] = None
    because: Annotated[Because | None, OPTIONAL] = None
    path: Annotated[Text | None, OPTIONAL] = None

    @model_validator(mode="after")
    def _require_one(self) -> Self:
        if not self.model_fields_set:
            raise expectation_error("says nothing: write check, because or path")
        return self

    def fits(self, violation: NamedViolation) -> bool:
        """Return whether a violation is the one that is meant."""
        return (
            self.check in (None, violation.check)
            and (self.because is None or violation.fits(self.because))
            and self.path in (None, violation.path)
        )


class ExpectedReasons(Envelope):
    """What a person meant: `asks`, `refuses`, why, and with `violations` all of the reasons."""

    asks: Annotated[OnlyTrue | None, OPTIONAL] = None
    refuses: Annotated[OnlyTrue | None, OPTIONAL] = None
    because: Annotated[Because | None, OPTIONAL] = None
    violations: Annotated[
        tuple[ExpectedViolation, ...] | None,
        OPTIONAL,
        ARRAY,
        Field(min_length=1, max_length=_MOST_MEANT),
    ] = None

    @model_validator(mode="after")
    def _one_action(self) -> Self:
        if self.asks and self.refuses:
            raise expectation_error("a person is asked, or it is refused: keep one of the two")
        return self

    def fits(self, ruling: JudgedRuling) -> bool:
        """Return whether a ruling is what was meant."""
        if self.asks and ruling.action != "ask":
            return False
        if self.refuses and ruling.action != "refuse":
            return False
        if (self.because or self.violations) and ruling.action == "allow":
            return False
        if self.because and not any(one.fits(self.because) for one in ruling.violations):
            return False
        return self.violations is None or _fit_all(self.violations, ruling.violations)


_WORDS: Final = {"allow": "allows", "ask": "asks", "refuse": "refuses"}


class ExpectedRuling(ExpectedReasons):
    """What a person meant the ruling on one turn to be: one of three words, or a table."""

    allows: Annotated[OnlyTrue | None, OPTIONAL] = None

    @model_validator(mode="before")
    @classmethod
    def _spell_expectation(cls, value: Any) -> Any:
        if isinstance(value, dict | ExpectedRuling):
            return value
        if not isinstance(value, str) or value not in _WORDS:
            words = ", ".join(f'"{word}"' for word in _WORDS)
            raise expectation_error(f"must be {words}, or a table such as {{ asks = true }}")
        return {_WORDS[value]: True}

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.model_fields_set:
            raise expectation_error("says nothing: write asks, refuses, because or violations")
        if self.allows and len(self.model_fields_set) > 1:
            raise expectation_error("an allowed call has no reasons: remove the other keys")
        return self

    def fits(self, ruling: JudgedRuling) -> bool:
        """Return whether a ruling is what was meant: nothing is doubted where it is allowed."""
        if self.allows:
            return ruling.action == "allow" and not ruling.violations
        return super().fits(ruling)

    def is_laxer(self, ruling: JudgedRuling) -> bool:
        """Return whether a ruling stops more than was meant to be stopped."""
        return bool(self.allows or (self.asks and ruling.action == "refuse"))

    @property
    def text(self) -> str:
        """What was meant, on one line."""
        for word, field in _WORDS.items():
            if self.model_fields_set == {field}:
                return word
        return ascii_json(self.wire())


def _fit_all(wanted: Sequence[ExpectedViolation], found: Sequence[NamedViolation]) -> bool:
    """Return whether each violation is one that is wanted, and none is left on either side."""
    if len(wanted) != len(found):
        return False
    taken: dict[int, int] = {}  # by the violation, which wanted one takes it
    return all(_take(at, wanted, found, taken, set()) for at in range(len(wanted)))


def _take(
    at: int,
    wanted: Sequence[ExpectedViolation],
    found: Sequence[NamedViolation],
    taken: dict[int, int],
    tried: set[int],
) -> bool:
    """Give a wanted violation one that fits, where others can make room for it."""
    for index, violation in enumerate(found):
        if index in tried or not wanted[at].fits(violation):
            continue
        tried.add(index)
        if index not in taken or _take(taken[index], wanted, found, taken, tried):
            taken[index] = at
            return True
    return False


def judged_ruling(verdict: Verified | Refused) -> JudgedRuling:
    """Return what a verdict on a plan comes to: a person is asked where that would clear it."""
    if isinstance(verdict, Verified):
        return JudgedRuling("allow")
    action: Action = "ask" if verdict.approvable else "refuse"
    return JudgedRuling(action, tuple(map(name_violation, verdict.violations)))


def expectation_error(what: str) -> PydanticCustomError:
    """Return the error of an expectation that cannot be met."""
    return PydanticCustomError("case", "{what}", {"what": what})


BECAUSE: Final[tuple[str, ...]] = get_args(Because)
"""All names that a violation may have."""
