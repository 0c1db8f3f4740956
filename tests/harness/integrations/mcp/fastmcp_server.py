"""The same shop written with FastMCP: run it with the file in which its tools note their calls."""

import sys
from pathlib import Path

from fastmcp import FastMCP

app = FastMCP("shop")


def note(name: str) -> None:
    with Path(sys.argv[1]).open("a", encoding="utf-8") as file:
        file.write(f"{name}\n")


@app.tool
def lookup(order_id: str) -> dict[str, str]:
    """Look an order up."""
    note("lookup")
    return {"order": order_id, "status": "paid"}


@app.tool
def issue_refund(order_id: str, cents: int) -> str:
    """Refund an order."""
    note("issue_refund")
    return f"refunded {cents} of {order_id}"


@app.tool
def mystery(x: int = 1) -> int:
    """Do what nobody knows."""
    note("mystery")
    return x


if __name__ == "__main__":
    app.run(show_banner=False)
