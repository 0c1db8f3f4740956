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
)
