"""What a record says in a line, and what went wrong, as the record says it. Pure.

It reads envelopes and parsed JSON alike, and is total: what is not there, or is not what it should
be, is None. Texts are printable ASCII.
"""

from typing import Any, Final, NamedTuple

from evals.escaping import escape_line
from harness.record.members import elements_of, member_of

_LONGEST: Final = 2000
"""Characters of a text that are kept: more than any line of this program has."""


class RecordTexts(NamedTuple):
    """The texts of a record that are listed."""

    error: str | None = None
    """What went wrong."""
    said: str | None = None
    """What it says in a line: of a decision, why it was made."""

    def hold(self, text: str) -> bool:
        """Return whether a text is in one of them, in upper or lower case."""
        sought = escape_line(text).lower()
        return any(sought in one.lower() for one in self if one is not None)


def texts_of(record: Any) -> RecordTexts:
    """Return the texts of a record of any kind. Never raises.

    Args:
        record: a record: an envelope, or parsed JSON.
    """
    match member_of(record, "kind"):
        case "begun":
            return RecordTexts()
        case "settled":
            said: str | None = (
                f"settled as {_text_of(record, 'outcome')} by {_text_of(record, 'by')}"
            )
        case "redacted":
            taken = len(elements_of(member_of(record, "taken")))
            said = f"{taken} parts were taken out by {_text_of(record, 'by')}"
        case "taken_over":
            old = member_of(record, "old")
            said = f"continues the log with head {member_of(old, 'seq')}:{_text_of(old, 'hash')}"
        case "closed":
            said = "the session was closed"
        case "reopened":
            said = "the session was reopened, with its carried state"
        case "handed_over":
            said = "continues in another log"
        case "critic_error":
            said = _text_of(record, "where")
        case _:
            said = _text_of(member_of(record, "report"), "rationale")
    return RecordTexts(_line(_text_of(record, "error")), _line(said))


def says(record: Any, text: str) -> bool:
    """Return whether a record says a text, in upper or lower case. Never raises.

    It is searched for in the texts that are listed, in the errors of calls, and in what a person
    gave as the reason.

    Args:
        record: a record of any kind: an envelope, or parsed JSON.
        text: what is searched for.
    """
    calls = elements_of(member_of(member_of(record, "run"), "calls"))
    more = (_text_of(record, "because"), *(_text_of(call, "error") for call in calls))
    told = (RecordTexts(_line(one)) for one in more)
    return texts_of(record).hold(text) or any(one.hold(text) for one in told)


def _text_of(record: Any, name: str) -> str | None:
    value = member_of(record, name)
    return value if isinstance(value, str) else None


def _line(text: str | None) -> str | None:
    return None if text is None else escape_line(text[:_LONGEST])
