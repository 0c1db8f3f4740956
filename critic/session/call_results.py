"""The results of a call as evidence: of the class that the policy says, and with its source."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

import orjson
from pydantic import ValidationError

from critic.provenance.standing import standing_of
from critic.session.call_batch import Call, CallResult, RunningBatch
from critic.session.ledger import Ledger
from critic.session.session_evidence import Trail
from critic.session.session_rules import CALL_ID, FAILED_CLASS, SessionRules, SessionTool
from critic.session.session_values import (
    FieldTables,
    KnownValues,
    ValueFacts,
    approved_tiers,
    locators_in,
)
from evals.capability import Author
from evals.json_value import detach_json
from evals.manifest import EvidenceItem, Source, Standing

_LONGEST_SUBJECT: Final = 80
_OF_OTHERS: Final = ("fetch", "send", "run", "unknown", "system", "install")
"""The effects of commands that print what anybody may have written."""
_LATEST: Final = datetime.max


def record_of(tool: SessionTool | None, result: CallResult, tables: FieldTables) -> Any:
    """Return what a call returned, if it is a record that its tool promises; else None.

    What is no record of the tool's class is a text: no place in it holds a field, or a made thing.
    """
    if tool is None:
        return None
    value, name = read_promised(tool, result), tool.result_class
    return None if tables.declares(name) and not tables.is_record(name, value) else value


def read_promised(tool: SessionTool, result: CallResult) -> Any:
    """Return what a call returned as JSON, where its tool promises that; else None."""
    if not tool.promises_records:
        return None
    return _read_json(result.output) if type(result.output) is str else result.output


def classify_output(
    tool: SessionTool, result: CallResult, tables: FieldTables
) -> tuple[Any, str, bool]:
    """Return what a completed call returned, its class, and whether anybody may have written it.

    A result takes a class that says who fills which field only as a record of it. Where that class
    says of a field that others fill it, they may have filled any part of what is no record.
    """
    value, name = read_promised(tool, result), tool.result_class
    content = result.output if value is None else value
    if not tables.declares(name) or record_of(tool, result, tables) is not None:
        return content, name, False
    return content, tool.default_class, tables.narrows(name)


def name_author(tool: SessionTool, *, is_anyones: bool) -> Author | None:
    """Return whose word it is what a completed call returned: nobody's, if made from its arguments.

    Whoever wrote those counts where they stand: what is made of them neither vouches nor contests.
    """
    if tool.is_derived:
        return None
    promised = tool.capability.result
    return "public" if promised is None or is_anyones else promised.author


def _read_json(text: str) -> Any:
    """Return the JSON value that a text spells, if the wire could carry it; else None."""
    try:
        value = orjson.loads(text)
        EvidenceItem(id="call/0", classification="result", content=value)
    except (orjson.JSONDecodeError, ValidationError):
        return None
    return value


@dataclass(frozen=True, slots=True)
class Arrival:
    """The moment at which a result arrives: what the session knows then, and the time."""

    rules: SessionRules
    trail: Trail
    ledger: Ledger
    as_of: datetime | None

    def items(
        self,
        running: RunningBatch,
        call: Call,
        tool: SessionTool | None,
        result: CallResult,
        first: int,
    ) -> list[EvidenceItem]:
        """Return what a call returned: its output, and the text of its error.

        A call that completed is evidence even if it returned nothing.

        Args:
            first: the number of the first item.

        Raises:
            ValueError: it is fresh for some seconds, and there is no time.
        """
        does = running.effects_of(call)
        if not (made := self._read_parts(tool, result, does)):
            return []
        optional, standing = self._optional_of(tool), self._find_standing(running, call, tool)
        subject, marks = _subject(call, tool), _marks_of(tool, result, does)

        def source(writer: Author | None, at: int) -> dict[str, Any]:
            told = {"author": writer, "standing": standing, "seq": len(self.trail) + at, **marks}
            return {} if writer is None else {"source": Source(**told)}

        return [
            EvidenceItem(
                id=f"{CALL_ID}{first + at}",
                classification=name,
                content=detach_json(content),
                subject=subject,
                **source(writer, at),
                **optional,
            )
            for at, (content, name, writer) in enumerate(made)
        ]

    def _read_parts(
        self, tool: SessionTool | None, result: CallResult, does: Collection[str]
    ) -> list[tuple[Any, str, Author | None]]:
        """Return what a call returned, and its error: of each its class, and who writes it."""
        output, kind, author = self._read_output(tool, result, does)
        made = [(output, kind, author)] if output is not None else []
        if result.error is not None:
            made.append((result.error, FAILED_CLASS, "public"))  # an attacker writes errors as well
        if not made and (result.status == "completed" or result.cut):
            made.append((None, kind, author))
        return made

    def _optional_of(self, tool: SessionTool | None) -> dict[str, Any]:
        if tool is None or tool.expires_after_s is None:
            return {}
        return {"expires_at": self._expiry_after(tool.expires_after_s)}

    def _read_output(
        self, tool: SessionTool | None, result: CallResult, does: Collection[str]
    ) -> tuple[Any, str, Author | None]:
        """Return what a call returned, its class, and who writes it: nobody what its args said.

        Args:
            does: the effects of its command.
        """
        if result.status != "completed":
            return result.output, FAILED_CLASS, "public"
        if tool is None:
            return result.output, "result", "public"
        content, name, is_anyones = classify_output(tool, result, self.rules.tables)
        is_of_others = any(one.startswith(_OF_OTHERS) for one in does)
        author = "public" if is_of_others else name_author(tool, is_anyones=is_anyones)
        return content, name, author

    def _find_standing(
        self, running: RunningBatch, call: Call, tool: SessionTool | None
    ) -> Standing:
        locators = locators_in(tool.values, tool.capability, call.args) if tool else []
        if not locators:
            return "ambient"
        ledger = self.ledger
        approved = approved_tiers(ledger.approved_at(self.as_of))
        with self.trail.seen_sources(self.as_of, without=running.results) as seen:
            known = KnownValues(*seen, approved, ledger.own, ledger.sent.first_seq)
            return standing_of(locators, ValueFacts(self.rules.spec, known))

    def _expiry_after(self, seconds: int) -> datetime:
        if self.as_of is None:
            raise ValueError("results that expire need the time of their arrival: give as_of")
        last = _LATEST.replace(tzinfo=self.as_of.tzinfo)
        left = (last - self.as_of) // timedelta(seconds=1)
        return self.as_of + timedelta(seconds=min(seconds, left))


def _marks_of(
    tool: SessionTool | None, result: CallResult, does: Collection[str]
) -> dict[str, Any]:
    """Return what else is said of where a result was seen.

    Args:
        does: the effects of its command.
    """
    promised = tool.capability.result if tool else None
    is_web = (promised is not None and promised.web) or "fetch" in does or "send" in does
    marks = {"web": is_web, "cut": result.cut}
    return {name: True for name, holds in marks.items() if holds}


def _subject(call: Call, tool: SessionTool | None) -> str:
    """Return what a result is of, for a person: the tool, and what it was asked to read."""
    locators = locators_in(tool.values, tool.capability, call.args) if tool else []
    read = dict.fromkeys(one.sought.narrow for one in locators)
    return " ".join([call.tool, *read])[:_LONGEST_SUBJECT]
