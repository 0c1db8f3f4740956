"""Policies to test with: the good one, as a text and as the value of it."""

import copy
import json
from typing import Any

from harness.policy import Policy, PolicyDocument, parse_policy

GOOD = """\
record_fields = ["sender", "recipient", "date", "id"]

[guard]
safety_mode = "destructive"
budget = { max_steps = 40, bucket_tokens = 200000 }

[spec]
id = "payments"
required_outputs = ["receipt"]
provenance = "closed"
approval_required_from = "destructive"

[[tool]]
adapter_id = "files"
capability_id = "read_file"
approval_mode = "read_only"
arg_roles = { path = "locator" }
result = { author = "public" }
yields = "bill"
expires_after_s = 600

[[tool]]
name = "pay"
adapter_id = "bank"
capability_id = "send_money"
approval_mode = "delegated"
requested = "always"
requires_evidence = [{ class = "bill", about = { amount = "/amount" } }]
bound_args = { amount = { from = ["bill"], at = ["/amount"] } }
arg_roles = { to = "recipient", memo = "content", amount = "attribute" }
produces = ["receipt"]
result = { author = "system", format = "json" }
yields = "payment_receipt"
expires_after_s = 600

[tool.args_schema]
type = "object"
required = ["to", "amount"]
additionalProperties = false

[tool.args_schema.properties]
to = { type = "string", minLength = 1 }
amount = { type = "integer", minimum = 1, maximum = 500 }
memo = { type = "string" }

[[evidence]]
id = "rates"
classification = "rate_table"
content = { eur = 1.08 }
expires_at = 2030-01-01T00:00:00Z

[[class]]
name = "payment_receipt"
fields = { id = "system", payee = "party" }

[[class]]
name = "bill"

[[class]]
name = "rate_table"

[[accept]]
finding = "class_without_schema"
reason = "bills have no fixed shape"

[[accept]]
finding = "tier_below_name"
tool = "pay"
reason = "small bills of a petty cash"
"""


def good() -> dict[str, Any]:
    """Return the good policy as JSON values."""
    return copy.deepcopy(parse_policy(GOOD.encode()).policy.wire())


def plain() -> dict[str, Any]:
    """Return the good policy with classes of evidence only: nothing is asked of their content."""
    return with_tool(good(), requires_evidence=["bill"], bound_args={"amount": ["bill"]})


def document(value: Any) -> PolicyDocument:
    """Return the policy that a JSON value is."""
    return parse_policy(json.dumps(value, indent=1).encode())


def policy(**changes: Any) -> Policy:
    """Return the good policy with other tables."""
    return document({**good(), **changes}).policy


def with_tool(value: dict[str, Any], index: int = 1, **changes: Any) -> dict[str, Any]:
    """Return the value with other fields of one tool; `...` leaves a field out."""
    tools = copy.deepcopy(value["tool"])
    fields = {**tools[index], **changes}
    tools[index] = {name: field for name, field in fields.items() if field is not ...}
    return {**value, "tool": tools}


def with_spec(value: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Return the value with other fields of the spec; `...` leaves a field out."""
    fields = {**value["spec"], **changes}
    return {**value, "spec": {name: field for name, field in fields.items() if field is not ...}}


def with_guard(value: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Return the value with other settings of the guard; `...` leaves a setting out."""
    fields = {**value["guard"], **changes}
    return {**value, "guard": {name: field for name, field in fields.items() if field is not ...}}
