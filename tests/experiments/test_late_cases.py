"""Cases of late plans that others wrote: each is answered as it says, but for those named here.

The cases are beside the project, in `../shared/corpus/late`, and are read there. Where they are not
there these tests are skipped; on a build server (`CI` is set) that is a failure instead.
"""

import json
import os
from typing import Any, Final

import pytest

from critic import Proposal, verify_proposal
from harness.wire import InvalidInput, parse
from tests.support.paths import ROOT

CASES: Final = ROOT.parent / "shared" / "corpus" / "late" / "cases.jsonl"
OTHERWISE: Final = {
    "a call that is given no recipient and no object asks": {"L086", "L087", "L088", "L089"},
    "an element of a list is no field by itself": {"L098", "L121"},
}
"""Cases that later rules answer in another way, by the rule."""


def cases() -> list[dict[str, Any]]:
    """Return the cases."""
    if not CASES.is_file():
        told = f"the cases of late plans are not here: {CASES} is missing"
        if os.environ.get("CI"):
            pytest.fail(told)
        pytest.skip(told)
    return list(map(json.loads, CASES.read_text("utf-8").splitlines()))


def answer(document: str) -> dict[str, Any]:
    """Return what is said of a case, in its words."""
    try:
        verdict = verify_proposal(parse(Proposal, document.encode()))
    except InvalidInput:
        return {"invalid": True}
    if verdict.ok:
        found = [f"{one.kind}@{one.step}" for one in verdict.conditions or ()]
        return {"ok": True, "conditions": found}
    said = {"ok": False, "kind": verdict.kind, "violations": len(verdict.violations)}
    step = {} if verdict.offending_step is None else {"offending_step": verdict.offending_step}
    return {**said, **step, "approvable": verdict.approvable}


def test_every_case_is_answered_as_it_says() -> None:
    others = {name for names in OTHERWISE.values() for name in names}
    wrong = set[str]()
    for case in cases():
        said = answer(case["input"])
        if any(said.get(name) != value for name, value in case["expect"].items()):
            wrong.add(case["id"])
    assert wrong == others
