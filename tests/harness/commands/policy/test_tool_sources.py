"""The sources of tools for `critic init`: what each of several is the source of, all have."""

import pytest

from harness.commands.policy import tool_sources
from harness.commands.policy.tool_sources import ToolSource, read_sources
from harness.errors import UsageError
from harness.integrations.mcp.mcp_listing import McpListing
from harness.integrations.mcp.mcp_pins import pin_of

TOOLS = {name: {"name": name, "inputSchema": {"type": "object"}} for name in ("a", "b", "c")}
SERVERS = {"one": ["a", "b"], "two": ["c"], "same": ["b"]}


@pytest.fixture(autouse=True)
def _servers(monkeypatch: pytest.MonkeyPatch) -> None:
    def list_server(server: str) -> McpListing:
        return McpListing("shop", [TOOLS[name] for name in SERVERS[server]], ())

    monkeypatch.setattr(tool_sources, "list_server", list_server)


def test_the_tools_of_each_server_are_pinned_under_an_adapter_of_its_own() -> None:
    found = read_sources([ToolSource("mcp", "one"), ToolSource("mcp", "two")])
    pairs = [(draft.adapter_id, draft.capability_id) for draft in found.drafts]
    assert pairs == [("shop", "a"), ("shop", "b"), ("shop_2", "c")]
    assert found.names == ["shop", "shop_2"]
    assert found.pins == {name: pin_of(tool) for name, tool in TOOLS.items()}


def test_a_tool_of_two_servers_is_of_neither() -> None:
    with pytest.raises(UsageError, match="called b, one and same: rename one"):
        read_sources([ToolSource("mcp", name) for name in ("one", "two", "same")])
