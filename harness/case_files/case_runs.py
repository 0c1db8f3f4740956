"""Judge case files that name a policy instead of copying it, or that a policy is tested by.

A case whose input leaves out `compiled` and `spec` takes them from a policy: the one that it is
tested with, or the one that it names. A case that has both is judged as it is. A session always
takes the policy.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

from evals.escaping import escape_name
from harness.case_files.case_reading import InvalidCase, ReadCase, read_case_file
from harness.case_files.session_case import SessionCase, play_case
from harness.cases import Case, contradiction_text, difference, run_case
from harness.policy.envelopes import Policy
from harness.policy.partial_documents import completed_proposal, completed_run
from harness.policy.policy_reading import PolicyFault, read_policy
from harness.wire import InvalidInput, parse_json


class CaseResult(NamedTuple):
    """One case file, and whether the case holds.

    Attributes:
        problem: why it does not, of several lines; "" if it holds.
        faults: what is wrong with the file itself: then nothing was judged.
        is_contradiction: it contradicts what a person meant, and no update may hide that.
        has_own: the case brings tools and a spec of its own, so the policy did not judge it.
        stopped_at: the number of the event of a session that is stopped more than was meant.
    """

    file: Path
    title: str
    problem: str = ""
    faults: tuple[PolicyFault, ...] = ()
    has_own: bool = False
    is_contradiction: bool = True
    stopped_at: int | None = None

    def __bool__(self) -> bool:
        return not (self.problem or self.faults)


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


def judge_file(file: Path, policy: Policy) -> tuple[ReadCase | None, CaseResult]:
    """Return the case of a file, if it has one, and whether it holds under the policy.

    Without an `expect`, its `must` decides alone.

    Raises:
        OSError: the file cannot be read.
    """
    try:
        read = read_case_file(file)
    except InvalidCase as error:
        return None, CaseResult(file, "", faults=error.faults)
    return read, judge_read_case(read, policy)


def judge_read_case(read: ReadCase, policy: Policy | None) -> CaseResult:
    """Return whether a case holds under a policy, or under the one that it names."""
    try:
        if isinstance(read.case, SessionCase):
            return _judge_session(read, read.case, policy)
        return _judge_document(read, read.case, policy)
    except InvalidInput as error:
        fault = PolicyFault(read.places.line_of(error.path), error.path, error.message)
        return CaseResult(read.file, read.title, faults=(fault,))


def _judge_session(read: ReadCase, case: SessionCase, policy: Policy | None) -> CaseResult:
    if policy is None:
        if case.policy is None:
            raise InvalidInput("", 'name the policy: policy = "critic.toml"')
        policy = _named_policy(read, case.policy)
    played = play_case(policy, read.events, case.must)
    if played.mistake is not None:
        return CaseResult(read.file, read.title, faults=(read.fault(*played.mistake),))
    problem = f"{read.name_event(played.at)}, {played.problem}" if played.problem else ""
    stopped_at = played.at if played.is_stopped else None
    return CaseResult(read.file, read.title, problem, stopped_at=stopped_at)


def _named_policy(read: ReadCase, name: str) -> Policy:
    """Return the policy that a case names.

    Raises:
        InvalidInput: it cannot be read, or is not a policy.
    """
    try:
        return read_policy(read.file.parent / name)
    except InvalidInput as error:
        raise InvalidInput("/policy", f"{escape_name(name)}: {error.message}") from None
    except (OSError, ValueError):
        what = "no such file that can be read: write its path from the folder of the case"
        raise InvalidInput("/policy", f"{escape_name(name)}: {what}") from None


def _judge_document(read: ReadCase, case: Case, policy: Policy | None) -> CaseResult:
    if policy is None and case.policy is not None:
        policy = _named_policy(read, case.policy)
    try:
        document = case_document(case, read.file, policy)
    except InvalidInput as error:
        raise InvalidInput(f"/input{error.path}", error.message) from None
    outcome = run_case(case, document)
    against = contradiction_text(case, outcome)
    wrong = against
    if not wrong and (case.expect is not None or case.must is None):
        wrong = difference(case.expect, outcome)
    is_own = has_own_policy(case)
    return CaseResult(read.file, read.title, wrong, (), is_own, bool(against))


def has_own_policy(case: Case) -> bool:
    """Return whether a case says itself what a policy would say, or needs none of it."""
    return _has_own(case, _parse_document(case.document()))


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
