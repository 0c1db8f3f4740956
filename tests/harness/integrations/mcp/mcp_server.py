"""A real MCP server of a shop: run it with the file in which its tools note that they ran.

A second argument is the description that `lookup` has. `http` as a third serves HTTP, and prints
the port.
"""

import sys
from pathlib import Path
from typing import Annotated, Any

from mcp.server import MCPServer
from mcp.server.mcpserver.resolve import Elicit, Resolve
from mcp_types import ToolAnnotations
from pydantic import BaseModel

DESCRIPTION = "Look an order up."
noted = Path(sys.argv[1]) if len(sys.argv) > 1 else None
app = MCPServer("shop")


def note(name: str) -> None:
    if noted is not None:
        with noted.open("a", encoding="utf-8") as file:
            file.write(f"{name}\n")


def lookup(order_id: str) -> dict[str, str]:
    note("lookup")
    return {"order": order_id, "status": "paid"}


def issue_refund(order_id: str, cents: int) -> str:
    note("issue_refund")
    return f"refunded {cents} of {order_id}"


def mystery(x: int = 1) -> int:
    note("mystery")
    return x


def slow(seconds: float) -> str:
    import time  # noqa: PLC0415 - of this tool only

    note("slow")
    time.sleep(seconds)
    return "late"


def broken() -> str:
    note("broken")
    raise RuntimeError("a secret of the server")


class Wish(BaseModel):
    wish: str


def ask_wish(order_id: str) -> Elicit[Wish]:
    return Elicit(f"What goes with {order_id}?", Wish)


def gift(order_id: str, wish: Annotated[Wish, Resolve(ask_wish)]) -> str:
    note("gift")
    return f"{wish.wish} goes with {order_id}"


reads = ToolAnnotations(read_only_hint=True, open_world_hint=False)
said: Any = sys.argv[2] if len(sys.argv) > 2 else DESCRIPTION
app.add_tool(lookup, description=said, annotations=reads)
app.add_tool(issue_refund, annotations=ToolAnnotations(destructive_hint=True))
for tool in (mystery, slow, broken, gift):
    app.add_tool(tool)

if __name__ == "__main__":
    if len(sys.argv) > 3:
        app.run("streamable-http", host="127.0.0.1", port=int(sys.argv[3]))
    else:
        app.run()
