"""Answers, and why there is none, as printable ASCII: no text of a plan can control a terminal.

Rule 1: a failure is never an allow. Where a protocol has a field for the decision, it says no.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from starlette.responses import Response

from evals.envelope import Envelope
from harness.canonical import ascii_json
from harness.errors import HarnessError
from harness.failures import describe_error
from harness.log import LogError
from harness.serve.log_faults import log_fault
from harness.wire import InvalidInput
from harness.wire_faults import Problem

_JSON: Final = "application/json"


def json_answer(
    value: Any, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """Return a JSON value as an answer."""
    return Response(ascii_json(value), status, headers, _JSON)


def envelope_answer(
    envelope: Envelope, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """Return an envelope as an answer, as it is on the wire."""
    body = envelope.__pydantic_serializer__.to_json(envelope, exclude_none=True, ensure_ascii=True)
    return Response(body.replace(b"\x7f", b"\\u007f"), status, headers, _JSON)


Json = dict[str, Any]


@dataclass(frozen=True)
class RequestFault:
    """Why a request has no answer.

    Attributes:
        message: one line, safe to print.
        path: JSON pointer into the body, "" for the request as a whole.
        problems: all that is wrong with the body, the first one first.
        is_ours: the critic failed, and not the request.
        kind: of a failure of the critic, for those who count them.
    """

    status: int
    message: str
    path: str = ""
    problems: Sequence[Problem] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    is_ours: bool = False
    kind: str = "internal"


class RequestRefused(HarnessError):
    """A request cannot be answered. Nothing was decided."""

    def __init__(self, status: int, message: str, path: str = "", **more: Any) -> None:
        super().__init__(message)
        self.fault: Final = RequestFault(status, message, path, **more)


ErrorShape = Callable[[RequestFault, str], Json]
"""Words a fault of a request to a path."""


def error_shape(path: str) -> ErrorShape:
    """Return how the protocol that a path belongs to words its errors."""
    for prefix, shape in _SHAPES.items():
        if path.startswith(prefix):
            return shape
    return _own_error


def _own_error(fault: RequestFault, _path: str) -> Json:
    every = [problem._asdict() for problem in fault.problems] or [first_problem(fault)]
    return {"errors": every, **_of_ours(fault)}


def first_problem(fault: RequestFault) -> Json:
    """Return what each error response has as `error`, whatever the protocol of its path."""
    return {"path": fault.path, "message": fault.message}


def _authzen_error(fault: RequestFault, _path: str) -> Json:
    return {"decision": False, "context": {"error": item_error(fault)}, **_of_ours(fault)}


def item_error(fault: RequestFault) -> Json:
    """Return what an AuthZEN answer says of a request, or of one of many, that failed."""
    place = {"path": fault.path} if fault.path else {}
    return {"status": fault.status, "message": fault.message, **place}


def _opa_error(fault: RequestFault, path: str) -> Json:
    code = "internal_error" if fault.is_ours else "invalid_parameter"
    undecided: Any = False if path.endswith("/ok") else {"ok": False}
    problems = [{"code": code, **problem._asdict()} for problem in fault.problems]
    errors = {"errors": problems} if problems else {}
    shown = {"code": code, "message": fault.message, **errors, **_of_ours(fault)}
    return shown if path.startswith("/v1/batch") else {**shown, "result": undecided}


def _of_ours(fault: RequestFault) -> Json:
    return {"critic_error": fault.message} if fault.is_ours else {}


_SHAPES: Final[Mapping[str, ErrorShape]] = {
    "/access/": _authzen_error,
    "/v1/data/": _opa_error,
    "/v1/batch/data/": _opa_error,
}


def fault_answer(fault: RequestFault, path: str) -> Response:
    """Return why a request to `path` is not answered: `error`, then the fields of its protocol."""
    body = {"error": first_problem(fault), **error_shape(path)(fault, path)}
    return json_answer(body, fault.status, fault.headers)


def fault_of(error: Exception) -> RequestFault:
    """Return what an exception says to who asked. What is not known is a failure of the critic."""
    match error:
        case RequestRefused():
            return error.fault
        case InvalidInput():
            return RequestFault(400, error.message, error.path, error.problems)
        case LogError():
            fault = log_fault(error)
            return RequestFault(
                fault.status, fault.told, headers=fault.headers, is_ours=True, kind=fault.kind
            )
        case HarnessError():
            return RequestFault(500, str(error), is_ours=True)
        case _:
            return RequestFault(500, describe_error(error), is_ours=True)
