"""Case files: one input to the Critic and the expected outcome. One format for every kind of test.

Rule 1: `expect` is what the engine answered and may be updated; `must` is what a person meant, and
        an update never touches it. A verdict that contradicts `must` is an error, not an update.
Rule 2: the input is JSON (`input`) wherever JSON can carry it, text (`input_text`) where the
        spelling matters, base64 (`input_base64`) where it is not UTF-8.
Rule 3: a case has one byte form. Reading a file and rendering it again gives the same bytes.
"""

import base64
import binascii
import difflib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

from pydantic import Field, model_validator

from critic import (
    Approval,
    Opening,
    Proposal,
    RefusalKind,
    ReportStatus,
    Run,
    ScoreVerdict,
    VerifyVerdict,
    consolidate,
    context_digest,
    digest,
    score,
    verify_proposal,
)
from critic.reports import Phase, outcome
from evals.envelope import ARRAY, OPTIONAL, Count, Envelope, Identifier, OnlyTrue
from evals.json_value import JsonObject
from evals.kinds import EvaluatorId
from evals.timestamps import Time
from evals.verdict import Status
from harness.canonical import canonical_json
from harness.errors import HarnessError
from harness.expected_rulings import (
    ExpectedReasons,
    JudgedRuling,
    expectation_error,
    judged_ruling,
)
from harness.whole_files import replace_file
from harness.wire import InvalidInput, build, parse, parse_json

Command = Literal["verify", "score", "consolidate"]
"""The functions that a case can be about."""

MISFIT: Final = "must does not fit the command"
"""What is wrong with a `must` of the words of another command, or of words that exclude another."""

# Everything that is not ASCII is escaped, so that look-alikes and invisible characters show. The
# em dash is left as it is: the published rationale contains it.
_COLUMNS: Final = 99
_HIDDEN: Final = re.compile("[^\n\x20-\x7e—]")


class ConsolidateInput(Envelope):
    """The arguments of `consolidate` as one value."""

    trace_id: Identifier
    decision_key: Identifier
    verify: VerifyVerdict
    score: Annotated[ScoreVerdict | None, OPTIONAL] = None
    opening: Annotated[Opening | None, OPTIONAL] = None
    decided_at: Time

    @model_validator(mode="after")
    def _representable(self) -> Self:
        if self.opening is not None and self.opening.verdict.ok:
            raise expectation_error("an opening that passed refuses nothing: leave it out")
        outcome(self.trace_id, self.verify, self.score, opened=self.opening is None)
        return self


class Must(ExpectedReasons):
    """The outcome that a person meant, in the words of the command. `invalid` is used alone.

    verify: `ok`, and for a refusal its `kind` and `offending_step` (absent: it names no step). Or
    `asks`: an approval would clear it; or `refuses`: none would. With any of them, or alone,
    `because` names one violation, and `violations` all of them.
    score: `ok`, and the status of the `evaluators` that are named.
    consolidate: `status` and `refused_at` (absent: nothing was refused).
    """

    invalid: Annotated[Literal[True] | None, OPTIONAL] = None
    ok: Annotated[bool | None, OPTIONAL] = None
    kind: Annotated[RefusalKind | None, OPTIONAL] = None
    offending_step: Annotated[Count | None, OPTIONAL] = None
    evaluators: Annotated[dict[EvaluatorId, Status] | None, OPTIONAL] = None
    status: Annotated[ReportStatus | None, OPTIONAL] = None
    refused_at: Annotated[Phase | None, OPTIONAL] = None


_REASONS: Final = frozenset({"because", "violations"})
_OF_RULINGS: Final = _REASONS | {"asks", "refuses"}
_PINNED: Final[dict[Command, tuple[frozenset[str], ...]]] = {
    "verify": (
        frozenset({"ok"}),
        frozenset({"ok", "kind"}),
        frozenset({"ok", "kind", "offending_step"}),
        frozenset({"asks"}),
        frozenset({"refuses"}),
    ),
    "score": (frozenset({"ok"}), frozenset({"ok", "evaluators"})),
    "consolidate": (frozenset({"status"}), frozenset({"status", "refused_at"})),
}
"""The combinations of fields allowed in the `must` of each command, besides `invalid` alone, and
without the reasons, which only a refusal of `verify` has."""


