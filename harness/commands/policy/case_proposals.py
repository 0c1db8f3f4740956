"""Propose edits for a session case that is stopped although its `must` allows it.

The case is judged as a task up to the failed event. Nothing is proposed after an expected stop or a
person's no, because the rest is a different task.
"""

from collections.abc import Iterator
from typing import NamedTuple

from harness.canonical import canonical_json
from harness.case_files.case_reading import ReadCase
from harness.case_files.case_runs import CaseResult
from harness.case_files.session_case import BEGINNING
from harness.policy import PolicyDocument
from harness.what_if.proposing.edit_proposals import ProposedTask, propose_edits
from harness.what_if.proposing.edit_words import edit_text
from harness.what_if.proposing.recorded_tasks import RecordedTask, read_tasks
from harness.wire import InvalidInput


class CaseProposal(NamedTuple):
    """The edits that would let a case through, or why there are none."""

    edits: tuple[str, ...]
    needs_word: bool
    uncured: str | None

    def wire(self) -> dict[str, object]:
        """Return it as JSON."""
        if self.uncured is not None:
            return {"uncured": self.uncured}
        return {"edits": [*self.edits], "needs_word": self.needs_word}

    @property
    def text(self) -> str:
        """Return it on one line that is safe to print."""
        if self.uncured is not None:
            return self.uncured
        word = "needs your word, " if self.needs_word else ""
        return f"critic try proposes: {word}{'; '.join(self.edits)}"


def propose_for_case(
    read: ReadCase, result: CaseResult, document: PolicyDocument
) -> CaseProposal | None:
    """Return the edits that would let a failing case through; None if it fails otherwise."""
    if result.stopped_at is None:
        return None
    task = _task_until(read, result.stopped_at)
    found = None if task is None else _propose(task, document)
    if task is None or found is None or found.judged.stop is None:
        return None
    if found.judged.stop.turn != len(task.turns):
        return None
    if found.proposal is None:
        return None if found.uncured is None else CaseProposal((), False, found.uncured.why)
    texts = tuple(edit_text(edit) for edit in found.proposal.edits)
    return CaseProposal(texts, found.proposal.needs_word, None)


def _propose(task: RecordedTask, document: PolicyDocument) -> ProposedTask | None:
    try:
        return propose_edits(document.policy, task, now=BEGINNING, open_tiers=document.open_tiers)
    except (InvalidInput, ValueError):
        return None


def _task_until(read: ReadCase, at: int) -> RecordedTask | None:
    """Return the session up to an event; None if a person said no before."""
    events = read.events[: at + 1]
    if any(event["event"] == "answer" and not event["yes"] for event in events):
        return None
    name = events[-1]["session"]
    try:
        tasks = read_tasks(_lines_of(event for event in events if event["session"] == name))
    except InvalidInput:
        return None
    return tasks[0] if tasks else None


def _lines_of(events: Iterator[dict[str, object]]) -> Iterator[tuple[int, bytes]]:
    yield from enumerate(map(canonical_json, events), 1)
