"""`/openapi.json`: the endpoints, for programs and people who have never seen them."""

from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from harness.serve.answering import json_answer
from harness.serve.openapi import openapi_document


class OpenApiEndpoint:
    """The document, which is made once."""

    def __init__(self) -> None:
        """Make it."""
        self._document: Final = json_answer(openapi_document()).body

    async def show(self, _request: Request) -> Response:
        """Answer with it."""
        return Response(bytes(self._document), media_type="application/json")
