"""A shop's policies to lint: a sound one, and its parts to be changed one by one."""

from typing import Any

from harness.policy import LintFinding, lint
from tests.harness.policy.policies import document
from tests.support.examples import is_safe

Json = dict[str, Any]

MAIL = {"id": "system", "sender": "party", "subject": "public"}
STRICT = {"type": "object", "additionalProperties": False}


def args_of(*names: str, **more: Any) -> Json:
    """Return a closed schema of these arguments, which are texts; the first must be there."""
    properties = {name: {"type": "string"} for name in names}
    return {**STRICT, "required": [*names[:1]], "properties": properties, **more}


LISTS: Json = {
    "name": "list_mail",
    "adapter_id": "post",
    "capability_id": "list_mail",
    "approval_mode": "read_only",
    "result": {"author": "public", "format": "json"},
    "yields": "mail",
    "args_schema": STRICT,
}
"""Reads mail: anybody writes it, and its sender is checked."""
FINDS: Json = {
    "name": "find_order",
    "adapter_id": "shop",
    "capability_id": "find_order",
    "approval_mode": "read_only",
    "arg_roles": {"order": "locator"},
    "arg_kinds": {"order": "order"},
    "result": {"author": "system", "format": "json"},
    "yields": "order",
    "args_schema": args_of("order"),
}
"""Reads a system of record, in which a customer fills one field."""
SENDS: Json = {
    "name": "send",
    "adapter_id": "post",
    "capability_id": "send",
    "approval_mode": "network",
    "arg_roles": {"to": "recipient", "cc": "recipient", "body": "content"},
    "arg_kinds": {"to": "address", "cc": "address"},
    "args_schema": args_of("to", "cc", "body"),
}
REFUNDS: Json = {
    "name": "refund",
    "adapter_id": "bank",
    "capability_id": "refund",
    "approval_mode": "destructive",
    "arg_roles": {"order": "object", "amount": "attribute"},
    "arg_kinds": {"order": "order"},
    "bound_args": {"order": {"from": ["order"], "at": ["/id"]}},
    "args_schema": args_of("order", "amount"),
}
SHAPE = {"type": "object", "required": ["id"], "properties": {"id": {}, "sender": {}}}
CLASSES: list[Json] = [
    {"name": "mail", "fields": MAIL},
    {
        "name": "order",
        "fields": {"id": "system", "note": "public", "buyer": "party"},
        "schema": {"type": "object"},
        "fresh_s": 600,
    },
]
SHOP: Json = {
    "guard": {"safety_mode": "destructive"},
    "spec": {
        "id": "shop",
        "required_outputs": [],
        "provenance": "closed",
        "approval_required_from": "destructive",
    },
    "class": CLASSES,
    "tool": [LISTS, FINDS, SENDS, REFUNDS],
}


def changed(part: Json, **fields: Any) -> Json:
    """Return a part with other fields; `...` leaves one out."""
    new = {**part, **fields}
    return {name: value for name, value in new.items() if value is not ...}


def shop(*tools: Json, spec: Json | None = None, of: list[Json] | None = None, **more: Any) -> Json:
    """Return the shop with these tools in the place of those of their names, and other classes."""
    named = {one["name"]: one for one in (*SHOP["tool"], *tools)}
    return {
        **SHOP,
        "class": CLASSES if of is None else of,
        "tool": [*named.values()],
        "spec": changed(SHOP["spec"], **(spec or {})),
        **more,
    }


def classes(**fields: Any) -> list[Json]:
    """Return the classes, with other fields of the mail."""
    return [changed(CLASSES[0], **fields), CLASSES[1]]


def rules_of(value: Json) -> dict[str, LintFinding]:
    """Return the findings of a policy, by rule."""
    found = lint(document(value).policy)
    assert all(is_safe(finding.message) for finding in found)
    return {finding.rule: finding for finding in found}


TEXT = {"author": "system"}

NOTES = changed(
    SENDS,
    name="add_note",
    adapter_id="shop",
    approval_mode="delegated",
    capability_id="add_note",
    arg_roles={"order": "object", "text": "content"},
    arg_kinds={"order": "order"},
    args_schema=args_of("order", "text"),
)