class CaseError(Envelope):
    """The path and message of an InvalidInput."""

    path: str
    message: str


class Expectation(Envelope):
    """The verdict in wire form, or the error of an invalid input. Exactly one of them."""

    verdict: Annotated[JsonObject | None, OPTIONAL] = None
    error: Annotated[CaseError | None, OPTIONAL] = None

    @model_validator(mode="after")
    def _require_one(self) -> Self:
        if (self.verdict is None) == (self.error is None):
            raise expectation_error("exactly one of verdict and error is expected")
        return self


class _Judged(Envelope):
    """The verdict of `verify`, read again."""

    verdict: VerifyVerdict


class Case(Envelope):
    """One case, with exactly one of the three inputs. `expect` is absent until the first update.

    `policy` is the path of a policy file from the folder of the case file: the input leaves out
    what that policy says. `harness.case_files` reads it.

    `approved` says that a person approved the plan: all of it, or these steps. The digests are
    worked out.
    """

    title: str = ""
    command: Command
    policy: Annotated[str | None, OPTIONAL] = None
    approved: Annotated[
        OnlyTrue | Annotated[tuple[Count, ...], ARRAY, Field(min_length=1)] | None, OPTIONAL
    ] = None
    input: Any = None
    input_text: Annotated[str | None, OPTIONAL] = None
    input_base64: Annotated[str | None, OPTIONAL] = None
    must: Annotated[Must | None, OPTIONAL] = None
    expect: Annotated[Expectation | None, OPTIONAL] = None

    @model_validator(mode="after")
    def _well_formed(self) -> Self:
        inputs = (self.input, self.input_text, self.input_base64)
        if sum(value is not None for value in inputs) != 1:
            raise expectation_error(
                "exactly one of input, input_text and input_base64 holds the input"
            )
        if self.must is not None and not _fits(self.must, self.command):
            raise expectation_error(MISFIT)
        if self.approved is not None and self.command == "consolidate":
            raise expectation_error("approved is for verify and score: leave it out")
        try:
            self.document()
        except (ValueError, binascii.Error):
            raise expectation_error(
                "the input has no bytes: use input_text or input_base64"
            ) from None
        return self

    def document(self) -> bytes:
        """Return the bytes that the command reads."""
        if self.input_text is not None:
            return self.input_text.encode()
        if self.input_base64 is not None:
            return base64.b64decode(self.input_base64, validate=True)
        return json.dumps(self.input, ensure_ascii=False, allow_nan=False).encode()


class Contradiction(HarnessError, ValueError):
    """The outcome of a case contradicts its `must`. An update would hide that."""


def _fits(must: Must, command: Command) -> bool:
    if must.invalid:
        return must.model_fields_set == {"invalid"}
    fields, reasons = must.model_fields_set - _REASONS, must.model_fields_set & _REASONS
    if reasons and (command != "verify" or must.ok):
        return False
    if reasons and fields <= {"ok"}:
        return True
    if command == "verify" and ("kind" in fields) is not (must.ok is False):
        return False
    return fields in _PINNED[command]


def parse_case(data: bytes) -> Case:
    """Parse the bytes of a case file.

    Raises:
        InvalidInput: they are not a case.
    """
    return build(Case, parse_json(data))


def read_case(path: Path) -> Case:
    """Read a case from a file.

    Raises:
        InvalidInput: the file does not contain a case.
        OSError: the file cannot be read.
    """
    return parse_case(path.read_bytes())


def case_files(root: Path) -> list[Path]:
    """List the case files under a directory by name; `root` itself if it is a file."""
    return [root] if root.is_file() else sorted(root.rglob("*.json"))


def _verify(document: bytes) -> Envelope:
    proposal = parse(Proposal, document)
    return verify_proposal(proposal)


def _score_document(document: bytes) -> Envelope:
    return score(parse(Run, document))


