"""Answers as JSON that is printable ASCII, so that no text of a plan can control a terminal."""

import json
from collections.abc import Mapping
from typing import Any, Final

from starlette.responses import Response

from evals.envelope import Envelope
from harness.errors import HarnessError
from harness.failures import describe_error
from harness.serve.refusing import RequestFault, RequestRefused, error_shape
from harness.wire import InvalidInput

_JSON: Final = "application/json"
_COMPACT: Final = json.JSONEncoder(separators=(",", ":"))


def json_answer(
    value: Any, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """Return a JSON value as an answer."""
    # JSON leaves DEL as it is.
    body = _COMPACT.encode(value).replace("\x7f", "\\u007f")
    return Response(body, status, headers, _JSON)


def envelope_answer(envelope: Envelope, status: int = 200) -> Response:
    """Return an envelope as an answer, as it is on the wire."""
    body = envelope.__pydantic_serializer__.to_json(envelope, exclude_none=True, ensure_ascii=True)
    return Response(body.replace(b"\x7f", b"\\u007f"), status, media_type=_JSON)


def fault_answer(fault: RequestFault, path: str) -> Response:
    """Return why a request to `path` is not answered, in the words of its protocol."""
    return json_answer(error_shape(path)(fault, path), fault.status, fault.headers)


def fault_of(error: Exception) -> RequestFault:
    """Return what an exception says to who asked. What is not known is a failure of the critic."""
    match error:
        case RequestRefused():
            return error.fault
        case InvalidInput():
            return RequestFault(400, error.message, error.path, error.problems)
        case HarnessError():
            return RequestFault(500, str(error), is_ours=True)
        case _:
            return RequestFault(500, describe_error(error), is_ours=True)
