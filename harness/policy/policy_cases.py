"""Case files that name a policy instead of copying it.

A case whose input leaves out `compiled` and `spec` takes them from a policy: the one that it is
tested with, or the one that it names. A case that has both is judged as it is.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from harness.cases import Case, contradiction, difference, read_case, run_case
from harness.policy.envelopes import Policy
from harness.policy.partial_documents import completed_proposal, completed_run
from harness.policy.policy_reading import read_policy
from harness.wire import InvalidInput, parse_json


class CaseResult(NamedTuple):
    """One case file, and whether the case holds.

    Attributes:
        problem: why it does not, of several lines; "" if it holds.
        invalid: the file is not a case, or its policy is not one.
        has_own: the case brings tools and a spec of its own, so the policy did not judge it.
    """

    file: Path
    title: str
    problem: str = ""
    invalid: bool = False
    has_own: bool = False


def case_document(case: Case, file: Path, policy: Policy | None = None) -> bytes:
    """Return the bytes that the command of a case reads, completed by its policy.

    Args:
        file: the case file; the policy that the case names is looked for from its folder.
        policy: the policy to take instead of the one that the case names.

    Raises:
        InvalidInput: the case names a policy that is not one, or says in part what it says.
        OSError: the policy that the case names cannot be read.
    """
    document = case.document()
    if policy is None:
        if case.policy is None:
            return document
        policy = read_policy(file.parent / case.policy)
    value = _parse_document(document)
    if case.command == "consolidate" or value is None or _has_own(case, value):
        return document
    complete = completed_run if case.command == "score" else completed_proposal
    return json.dumps(complete(policy, value)).encode()


def run_cases(policy: Policy, files: Iterable[Path]) -> Iterable[CaseResult]:
    """Yield whether each case holds under the policy. Without an `expect`, `must` decides alone."""
    for file in files:
        try:
            case = read_case(file)
        except InvalidInput as error:
            yield CaseResult(file, "", f"not a case file: {error}", invalid=True)
            continue
        try:
            outcome = run_case(case, case_document(case, file, policy))
        except InvalidInput as error:
            yield CaseResult(file, case.title, f"invalid input: {error}", invalid=True)
            continue
        wrong = contradiction(case, outcome) or ""
        if not wrong and (case.expect is not None or case.must is None):
            wrong = difference(case.expect, outcome)
        has_own = _has_own(case, _parse_document(case.document()))
        yield CaseResult(file, case.title, wrong, has_own=has_own)


def _parse_document(document: bytes) -> Any:
    """Return the value of a document, or None: what is not JSON is for the command to refuse."""
    try:
        return parse_json(document)
    except InvalidInput:
        return None


def _has_own(case: Case, value: Any) -> bool:
    """Return whether a case says itself what a policy would say, or needs none of it."""
    if case.command == "score" and isinstance(value, dict):
        value = value.get("proposal")
    if case.command == "consolidate" or not isinstance(value, dict):
        return True
    compiled = value.get("compiled")
    manifests = compiled.get("manifests") if isinstance(compiled, dict) else None
    return "spec" in value and isinstance(manifests, dict) and "tool_manifest" in manifests
