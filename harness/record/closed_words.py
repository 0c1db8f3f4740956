"""A record as it is hashed: its texts, its run and what was tried before stand as digests. Pure.

Rule 1: the hash of a record is that of its sealed form, so that it can be derived again where the
        texts, the run, or what was asked were taken out of the log.
Rule 2: `asked`, `attempts`, `carried` and `run` are sealed as the SHA-256 of their canonical
        bytes, and `texts` as that of the list of the different texts in `because`, `error`,
        `report` and `where`, in their order. In the place of a text stands its number in the list.
Rule 3: what is not known to be a closed word is a text. A path is one too where it leads into the
        args of a step: those names are chosen by whoever wrote the plan.
"""

from collections.abc import Iterable, Mapping
from operator import itemgetter
from typing import Any, Final

from evals.plan import Plan, ReasonStep, ToolStep
from harness.canonical import canonical_json
from harness.record.drafts import sha256

TEXT_MEMBER: Final = "texts"
"""The member of a sealed record that has the digest of its texts."""

SEALED: Final[tuple[str, ...]] = ("asked", "attempts", "carried", "run", TEXT_MEMBER)
"""The members that are sealed as digests, and taken out alone."""

REDACTED: Final = "redacted"
"""What is read in the place of a text that is gone; the member with the digests of what is."""

WITH_TEXTS: Final[tuple[str, ...]] = ("because", "error", "report", "where")
"""The members of a record that have texts."""
_WORDS: Final = frozenset(
    {
        *("check", "decided_at", "decision_key", "evaluator_id", "evaluator_version", "kind"),
        *("refused_at", "run_id", "severity", "status", "trace_id"),
    }
)
"""The members whose texts are closed words, names that identify a record, or times."""
_FIELDS: Final = frozenset({*Plan.model_fields, *ToolStep.model_fields, *ReasonStep.model_fields})
_NAME: Final = itemgetter(0)
_LONGEST_INDEX: Final = 6  # digits: a longer number may be one of an account


class _Closing:
    """Puts numbers in the places of texts, and lists the texts."""

    def __init__(self) -> None:
        self.numbers: dict[str, str] = {}

    def close(self, name: str, value: Any) -> Any:
        """Return the value of a member as it is sealed."""
        kind = type(value)
        if kind is str:
            if _is_closed_word(name, value):
                return value
            return self.numbers.setdefault(value, str(len(self.numbers)))
        if kind is dict:
            return {  # what stays is left without a call: there is much of it in every report
                own: one if own in _WORDS and type(one) is str else self.close(own, one)
                for own, one in sorted(value.items(), key=_NAME)
            }
        return [self.close(name, one) for one in value] if kind is list else value


def close_record(document: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the members of a record that have texts, as they are sealed, and the texts.

    Args:
        document: the record, or some members of it, as JSON.
    """
    closing = _Closing()
    told = {name: closing.close(name, document[name]) for name in WITH_TEXTS if name in document}
    return told, list(closing.numbers)


def seal_members(
    members: Mapping[str, bytes], document: Mapping[str, Any], gone: Mapping[str, str] | None = None
) -> dict[str, bytes]:
    """Return the members of a record as they are hashed.

    Args:
        members: their canonical bytes.
        document: the same as JSON; only those with texts are needed.
        gone: the digests of those that were taken out. Without texts, the others are closed.

    Raises:
        ValueError: the record has a member that only sealed ones have.
    """
    digests = dict(gone or {})
    if TEXT_MEMBER in members and TEXT_MEMBER not in digests:
        raise ValueError("a record has no member of that name")
    told: dict[str, bytes] = {}
    if TEXT_MEMBER not in digests:
        closed, texts = close_record(document)
        told = {name: canonical_json(value) for name, value in closed.items()}
        digests |= {TEXT_MEMBER: sha256(canonical_json(texts))} if texts else {}
    digests = {
        **{name: sha256(members[name]) for name in SEALED if name in members},
        **digests,
    }
    return {**members, **told, **{name: b'"%b"' % own.encode() for name, own in digests.items()}}


def read_closed(value: Any, name: str = "") -> Any:
    """Return a closed member for whoever reads it: with a word in the place of each text."""
    if type(value) is str:
        return value if _is_closed_word(name, value) else REDACTED
    if type(value) is dict:
        return {own: read_closed(one, own) for own, one in value.items()}
    return [read_closed(one, name) for one in value] if type(value) is list else value


def without_texts(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record whose texts were taken out, for whoever reads it."""
    told = {name: read_closed(document[name], name) for name in WITH_TEXTS if name in document}
    return {name: told.get(name, value) for name, value in document.items() if name != TEXT_MEMBER}


def open_record(sealed: Mapping[str, Any], parts: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record of its sealed form, with its parts in their places. Undoes `seal_members`.

    Args:
        sealed: the sealed form, as JSON.
        parts: what was sealed as digests, by the names of the members. What is not there was taken
            out: a member is left out, and words stand in the places of texts.

    Raises:
        ValueError: the texts are others than those that the record numbers.
    """
    rest = {name: parts.get(name, one) for name, one in sealed.items() if name != TEXT_MEMBER}
    record = {name: one for name, one in rest.items() if name not in SEALED or name in parts}
    if TEXT_MEMBER in sealed and TEXT_MEMBER not in parts:
        return without_texts(record)
    texts = parts.get(TEXT_MEMBER, [])
    told = {name: _fill_in(record[name], name, texts) for name in WITH_TEXTS if name in record}
    if close_record(told) != ({name: sealed[name] for name in told}, texts):
        raise ValueError("it numbers other texts")
    return {**record, **told}


def _fill_in(value: Any, name: str, texts: Any) -> Any:
    """Return the value of a member with the texts that its numbers stand for."""
    if type(value) is str and not _is_closed_word(name, value):
        is_number = type(texts) is list and value.isascii() and value.isdecimal()
        return next(iter(texts[int(value) : int(value) + 1]), value) if is_number else value
    if type(value) is dict:
        return {own: _fill_in(one, own, texts) for own, one in value.items()}
    return [_fill_in(one, name, texts) for one in value] if type(value) is list else value


def _is_closed_word(name: str, value: str) -> bool:
    """Return whether a text of a report stays as it is: a closed word, or a place in a plan."""
    return name in _WORDS or (name == "path" and _is_place(value.split("/")))


def _is_place(names: Iterable[str]) -> bool:
    root, *inner = names
    return not root and "args" not in inner[:-1] and all(map(_is_step_of_path, inner))


def _is_step_of_path(name: str) -> bool:
    is_index = name.isascii() and name.isdecimal() and len(name) <= _LONGEST_INDEX
    return is_index or name in _FIELDS
