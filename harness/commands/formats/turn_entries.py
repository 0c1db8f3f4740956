"""The answers of a guard as entries: a refused turn is a failure."""

from collections.abc import Callable, Iterator

from critic import Refused
from critic.session import SessionReport
from evals.escaping import escape_name
from harness.commands.documents import InputDocument
from harness.commands.formats.format_entries import EntryOutcome, JudgedEntry, entry_reporter
from harness.commands.formats.judgement import DocumentMessage, Level
from harness.guard import Answer, EventError, OpeningRuling, Ruling
from harness.record import Decision


class TurnReporter:
    """Reports each answer to an event as an entry."""

    note: Callable[[Decision], None] | None = None

    def __init__(self, form: str) -> None:
        """Report in a format, `junit`, `sarif` or `github`."""
        self._reporter = entry_reporter(form, "guard")

    def answer(self, document: InputDocument, answer: Answer) -> None:
        """Report the answer to the event in a document."""
        if answer is not None:
            outcome, name, listed = _describe_answer(answer)
            where = f"{document.source}: {name}"
            self._reporter.report(
                JudgedEntry(document.file, where, outcome, tuple(listed), document.line)
            )

    def close(self) -> None:
        """Print what had to wait for the last answer."""
        self._reporter.close()


def _describe_answer(
    answer: Ruling | OpeningRuling | SessionReport | EventError,
) -> tuple[EntryOutcome, str, Iterator[DocumentMessage]]:
    match answer:
        case EventError():
            message = DocumentMessage(
                "error", "invalid_event", answer.error.message, answer.error.path
            )
            return "error", f"{answer.session or 'event'}: not answered", iter((message,))
        case SessionReport():
            refused = answer.status == "refused_by_critic"
            level: Level = "error" if refused else "note"
            closed = DocumentMessage(level, answer.status, answer.rationale)
            return "failure" if refused else "pass", f"{answer.session} closed", iter((closed,))
        case Ruling(critic_error=str(why)):
            failed = DocumentMessage("error", "critic_error", why)
            return "error", f"{answer.session} turn {answer.turn}", iter((failed,))
        case _:
            call = f" call {escape_name(answer.id)}" if isinstance(answer, OpeningRuling) else ""
            name = f"{answer.session} turn {answer.turn}{call}: {answer.action}"
            return "failure" if answer.action == "refuse" else "pass", name, _reasons(answer)


def _reasons(ruling: Ruling | OpeningRuling) -> Iterator[DocumentMessage]:
    level: Level = "error" if ruling.action == "refuse" else "warning"
    if isinstance(ruling.verdict, Refused):
        for one in ruling.verdict.violations:
            yield DocumentMessage(level, one.kind, one.reason, one.path or "")
    if ruling.note:
        yield DocumentMessage("note" if ruling else level, ruling.action, ruling.note)