def _consolidate(document: bytes) -> Envelope:
    given = parse(ConsolidateInput, document)
    return consolidate(
        trace_id=given.trace_id,
        decision_key=given.decision_key,
        verify=given.verify,
        score=given.score,
        opening=given.opening,
        decided_at=given.decided_at,
    )


_COMMANDS: Final[dict[Command, Callable[[bytes], Envelope]]] = {
    "verify": _verify,
    "score": _score_document,
    "consolidate": _consolidate,
}


def judge_case(command: Command, document: bytes) -> Expectation:
    """Judge a document: bytes in, verdict or error out."""
    try:
        return Expectation(verdict=_COMMANDS[command](document).wire())
    except InvalidInput as error:
        return Expectation(error=CaseError(path=error.path, message=error.message))


def run_case(case: Case, document: bytes | None = None) -> Expectation:
    """Judge the input of a case, or that document, without looking at `expect` or `must`."""
    given = case.document() if document is None else document
    return judge_case(case.command, _with_approval(case, given))


def _with_approval(case: Case, document: bytes) -> bytes:
    """Return a document with the approval that the case says; as it is where it is invalid.

    Raises:
        InvalidInput: the plan does not have a step that is approved.
    """
    if case.approved is None:
        return document
    try:
        value = parse_json(document)
        proposal = value["proposal"] if case.command == "score" else value
        judged = build(Proposal, proposal)
    except (InvalidInput, TypeError, KeyError):
        return document
    given = _approve_plan(judged, None if case.approved is True else case.approved)
    known = judged.ctx.wire().get("approvals", [])
    approved = {**proposal, "ctx": {**proposal["ctx"], "approvals": [*known, given.wire()]}}
    complete = {**value, "proposal": approved} if case.command == "score" else approved
    return json.dumps(complete).encode()


def _approve_plan(proposal: Proposal, steps: tuple[int, ...] | None) -> Approval:
    """Return the approval of a plan, or of some of its steps, in its very context."""
    context = context_digest(proposal.ctx, proposal.compiled, proposal.spec)
    whole = Approval(
        approval_id="case",
        plan_digest=digest(proposal.plan),
        approver="case",
        context_digest=context,
    )
    if steps is None:
        return whole
    many = len(proposal.plan.steps)
    if wrong := [step for step in steps if step >= many]:
        has = f"the plan has {many} {'step' if many == 1 else 'steps'}"
        raise InvalidInput("/approved", f"{has}, and no step {wrong[0]}: they count from 0")
    return whole.model_copy(update={"steps": steps})


def _summary(command: Command, outcome: Expectation) -> dict[str, Any]:
    """Return the outcome in the words of `must`."""
    verdict = outcome.verdict
    if verdict is None:
        return {"invalid": True}
    if command == "score":
        scores = verdict["scorecard"]["scores"]
        statuses = {name: judged["status"] for name, judged in scores.items()}
        return {"ok": verdict["ok"], "evaluators": statuses}
    names = ("ok", "kind", "offending_step") if command == "verify" else ("status", "refused_at")
    return {name: verdict[name] for name in names if name in verdict}


def contradiction(case: Case, outcome: Expectation) -> str | None:
    """Return in one line how an outcome contradicts the case's `must`; None if it does not."""
    if case.must is None:
        return None
    expected, actual = case.must.wire(), _summary(case.command, outcome)
    statuses = actual.pop("evaluators", {})
    if "evaluators" in expected:
        actual["evaluators"] = {name: statuses.get(name) for name in expected["evaluators"]}
    stated = {name: value for name, value in expected.items() if name not in _OF_RULINGS}
    ruling = ruling_of(case, outcome)
    if stated == expected:
        holds = expected == actual
    else:
        holds = ruling is not None and case.must.fits(ruling)
        holds = holds and stated.items() <= actual.items()
        told = {name: value for name, value in actual.items() if name in {*stated, "invalid"}}
        actual = {**({} if ruling is None else {"action": ruling.action}), **told}
    return None if holds else f"must be {json.dumps(expected)}, is {json.dumps(actual)}"


