"""The results of a call as evidence: of the class that the policy says, and with its source."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from critic.session.call_batch import Call, CallResult, RunningBatch
from critic.session.ledger import Ledger
from critic.session.session_evidence import Trail
from critic.session.session_rules import CALL_ID, SessionTool
from critic.session.session_values import locators_of
from critic.session.standing import standing_of
from evals.json_value import detach_json
from evals.manifest import EvidenceItem, Source, Standing

FAILED_CLASS: Final = "failed_result"
"""The class of what a call returned that did not complete. The policy cannot change it."""

_LONGEST_SUBJECT: Final = 80
_LATEST: Final = datetime.max


@dataclass(frozen=True, slots=True)
class Arrival:
    """The moment at which a result arrives: what the session knows then, and the time."""

    trail: Trail
    ledger: Ledger
    request_hosts: Collection[str]
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
        completed = result.status == "completed"
        contents = [content for content in (result.output, result.error) if content is not None]
        if not contents and not completed:
            return []
        optional: dict[str, Any] = {}
        if tool is not None and tool.expires_after_s is not None:
            optional["expires_at"] = self._expiry_after(tool.expires_after_s)
        source = self._make_source(running, call, tool)
        kind = (tool.result_class if tool else "result") if completed else FAILED_CLASS
        return [
            EvidenceItem(
                id=f"{CALL_ID}{first + at}",
                classification=kind,
                content=detach_json(content),
                source=source,
                subject=_subject(call, tool),
                **optional,
            )
            for at, content in enumerate(contents or [None])
        ]

    def _make_source(self, running: RunningBatch, call: Call, tool: SessionTool | None) -> Source:
        """Return who wrote it, and how the session came to read it."""
        result = tool.capability.result if tool else None
        optional: dict[str, Any] = {"web": True} if result and result.web else {}
        author = result.author if result else "public"
        return Source(author=author, standing=self._find_standing(running, call, tool), **optional)

    def _find_standing(
        self, running: RunningBatch, call: Call, tool: SessionTool | None
    ) -> Standing:
        locators = locators_of(tool.roles, call.args) if tool else []
        if not locators:
            return "ambient"
        known = (self.ledger.approved.at(self.as_of), self.ledger.own)
        with self.trail.seen_sources(self.as_of, without=running.results) as (_, every):
            return standing_of(locators, every, self.request_hosts, known)

    def _expiry_after(self, seconds: int) -> datetime:
        if self.as_of is None:
            raise ValueError("results that expire need the time of their arrival: give as_of")
        last = _LATEST.replace(tzinfo=self.as_of.tzinfo)
        left = (last - self.as_of) // timedelta(seconds=1)
        return self.as_of + timedelta(seconds=min(seconds, left))


def _subject(call: Call, tool: SessionTool | None) -> str:
    """Return what a result is of, for a person: the tool, and what it was asked to read."""
    locators = locators_of(tool.roles, call.args) if tool else []
    return " ".join([call.tool, *locators])[:_LONGEST_SUBJECT]
