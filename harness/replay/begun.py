"""Check an execution that began, and the decision or the settlement that ends it. Pure."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from critic.verify import verify_proposal
from evals.escaping import escape_name
from evals.plan import Proposal
from harness.record import BegunRecord, SettledRecord, used_approvals
from harness.record.drafts import begun_claim
from harness.record.integrity import StoredDocument
from harness.replay.log_page import Page
from harness.replay.problems import Problems


def check_begun(
    document: StoredDocument,
    record: BegunRecord,
    proposal: Proposal | None,
    page: Page,
    problems: Problems,
) -> None:
    """Check what an execution was permitted, and whether a decision ended it."""
    if not _check_ended(document, page, problems):
        problems.unended.append(
            "an execution began and no record ends it: what its plan says may have run"
        )
    if proposal is not None:
        _compare_begun(document, record, proposal, page, problems)


def check_settled(
    document: StoredDocument, record: SettledRecord, page: Page, problems: Problems
) -> None:
    """Check what a person settled, and note what nobody knows."""
    is_ended = _check_ended(document, page, problems)
    if record.outcome == "unknown" and not is_ended:
        problems.notes.append(f"settled as unknown by {escape_name(record.by)}: it may have run")
    begun = page.named.get(document.begun)
    if (
        begun is not None
        and begun.kind == "begun"
        and begun.value.get("trace_id") != record.trace_id
    ):
        problems.tampered.append("its trace_id is not that of the execution which it ends")


def _check_ended(document: StoredDocument, page: Page, problems: Problems) -> bool:
    """Return whether a record ends the execution of this one. It has to come after."""
    ended = (page.claims or {}).get(begun_claim(document.raw.hash))
    problems.is_ended = ended is not None
    if ended is not None and ended <= document.raw.seq:
        problems.tampered.append(f"record {ended} is said to end it, and comes before")
    return problems.is_ended


def _compare_begun(
    document: StoredDocument,
    record: BegunRecord,
    proposal: Proposal,
    page: Page,
    problems: Problems,
) -> None:
    if record.permit != page.inputs.digest_of(proposal, document.digests):
        problems.tampered.append("its permit is not of its inputs")
    if record.trace_id != proposal.ctx.trace_id:
        problems.tampered.append("its trace_id is not that of its context")
    try:
        judge = partial(verify_proposal, proposal)
        allowed = bool(page.inputs.verdict_on(document.digests, judge))
        needed = used_approvals(proposal)
    except Exception as error:
        # A verdict is a value on any input. If this code fails, the log is not to blame.
        problems.drift.append(f"what it was permitted cannot be derived: {type(error).__name__}")
        return
    if allowed != (record.action == "allow"):
        said = "passes" if allowed else "refuses"
        problems.contradiction(f"its action is {record.action}, of a plan that verify {said}")
    elif (record.approvals or ()) != needed:
        problems.contradiction("its approvals are not those that its plan needs")


def check_end(document: StoredDocument, page: Page, problems: Problems) -> None:
    """Check that the execution that a record ends began before, with the same inputs.

    A decision may also end an execution that a person settled.
    """
    if not document.begun:
        return
    begun = page.named.get(document.begun)
    if begun is None:
        problems.incomplete.append(f"the record of its beginning is missing: no {document.begun}")
        return
    where = f"record {begun.raw.seq}, in which its execution began,"
    if begun.kind != "begun" and (begun.kind, document.kind) != ("settled", "decision"):
        problems.tampered.append(f"{where} is not of an execution that begins")
    elif begun.raw.seq >= document.raw.seq:
        problems.tampered.append(f"{where} does not come before")
    elif begun.digests != document.digests:
        problems.tampered.append(f"{where} has other inputs")
    elif not _goes_on(begun.value.get("action"), document.value):
        problems.tampered.append(f"{where} has another action")


def _goes_on(begun: Any, end: Mapping[str, Any]) -> bool:
    """Return whether an execution may end so: a shadow is told by a refused opening, too."""
    action, report = end.get("action"), end.get("report")
    is_open = type(report) is dict and report.get("refused_at") == "open"
    return action == begun or (is_open and (begun, action) == ("allow", "shadow"))
