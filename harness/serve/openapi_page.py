"""`/openapi.json`: the endpoints, for programs and people who have never seen them."""

from functools import cache

from starlette.requests import Request
from starlette.responses import Response

from harness.serve.answering import json_answer
from harness.serve.openapi import openapi_document


class OpenApiEndpoint:
    """The document, which is the same for all services of a process."""

    def __init__(self) -> None:
        """Make it before the first request, unless another service did."""
        _document()

    async def show(self, _request: Request) -> Response:
        """Answer with it."""
        return Response(_document(), media_type="application/json")


@cache
def _document() -> bytes:
    return bytes(json_answer(openapi_document()).body)
