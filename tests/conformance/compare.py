"""Compare the answer of a program with the expected one. Pure."""

from typing import Any, NamedTuple

from critic import Refused
from harness.canonical import canonical_json
from harness.cases import Case, CaseError, Command, Expectation, difference
from harness.wire import InvalidInput, build, parse_json

Json = dict[str, Any]

_MARK = ("check", "kind", "offending_step")
_BESIDE = {"file", "line", "errors"}
"""Members that a program may add to an answer. They are not compared."""


class Level(NamedTuple):
    """How much of an answer is compared."""

    strict: bool = False
    """The path of an error as well."""
    verdicts_only: bool = False
    """What decides, not what explains."""


def problem(case: Case, line: bytes, level: Level) -> str:
    """Return why the line is not a right answer to the case, ready to print, or an empty text."""
    if case.expect is None:
        return "the case expects nothing: renew the fixtures"
    try:
        answer = parse_json(line)
    except InvalidInput as error:
        return f"the answer is not JSON: {error.message}"
    if not isinstance(answer, dict):
        return "the answer is not a JSON object"
    beside = _BESIDE if case.command == "consolidate" else {*_BESIDE, "trace_id"}
    answer = {name: value for name, value in answer.items() if name not in beside}
    if "error" in answer:
        return _fault_of_error(case.expect, answer, level)
    if case.expect.error is not None:
        return f"an error is expected ({case.expect.error.message}), but it is judged"
    return _fault_of_verdict(case, answer, level)


def _fault_of_error(expected: Expectation, answer: Json, level: Level) -> str:
    said = answer["error"]
    if len(answer) > 1 or not isinstance(said, dict):
        return 'an error must be {"error": {"path": ..., "message": ...}}'
    if not all(isinstance(said.get(name), str) for name in ("path", "message")):
        return "an error needs path and message, both strings"
    if expected.error is None:
        return f"a verdict is expected, but it is called invalid: {said['message'][:200]}"
    if level.strict and said["path"] != expected.error.path:
        return f"the error must be at {expected.error.path!r}, is at {said['path'][:200]!r}"
    return ""


def _fault_of_verdict(case: Case, answer: Json, level: Level) -> str:
    expected = case.expect.verdict if case.expect is not None else None
    if level.verdicts_only:
        expected = decisive(case.command, expected or {})
        try:
            answer = decisive(case.command, answer)
        except (KeyError, TypeError, AttributeError) as error:
            return f"the answer is not of the shape of a verdict: {type(error).__name__}: {error}"
    try:
        canonical_json(answer)
    except (ValueError, TypeError):  # TypeError: an integer of more than 64 bits
        return "the answer has no canonical form: a number in it is out of range"
    return difference(Expectation(verdict=expected), _found(_as_recorded(case.command, answer)))


def _as_recorded(command: Command, answer: Json) -> Json:
    """Return a refusal without what it tells a model, which an implementation may add."""
    violations = answer.get("violations") if command == "verify" else None
    if not isinstance(violations, list) or not any(
        isinstance(one, dict) and "say" in one for one in violations
    ):
        return answer
    try:
        return build(Refused, answer).bare.wire()
    except InvalidInput:
        return answer


def _found(answer: Json) -> Expectation:
    """Return the answer in the form of a case; an answer with null, which is wrong, as it is."""
    try:
        return Expectation(verdict=answer)
    except ValueError as error:
        return Expectation(error=CaseError(path="", message=f"no verdict: {str(error)[:200]}"))


def decisive(command: Command, verdict: Json) -> Json:
    """Return the parts of a verdict that decide.

    Raises:
        KeyError, TypeError, AttributeError: it is not of the shape of a verdict.
    """
    if command == "consolidate":
        return {"status": verdict["status"], **_present(verdict, ("refused_at",))}
    if command == "score":
        scores = verdict["scorecard"]["scores"].items()
        kept = {name: {"status": one["status"], "score": one["score"]} for name, one in scores}
        return {"ok": verdict["ok"], "scorecard": {"scores": kept}}
    if verdict["ok"] is True:
        return {"ok": True}
    violations = [_present(one, _MARK) for one in verdict["violations"]]
    return {"ok": verdict["ok"], **_present(verdict, _MARK[1:]), "violations": violations}


def _present(value: Json, names: tuple[str, ...]) -> Json:
    return {name: value[name] for name in names if name in value}
