"""A shop's policy and tasks, to propose edits for."""

import json
from datetime import UTC, datetime
from typing import Any

from harness.what_if.proposing.recorded_tasks import RecordedTask, read_tasks

Json = dict[str, Any]

NOW = datetime(2026, 5, 9, 12, tzinfo=UTC)
POLICY = """\
# The shop.
[guard]
safety_mode = "destructive"

[spec]
id = "shop"
required_outputs = []
provenance = "closed"
approval_required_from = "destructive"

[[class]]
name = "order"
fields = { order_id = "system" }           # guessed: by name

[[tool]]
adapter_id = "shop"
capability_id = "get_order"
approval_mode = "read_only"
arg_roles = { order_id = "locator" }
result = { author = "public", format = "json" }
yields = "order"

[[tool]]
adapter_id = "shop"
capability_id = "find_mail"
approval_mode = "read_only"
result = { author = "public" }

[[tool]]
adapter_id = "shop"
capability_id = "open_page"
approval_mode = "network"
arg_roles = { url = "locator" }
result = { author = "public", web = true }

[[tool]]
name = "mail"
adapter_id = "shop"
capability_id = "send_email"
approval_mode = "network"
arg_roles = { to = "recipient", body = "content" }

[[tool]]
adapter_id = "shop"
capability_id = "pay_back"
approval_mode = "destructive"
arg_roles = { order_id = "object", eur = "attribute" }
arg_kinds = { order_id = "order" }

[[tool]]
adapter_id = "shop"
capability_id = "place_order"
approval_mode = "delegated"
arg_roles = { item = "attribute" }
"""
ORDER: Json = {"order_id": "ORD-882", "email": "ada@x.example", "note": "ring"}


def task(request: str, *turns: tuple[str, Json, Any], id: str = "t1", **opening: Any) -> list[Json]:
    """Return the events of a session with one call a turn: its tool, arguments and output."""
    events: list[Json] = [{"event": "open", "session": id, "request": request, **opening}]
    for at, (tool, args, output) in enumerate(turns):
        call = {"id": f"c{at}", "tool": tool, "args": args}
        events.append({"event": "calls", "session": id, "calls": [call]})
        result = {"event": "result", "session": id, "id": f"c{at}", "status": "completed"}
        events.append({**result, "output": output})
    return events


def lines(*tasks: list[Json]) -> str:
    return "".join(f"{json.dumps(event)}\n" for events in tasks for event in events)


def read(*tasks: list[Json]) -> list[RecordedTask]:
    return read_tasks(enumerate(lines(*tasks).encode().splitlines(), 1))


LOOKS = ("get_order", {"order_id": "ORD-882"}, ORDER)
TELLS = task(
    "Tell the buyer of ORD-882 that it is late.",
    LOOKS,
    ("mail", {"to": "ada@x.example", "body": "late"}, "sent"),
)
