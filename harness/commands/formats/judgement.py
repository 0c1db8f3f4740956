"""One judgement as the formats print it, and the messages that a verdict contains."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, assert_never

from critic.reports import ScoreVerdict
from evals.plan_verdicts import Refused, Verified
from harness.commands.documents import InputDocument
from harness.wire import InvalidInput

if TYPE_CHECKING:  # slow to load, and only needed where advice is asked for
    from critic import Advice

AnyVerdict = Verified | Refused | ScoreVerdict
Describe = Callable[[AnyVerdict], str]

Level = Literal["error", "warning", "note"]

_INVALID_INPUT = "invalid_input"
"""The rule of messages about a document that is not an envelope."""


class Judged(NamedTuple):
    """A verdict, the id of its trace, and the advice if it was requested.

    `note` is a remark for a person, which text output prints under the verdict.
    """

    verdict: AnyVerdict
    trace_id: str
    advice: "Advice | None" = None
    note: str = ""


class DocumentMessage(NamedTuple):
    """One message about a document: its level, its rule, its place and its text."""

    level: Level
    rule: str
    """A refusal kind, `policy`, `safety` ... for evaluators, `caveat`, or `invalid_input`."""
    text: str
    path: str = ""
    """JSON pointer into the plan or the document, "" for the whole."""


class Reporter(Protocol):
    """Receives judgements one by one. A format that needs all of them prints at the end."""

    def report_verdict(self, document: InputDocument, judged: Judged) -> None:
        """Report a verdict."""

    def report_invalid(self, document: InputDocument, error: InvalidInput) -> None:
        """Report a document that is not an envelope."""

    def close(self) -> None:
        """Print what had to wait for the last judgement."""


def messages(verdict: AnyVerdict) -> Iterator[DocumentMessage]:
    """Yield the messages of a verdict: violations, caveats, or the findings of evaluators."""
    match verdict:
        case Verified():
            yield from (DocumentMessage("note", "caveat", caveat) for caveat in verdict.caveats)
        case Refused():
            for violation in verdict.violations:
                yield DocumentMessage(
                    "error", violation.kind, violation.reason, violation.path or ""
                )
        case ScoreVerdict():
            yield from _findings(verdict)
        case _:
            assert_never(verdict)


def _findings(verdict: ScoreVerdict) -> Iterator[DocumentMessage]:
    levels: dict[str, Level] = {"error": "error", "warn": "warning", "info": "note"}
    for evaluator, scored in verdict.scorecard.scores:
        for finding in scored.findings:
            yield DocumentMessage(levels[finding.severity], evaluator, finding.message)


def problems(error: InvalidInput) -> Iterator[DocumentMessage]:
    """Yield every problem of a document that is not an envelope."""
    for problem in error.problems:
        yield DocumentMessage("error", _INVALID_INPUT, problem.message, problem.path)
