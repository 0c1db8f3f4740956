"""Ask an MCP server what it has, with the client of the SDK. Tested with mcp 2.3.0."""

import asyncio
import os
import shlex
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from evals.escaping import escape_line
from harness.errors import HarnessError, UsageError
from harness.failures import describe_error

_WAIT_S = 60
_MOST_PAGES = 100


class McpListing(NamedTuple):
    """The description that a server gives: its name, its tools as they are on the wire, and more.

    Attributes:
        offers: which of resources and prompts it has.
    """

    name: str
    tools: list[dict[str, Any]]
    offers: tuple[str, ...]


def list_server(server: str) -> McpListing:
    """Return what a server has: of a command line, which is started, or of a URL.

    Raises:
        UsageError: it cannot be asked.
    """
    try:
        import mcp  # noqa: F401, PLC0415 - an extra of its own
    except ImportError:
        raise UsageError("this needs more libraries: pip install 'plan-critic[mcp]'") from None
    try:
        return asyncio.run(_list_server(server))
    except HarnessError:
        raise
    except Exception as error:
        what = f"cannot list the tools of the server: {_first_failure(error)}"
        raise UsageError(f"{what}: check its command or URL") from None


async def _list_server(server: str) -> McpListing:
    from mcp import Client  # noqa: PLC0415

    async with asyncio.timeout(_WAIT_S), Client(_target(server)) as client:
        tools = [_wire(tool) for tool in await _pages(client.list_tools, "tools")]
        info, offers = client.server_info, []
        capabilities = client.server_capabilities
        if capabilities.resources is not None and await _has_resources(client):
            offers.append("resources")
        if capabilities.prompts is not None and await _pages(client.list_prompts, "prompts"):
            offers.append("prompts")
        return McpListing("mcp" if info is None else info.name, tools, tuple(offers))


def _target(server: str) -> Any:
    from mcp import StdioServerParameters  # noqa: PLC0415

    if server.startswith(("http://", "https://")):
        return server
    program, *args = _split_command(server)
    return StdioServerParameters(command=program, args=args, env=dict(os.environ))


async def _has_resources(client: Any) -> bool:
    if await _pages(client.list_resources, "resources"):
        return True
    return bool(await _pages(client.list_resource_templates, "resource_templates"))


async def _pages(list_page: Callable[..., Awaitable[Any]], member: str) -> list[Any]:
    """Return the entries of all pages of a list."""
    entries: list[Any] = []
    cursor: str | None = None
    for _ in range(_MOST_PAGES):
        page = await list_page(cursor=cursor)
        entries += getattr(page, member)
        cursor = page.next_cursor
        if cursor is None:
            return entries
    raise UsageError(f"the server lists more than {_MOST_PAGES} pages")


def _split_command(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"not a command line: {error}") from None
    if not words:
        raise UsageError("name the command of the server, or its URL")
    return words


def _wire(model: Any) -> dict[str, Any]:
    wire: dict[str, Any] = model.model_dump(mode="json", by_alias=True, exclude_none=True)
    return wire


def _first_failure(error: BaseException) -> str:
    """Return what failed first, on one line: task groups wrap it."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, OSError) and error.strerror:
        return escape_line(error.strerror)
    return describe_error(error) if isinstance(error, Exception) else type(error).__name__