def ruling_of(case: Case, outcome: Expectation) -> JudgedRuling | None:
    """Return what the verdict on a plan comes to, and why; None if the outcome is another."""
    if case.command != "verify" or outcome.verdict is None:
        return None
    return judged_ruling(build(_Judged, {"verdict": outcome.verdict}).verdict)


def difference(expected: Expectation | None, outcome: Expectation) -> str:
    """Return a readable diff from the expected to the actual outcome; empty if they are equal.

    Equal means equal canonical JSON: 1 and 1.0 do not differ.
    """
    before = {} if expected is None else expected.wire()
    if canonical_json(before) == canonical_json(outcome.wire()):
        return ""
    old, new = _spell_json(before).splitlines(), _spell_json(outcome.wire()).splitlines()
    lines = difflib.unified_diff(old, new, fromfile="expected", tofile="found", lineterm="")
    return "\n".join(lines)


def problem(case: Case, document: bytes | None = None) -> str | None:
    """Return why the case fails on its input or that document, ready to print; None if it holds."""
    outcome = run_case(case, document)
    return contradiction_text(case, outcome) or difference(case.expect, outcome) or None


def contradiction_text(case: Case, outcome: Expectation) -> str:
    """Return how an outcome contradicts the case's `must`, then the ruling; "" if it does not."""
    wrong = contradiction(case, outcome)
    if wrong is None:
        return ""
    ruling = ruling_of(case, outcome)
    if ruling is None:
        error = outcome.error
        return wrong if error is None else f"{wrong}\n  {error.path or '/'}: {error.message}"
    return "\n".join([wrong, *(f"  {one.text}" for one in ruling.violations)])


def renewed(case: Case, document: bytes | None = None) -> Case:
    """Return the case with the outcome of this engine as its `expect`.

    Raises:
        Contradiction: that outcome contradicts `must`.
    """
    outcome = run_case(case, document)
    if error := contradiction(case, outcome):
        raise Contradiction(error)
    return case.model_copy(update={"expect": outcome})


def render_case(case: Case) -> bytes:
    """Render a case in its one byte form: fields in order, what fits on a line on one line."""
    parts = {name: getattr(case, name) for name in type(case).model_fields}
    present = {name: part for name, part in parts.items() if part is not None}
    wire = {
        name: part.wire() if isinstance(part, Envelope) else part for name, part in present.items()
    }
    return f"{_hidden_escaped(folded_json(wire))}\n".encode()


def _spell_json(value: Any) -> str:
    """Return JSON with a line for each value, so that a difference shows the values that differ."""
    return _hidden_escaped(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))


def _hidden_escaped(text: str) -> str:
    return _HIDDEN.sub(lambda match: json.dumps(match[0])[1:-1], text)


def folded_json(value: Any, indent: int = 0, lead: int = 0) -> str:
    """Return JSON for a person to read: what fits into 100 columns is on one line."""
    flat = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if not (isinstance(value, dict | list) and value and indent + lead + len(flat) > _COLUMNS):
        return flat
    pad, inner = " " * indent, " " * (indent + 2)
    if isinstance(value, list):
        rows = [folded_json(one, indent + 2) for one in value]
        return "[\n" + ",\n".join(inner + row for row in rows) + f"\n{pad}]"
    names = {name: json.dumps(name, ensure_ascii=False) + ": " for name in value}
    rows = [
        names[name] + folded_json(one, indent + 2, len(names[name])) for name, one in value.items()
    ]
    return "{\n" + ",\n".join(inner + row for row in rows) + f"\n{pad}}}"


def update_file(path: Path, document_of: Callable[[Case], bytes] = Case.document) -> bool:
    """Update a case file in place, and return True if that changed it.

    Args:
        document_of: what the command reads; the input of the case, unless given.

    Raises:
        Contradiction: today's outcome is not what the case's `must` says; the file is as it was.
        InvalidInput: the file does not contain a case.
    """
    before = path.read_bytes()
    case = parse_case(before)
    after = render_case(renewed(case, document_of(case)))
    if after == before:
        return False
    replace_file(path.resolve(), after, synced=False)
    return True
