"""A little shop: a policy with every kind of stop, and a guard to run into them."""

import json
import tomllib
from datetime import UTC, datetime
from typing import Any

from harness.guard import Guard, Ruling
from harness.policy import Policy
from harness.wire import build

Json = dict[str, Any]
NOON = datetime(2026, 5, 9, 12, tzinfo=UTC)
SHOP = """
[guard]
safety_mode = "destructive"

[spec]
id = "shop"
provenance = "closed"
required_outputs = []
approval_required_from = "destructive"

[[class]]
name = "order"
fields = { payment_id = "system", amount = "system", email = "party" }

[[class]]
name = "window"
fields = { payment_id = "system" }
fresh_s = 300

[[tool]]
adapter_id = "shop"
capability_id = "get_order"
approval_mode = "read_only"
yields = "order"
arg_roles = { order_id = "locator" }
result = { author = "system", format = "json" }

[[tool]]
adapter_id = "shop"
capability_id = "check_window"
approval_mode = "read_only"
yields = "window"
arg_roles = { payment_id = "locator" }
result = { author = "system", format = "json" }

[[tool]]
adapter_id = "shop"
capability_id = "web_search"
approval_mode = "read_only"
result = { author = "public", web = true }

[[tool]]
adapter_id = "shop"
capability_id = "read_note"
approval_mode = "read_only"
arg_roles = { name = "locator" }
result = { author = "public" }

[[tool]]
adapter_id = "shop"
capability_id = "refund"
approval_mode = "destructive"
arg_roles = { payment_id = "object", amount = "attribute", reason = "content" }
summary = "Pay back {amount} EUR on {payment_id}"
args_schema.type = "object"
args_schema.required = ["payment_id", "amount"]
args_schema.additionalProperties = false
args_schema.properties.payment_id.type = "string"
args_schema.properties.amount = { type = "number", maximum = 300 }
args_schema.properties.reason.type = "string"

[[tool]]
adapter_id = "shop"
capability_id = "cancel_order"
approval_mode = "delegated"
arg_roles = { order_id = "object" }

[[tool]]
adapter_id = "shop"
capability_id = "credit"
approval_mode = "delegated"
bound_args.payment_id = { from = ["order"], at = ["/payment_id"] }
bound_args.amount = { from = ["order"], at = ["/amount"] }
arg_roles = { payment_id = "object", amount = "attribute" }

[[tool]]
adapter_id = "shop"
capability_id = "settle"
approval_mode = "delegated"
arg_roles = { payment_id = "object" }

[[tool.requires_evidence]]
class = "window"
about = { payment_id = "/payment_id" }

[[tool]]
adapter_id = "shop"
capability_id = "send_mail"
approval_mode = "network"
arg_roles = { to = "recipient", body = "content" }
"""


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.at = NOON

    def now(self) -> datetime:
        return self.at


class Desk:
    """A session of the shop. Each answer is that of the guard; `say` is what a model is told."""

    def __init__(self, request: str, *, text: str = SHOP, **changes: Any) -> None:
        wire = tomllib.loads(text)
        for name, value in changes.items():
            part = "spec" if name in ("provenance", "confined_evidence") else "guard"
            wire[part] = {**wire[part], name: value}
        self.clock = Clock()
        self.guard = Guard(build(Policy, wire), clock=self.clock)
        self.made = 0
        self.tell(event="open", request=request)

    def tell(self, **event: Any) -> Any:
        return self.guard.handle_line(json.dumps({"session": "s", **event}).encode())

    def call(self, tool: str, **args: Any) -> Ruling:
        self.made += 1
        ruling = self.tell(
            event="calls", calls=[{"id": f"c{self.made}", "tool": tool, "args": args}]
        )
        assert isinstance(ruling, Ruling)
        assert ruling.critic_error is None, ruling.critic_error
        return ruling

    def read(self, tool: str, output: Any, **args: Any) -> None:
        assert self.call(tool, **args)
        self.tell(event="result", id=f"c{self.made}", status="completed", output=output)

    def answer(self, ruling: Ruling, *, yes: bool) -> Ruling:
        answer = {"event": "answer", "yes": yes, "approver": "ann"}
        found: Ruling = self.tell(**answer, plan_digest=ruling.plan_digest)
        return found


def says(ruling: Ruling) -> list[str]:
    """Return the lines that a model is told."""
    return (ruling.reply or "").split("\n")


def asks(ruling: Ruling) -> list[str]:
    """Return what a person is asked."""
    return [one.ask for one in ruling.questions or ()]
