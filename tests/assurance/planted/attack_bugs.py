"""Bugs that let in again what somebody who has read the rules would try beside provenance."""

from typing import Final

from tests.assurance.planted.bug import Bug, slip

_DOCUMENTS: Final = "harness/policy/partial_documents.py"

ATTACK_BUGS: Final[tuple[Bug, ...]] = (
    slip(
        "document-raises-the-mode",
        _DOCUMENTS,
        "a document that leaves the tools to a policy runs above the policy's own safety mode",
        "MODE_RANK.get(mode, 0) > MODE_RANK[most]",
        "MODE_RANK.get(mode, 0) < MODE_RANK[most]",
    ),
    slip(
        "document-drops-a-limit",
        _DOCUMENTS,
        "a document with a budget of its own is free of the limits that it does not name",
        "return {**known, **given}",
        "return given",
    ),
    slip(
        "id-comes-back",
        "harness/guard/course.py",
        "a call takes the id of one that runs, whose result then counts as its own",
        "if call.id in self.session.open_calls:",
        "if call.id in ():",
    ),
    slip(
        "running-call-given-up",
        "harness/guard/permits.py",
        "a call that is being made counts as one that was not",
        "return self._used.acquire(blocking=False) or self._missed",
        "return self._used.acquire(blocking=False) or not self._missed",
    ),
    slip(
        "paused-tool-goes-on",
        "harness/integrations/langchain/langchain_gate.py",
        "a tool that paused acts once more under the permit of its first start",
        "if is_same and self.session.asks_within(call.id):",
        "if is_same:",
    ),
)
