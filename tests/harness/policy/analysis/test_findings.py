"""The lint of labels, arguments, evidence and settings: a policy for each finding, and a near one.

The near policy differs in little, and is what somebody would write who means it well.
"""

import re
from pathlib import Path
from typing import Any

import pytest

from harness.policy import InvalidPolicy, lint
from harness.policy.analysis import (
    argument_lint,
    class_lint,
    evidence_lint,
    label_lint,
    reachability_lint,
    setting_lint,
)
from harness.policy.analysis.argument_shapes import is_anchored
from harness.policy.analysis.policy_lint import lint_report
from tests.harness.policy.analysis.shop_policies import (
    CLASSES,
    FINDS,
    LISTS,
    NOTES,
    REFUNDS,
    SENDS,
    STRICT,
    TEXT,
    Json,
    args_of,
    changed,
    rules_of,
    shop,
)
from tests.harness.policy.policies import document

ITEM: Json = {"type": "string"}
AMOUNT: Json = {"type": "integer", "minimum": 1, "maximum": 500}
QUIETLY = {"to": "recipient", "cc": "recipient", "body": "content"}
ASKED = {"class": "order", "about": {"order": "/id"}}
DUE: Json = {"type": "object", "properties": {"due": {"const": True}}, "required": ["due"]}
FETCH: Json = {
    "name": "open_page",
    "adapter_id": "net",
    "capability_id": "open_page",
    "approval_mode": "network",
    "arg_roles": {"url": "locator"},
    "result": {"author": "public", "web": True},
    "args_schema": args_of("url"),
}


def shell_policy(**spec: Any) -> Json:
    """Return the policy of a session that has commands and no other tool."""
    plain = {"id": "coding", "required_outputs": [], **spec}
    return {"guard": {"safety_mode": "destructive"}, "spec": plain, "shell": {"table": "common-1"}}


UPDATES: Json = {
    "name": "update_order",
    "adapter_id": "shop",
    "capability_id": "update_order",
    "approval_mode": "delegated",
    "arg_roles": {"order": "object", "count": "attribute"},
    "args_schema": {
        **STRICT,
        "required": ["order", "count"],
        "properties": {"order": ITEM, "count": AMOUNT},
    },
}


def named(part: Json, name: str, **fields: Any) -> Json:
    return changed(part, name=name, capability_id=name, **fields)


READER: Json = {
    "name": "extract_text",
    "adapter_id": "shop",
    "capability_id": "extract_text",
    "approval_mode": "read_only",
    "result": {"author": "public"},
}


def count(schema: Any) -> Json:
    schemas = {**UPDATES["args_schema"], "properties": {"order": ITEM, "count": schema}}
    return shop(changed(UPDATES, args_schema=schemas))


def order(schema: Any) -> Json:
    schemas = {**UPDATES["args_schema"], "properties": {"order": schema, "count": AMOUNT}}
    return shop(changed(UPDATES, args_schema=schemas))


def demands(*wanted: Any) -> Json:
    return shop(changed(REFUNDS, bound_args=..., requires_evidence=list(wanted)))


def binds(more: Json, **fields: Any) -> Json:
    bound_args = {"order": {"from": ["order"], "at": ["/id"]}, **more}
    return shop(changed(REFUNDS, bound_args=bound_args, **fields))


def guarded(**settings: Any) -> Json:
    return {**shop(), "guard": {"safety_mode": "destructive", **settings}}


def evidence(author: str) -> Json:
    source = {"author": author, "standing": "named"}
    return {"id": "own", "classification": "account", "content": "DE89", "source": source}


RECORD: Json = {
    "type": "object",
    "required": ["id", "due", "sum"],
    "properties": {
        "id": ITEM,
        "note": ITEM,
        "code": {"type": "string", "pattern": "^O-[0-9]{4}$"},
        "buyer": ITEM,
        "due": {"type": "boolean"},
        "sum": {"type": "integer", "maximum": 99},
        "lines": {"type": "array", "items": {"type": "object", "properties": {"id": ITEM}}},
    },
}


def recorded(*tools: Json, schema: Any = None, **more: Any) -> Json:
    """Return the shop with the shape of an order."""
    return shop(*tools, of=[CLASSES[0], changed(CLASSES[1], schema=schema or RECORD)], **more)


def bound_to(at: str, argument: Any = None) -> Json:
    schema = {**STRICT, "required": ["order"], "properties": {"order": argument or ITEM}}
    roles = {"order": "object"}
    bound = {"order": {"from": ["order"], "at": [at]}}
    return recorded(changed(REFUNDS, arg_roles=roles, bound_args=bound, args_schema=schema))


def asks(schema: Any, **more: Any) -> Json:
    demand = {"class": "order", "content_schema": schema, "about": {"order": "/id"}}
    return recorded(changed(REFUNDS, requires_evidence=[changed(demand, **more)]))


def says(**properties: Any) -> Json:
    return {"type": "object", "required": [*properties], "properties": properties}


def lengthy(name: str, most: int) -> Json:
    """Return the class of orders with a text of the system of so many characters."""
    schema = {"type": "object", "properties": {name: {"type": "string", "maxLength": most}}}
    return changed(CLASSES[1], fields={"id": "system", name: "system"}, schema=schema)


PERMITS = named(SENDS, "grant_permit", adapter_id="office", approval_mode="delegated")
STAMPS = named(SENDS, "sign_stamp", adapter_id="office", approval_mode="delegated")
BOTH = ["order", "amount"]
BACK = {"order": "object", "amount": "object"}
REPAYS = named(REFUNDS, "repay", arg_roles=BACK)


def permits(needed: str, **more: Any) -> list[Json]:
    """Return a tool that needs what the other yields, and the other, which needs something."""
    first = changed(PERMITS, yields="permit", requires_evidence=["stamp"], **more)
    return [first, changed(STAMPS, yields="stamp", requires_evidence=[needed])]


CASES: dict[str, tuple[str, Json, Json, str]] = {
    "a refund that acts for somebody": (
        "tier_below_name",
        shop(changed(REFUNDS, approval_mode="delegated")),
        shop(),
        "its name says destructive, and approval_mode says delegated",
    ),
    "a verb that is a noun": (
        "tier_below_name",
        shop(named(FINDS, "cancel_order", adapter_id="b")),
        shop(named(FINDS, "refund_window", adapter_id="b")),
        "its name says destructive",
    ),
    "a second verb": (
        "tier_below_name",
        shop(named(FINDS, "find_and_delete", adapter_id="b")),
        shop(named(FINDS, "find_and_show", adapter_id="b")),
        "its name says destructive",
    ),
    "a thing of its own": (
        "tier_below_name",
        shop(named(NOTES, "create_invoice", approval_mode="local_write")),
        shop(named(NOTES, "create_draft", approval_mode="local_write")),
        "its name says delegated",
    ),
    "a reading tool that is aimed": (
        "read_only_with_target",
        shop(changed(FINDS, arg_roles={"order": "object"})),
        shop(),
        "nothing of a read_only call is judged",
    ),
    "a recipient that is content": (
        "role_below_name",
        shop(changed(SENDS, arg_roles={**QUIETLY, "cc": "content"})),
        shop(),
        "its name says recipient",
    ),
    "an id that is a detail": (
        "role_below_name",
        shop(
            changed(UPDATES, arg_roles={"order_id": "attribute"}, args_schema=args_of("order_id"))
        ),
        shop(
            changed(UPDATES, arg_roles={"zip_code": "attribute"}, args_schema=args_of("zip_code"))
        ),
        "its name says object",
    ),
    "a path in one's own workspace": (
        "role_below_name",
        shop(changed(UPDATES, arg_roles={"path": "content"}, args_schema=args_of("path"))),
        shop(
            named(
                UPDATES,
                "write_file",
                approval_mode="local_write",
                arg_roles={"path": "content"},
                args_schema=args_of("path"),
            )
        ),
        "its name says object",
    ),
    "a page that a member writes": (
        "web_is_trusted",
        shop(changed(FETCH, result={"author": "member"})),
        shop(FETCH),
        "anybody writes pages",
    ),
    "a page that is a system": (
        "web_is_trusted",
        shop(changed(LISTS, result={"author": "system", "web": True})),
        shop(changed(LISTS, result={"author": "public", "web": True})),
        "anybody writes pages",
    ),
    "a page that is not said to be one": (
        "web_not_said",
        shop(changed(FETCH, result={"author": "public"})),
        shop(FETCH),
        "add web = true",
    ),
    "mails of a system": (
        "author_above_guess",
        shop(changed(LISTS, result=TEXT)),
        shop(named(LISTS, "list_prices", result=TEXT)),
        "what others write counts as the words of a system of record",
    ),
    "mails whose class says what outsiders fill": (
        "author_above_guess",
        shop(changed(LISTS, result={"author": "system"})),
        shop(changed(LISTS, result={"author": "system", "format": "json"})),
        "say which fields of a class a system fills",
    ),
    "a system that shows what a tool writes there": (
        "written_then_trusted",
        shop(changed(FINDS, result=TEXT), NOTES),
        shop(changed(FINDS, result=TEXT), changed(NOTES, adapter_id="diary")),
        "add_note may write text there",
    ),
    "a system whose class says which fields are public": (
        "written_then_trusted",
        shop(NOTES, of=[CLASSES[0], {"name": "order", "fields": {"id": "system"}}]),
        shop(NOTES),
        "say which of its fields are public",
    ),
    "a system beside which only numbers are written": (
        "written_then_trusted",
        shop(changed(FINDS, result=TEXT), NOTES),
        shop(changed(FINDS, result=TEXT), UPDATES),
        "add_note",
    ),
    "the same under another name": (
        "weaker_twin",
        shop(named(REFUNDS, "refund_quick", approval_mode="delegated")),
        shop(named(REFUNDS, "refund_quick")),
        "it does what refund does, as delegated, not destructive",
    ),
    "the same without a demand": (
        "weaker_twin",
        shop(named(REFUNDS, "quick_refund", bound_args=...)),
        shop(named(REFUNDS, "withdraw", bound_args=..., arg_roles={"account": "recipient"})),
        "with fewer demands",
    ),
    "a fetch with a body": (
        "fetch_with_body",
        shop(
            changed(
                FETCH,
                arg_roles={"url": "locator", "body": "content"},
                args_schema=args_of("url", "body"),
            )
        ),
        shop(
            changed(
                FETCH,
                arg_roles={"url": "locator", "prompt": "content"},
                args_schema=args_of("url", "prompt"),
            )
        ),
        "body goes out with the fetch",
    ),
    "an effect after any reading": (
        "follows_too_much",
        shop(changed(REFUNDS, follows=[{"adapter_id": "shop", "capability_id": "find_order"}])),
        shop(changed(FETCH, follows=[{"adapter_id": "shop", "capability_id": "find_order"}])),
        "it follows find_order",
    ),
    "sentences as a field": (
        "free_text_as_field",
        shop(of=[{"name": "mail", "fields": {"id": "system", "body": "system"}}, CLASSES[1]]),
        shop(of=[{"name": "mail", "fields": {"id": "system", "body": "public"}}, CLASSES[1]]),
        "body holds sentences",
    ),
    "sentences in every record": (
        "free_text_as_field",
        {**shop(), "record_fields": ["message"]},
        {**shop(), "record_fields": ["message_id"]},
        "message holds sentences",
    ),
    "evidence of the user": (
        "evidence_speaks_for_user",
        shop(evidence=[evidence("user")]),
        shop(evidence=[evidence("operator")]),
        "words of the user in every session",
    ),
    "nobody is said to write it": (
        "result_not_labelled",
        shop(changed(LISTS, result=..., yields="mails")),
        shop(),
        "counts as public",
    ),
    "other arguments": (
        "arguments_open",
        shop(changed(UPDATES, args_schema={"properties": {"order": ITEM, "count": AMOUNT}})),
        shop(UPDATES),
        "additionalProperties = false",
    ),
    "no schema": (
        "arguments_open",
        shop(changed(UPDATES, args_schema=...)),
        shop(changed(UPDATES, args_schema=..., arg_roles={"/*": "object"})),
        "no args_schema",
    ),
    "a recipient that may be missing": (
        "target_optional",
        shop(changed(SENDS, args_schema={**SENDS["args_schema"], "required": ["body"]})),
        shop(SENDS),
        "a call may leave out to",
    ),
    "a recipient that may be missing on purpose": (
        "target_optional",
        shop(changed(SENDS, args_schema={**SENDS["args_schema"], "required": []})),
        shop(
            changed(
                SENDS,
                args_schema={**SENDS["args_schema"], "required": []},
                may_be_empty=["to", "cc"],
            )
        ),
        "add it to required",
    ),
    "a target of any shape": (
        "target_of_any_shape",
        order({}),
        order({"anyOf": [ITEM, {"type": "integer"}]}),
        "an object of any members",
    ),
    "a target that may be an object": (
        "target_of_any_shape",
        order({"type": ["string", "object"]}),
        order({"type": "object", "properties": {"id": ITEM}, "additionalProperties": False}),
        "an object of any members",
    ),
    "a number of any type": (
        "limit_without_type",
        count({"maximum": 500}),
        count({"type": "integer", "maximum": 500}),
        '"9999" passes',
    ),
    "a pattern of any type": (
        "limit_without_type",
        order({"pattern": "^ord_[0-9]+$"}),
        order({"type": "string", "pattern": "^ord_[0-9]+$"}),
        "9999 passes",
    ),
    "a pattern for a part": (
        "pattern_unanchored",
        order({"type": "string", "pattern": "ord_[0-9]+"}),
        order({"type": "string", "pattern": "^(?:ord|itm)_[0-9]+$"}),
        "begin it with ^ and end it with $",
    ),
    "an amount without an end": (
        "amount_unlimited",
        count({"type": "integer", "minimum": 1}),
        count({"type": "integer", "enum": [1, 2]}),
        "count has no maximum",
    ),
    "a result that proves the next call": (
        "own_evidence",
        shop(changed(REFUNDS, yields="order")),
        shop(changed(REFUNDS, yields="receipt")),
        "one call proves the next",
    ),
    "a reader that does not say so": (
        "reader_not_derived",
        shop(READER, spec={"late": "sources"}),
        shop({**READER, "result": {"author": "public", "derived": True}}, spec={"late": "sources"}),
        "derived = true",
    ),
    "a result that proves the twin's call": (
        "own_evidence",
        shop(named(REFUNDS, "quick_refund", bound_args=..., yields="order")),
        shop(named(SENDS, "send_order", yields="order")),
        "backs refund",
    ),
    "a binding that may be left out": (
        "bound_optional",
        shop(
            changed(
                REFUNDS, bound_args={"order": {"from": ["order"], "at": ["/id"], "optional": True}}
            )
        ),
        binds({"amount": {"from": ["order"], "at": ["/sum"], "optional": True}}, bound_together=[]),
        "remove optional",
    ),
    "arguments of two items": (
        "bound_apart",
        binds({"amount": {"from": ["order"], "at": ["/sum"]}}),
        binds(
            {"amount": {"from": ["order"], "at": ["/sum"]}}, bound_together=[["order", "amount"]]
        ),
        'bound_together = [["order", "amount"]]',
    ),
    "a demand that says nothing": (
        "demand_without_required",
        demands({**ASKED, "content_schema": {**DUE, "required": []}}),
        demands({**ASKED, "content_schema": DUE}),
        "that has no due meets the demand",
    ),
    "a demand that a text meets": (
        "demand_without_required",
        shop(
            changed(
                REFUNDS,
                requires_evidence=[{"class": "order", "content_schema": changed(DUE, type=...)}],
            ),
            of=[CLASSES[0], changed(CLASSES[1], schema=...)],
        ),
        demands({**ASKED, "content_schema": changed(DUE, type=...)}),
        'add type = "object"',
    ),
    "a demand about any order": (
        "demand_about_nothing",
        demands({"class": "order", "content_schema": DUE}),
        demands({**ASKED, "content_schema": DUE}),
        "even for another order",
    ),
    "results that are always fresh": (
        "evidence_never_expires",
        shop(of=[CLASSES[0], changed(CLASSES[1], fresh_s=...)]),
        shop(changed(FINDS, expires_after_s=9), of=[CLASSES[0], changed(CLASSES[1], fresh_s=...)]),
        "as long as a session lasts",
    ),
    "a class for nothing": (
        "class_unused",
        shop(changed(SENDS, yields="receipt")),
        shop(changed(SENDS, yields="receipt"), spec={"confined_evidence": ["receipt"]}),
        "nothing demands, binds or confines receipt",
    ),
    "a class of any shape": (
        "class_without_schema",
        shop(of=[CLASSES[0], changed(CLASSES[1], schema=...)]),
        shop(),
        "any content counts as order",
    ),
    "a class without a table beside others": (
        "unknown_class",
        shop(changed(SENDS, yields="receipt")),
        shop(changed(SENDS, yields="receipt"), of=[*CLASSES, {"name": "receipt"}]),
        "receipt has no [[class]], and other classes have one",
    ),
    "evidence of no table": (
        "unknown_class",
        shop(evidence=[evidence("operator")]),
        shop(evidence=[evidence("operator")], of=[*CLASSES, {"name": "account"}]),
        "account has no [[class]]",
    ),
    "evidence that is not what its class says": (
        "evidence_misses_schema",
        shop(
            evidence=[evidence("operator")],
            of=[*CLASSES, {"name": "account", "schema": {"type": "object"}}],
        ),
        shop(
            evidence=[evidence("operator")],
            of=[*CLASSES, {"name": "account", "schema": {"type": "string"}}],
        ),
        "evidence own does not satisfy the schema of its class account",
    ),
    "a place that no record has": (
        "pointer_leads_nowhere",
        bound_to("/order_id"),
        bound_to("/id"),
        "order has nothing at /order_id",
    ),
    "a place that holds records": (
        "pointer_leads_nowhere",
        bound_to("/lines"),
        bound_to("/lines/*/id"),
        "is not a text, number or boolean",
    ),
    "a demand about a place that no record has": (
        "pointer_leads_nowhere",
        asks(says(due={"const": True}), about={"order": "/ident"}),
        asks(says(due={"const": True})),
        "order has nothing at /ident",
    ),
    "a demand of a member that no record has": (
        "pointer_leads_nowhere",
        asks(says(paid={"const": True})),
        asks(says(due={"const": True})),
        "order has nothing at /paid",
    ),
    "a number that is to be a text": (
        "never_equal",
        bound_to("/id", {"type": "integer"}),
        bound_to("/id", {"type": ["integer", "string"]}),
        "make both schemas the same",
    ),
    "a number that is too large for a record": (
        "never_equal",
        bound_to("/sum", {"type": "integer", "minimum": 100}),
        bound_to("/sum", {"type": "integer", "minimum": 99}),
        "no value of order by args_schema",
    ),
    "sentences of an outsider in a box": (
        "author_above_guess",
        shop(named(LISTS, "open_mailbox", adapter_id="b", result=TEXT)),
        shop(named(LISTS, "open_pillbox", adapter_id="b", result=TEXT)),
        "what others write counts",
    ),
    "what a person tells": (
        "free_text_as_field",
        shop(of=[CLASSES[0], changed(CLASSES[1], fields={"id": "system", "narrative": "system"})]),
        shop(of=[CLASSES[0], changed(CLASSES[1], fields={"id": "system", "narrator": "system"})]),
        "narrative holds sentences",
    ),
    "what may be as long as a letter": (
        "free_text_as_field",
        shop(of=[CLASSES[0], lengthy("plea", 900)]),
        shop(of=[CLASSES[0], lengthy("plea", 90)]),
        "plea holds sentences",
    ),
    "a link that may be as long as a letter": (
        "free_text_as_field",
        shop(of=[CLASSES[0], lengthy("plea", 900)]),
        shop(of=[CLASSES[0], lengthy("plea_url", 900)]),
        "plea holds sentences",
    ),
    "a verb that is rarer than another": (
        "tier_below_name",
        shop(named(FINDS, "suspend_order", adapter_id="b")),
        shop(named(FINDS, "suspense_order", adapter_id="b")),
        "its name says destructive",
    ),
    "money by another verb": (
        "tier_below_name",
        shop(named(SENDS, "reimburse_order", approval_mode="delegated")),
        shop(named(SENDS, "reissue_order", approval_mode="delegated")),
        "its name says destructive, and approval_mode says delegated",
    ),
    "what is handed over is no money": (
        "tier_below_name",
        shop(named(SENDS, "transfer_balance", approval_mode="delegated")),
        shop(named(SENDS, "transfer_pupil", approval_mode="delegated")),
        "its name says destructive",
    ),
    "the history of a chat": (
        "author_above_guess",
        shop(named(LISTS, "get_chat_history", adapter_id="b", result=TEXT)),
        shop(named(LISTS, "get_price_history", adapter_id="b", result=TEXT)),
        "what others write counts",
    ),
    "comments by what they are on": (
        "author_above_guess",
        shop(named(LISTS, "get_comments_by_order", adapter_id="b", result=TEXT)),
        shop(named(LISTS, "get_prices_by_order", adapter_id="b", result=TEXT)),
        "what others write counts",
    ),
    "a search engine by its name": (
        "web_not_said",
        shop(named(LISTS, "google_search", adapter_id="b")),
        shop(named(LISTS, "google_calendar", adapter_id="b")),
        "add web = true",
    ),
    "an account by its number": (
        "role_below_name",
        shop(
            changed(UPDATES, arg_roles={"account_no": "content"}, args_schema=args_of("account_no"))
        ),
        shop(changed(UPDATES, arg_roles={"page_no": "content"}, args_schema=args_of("page_no"))),
        "its name says recipient",
    ),
    "a thing by its number": (
        "role_below_name",
        shop(changed(UPDATES, arg_roles={"crate_no": "content"}, args_schema=args_of("crate_no"))),
        shop(changed(UPDATES, arg_roles={"cranny": "content"}, args_schema=args_of("cranny"))),
        "its name says object",
    ),
    "an issue that anybody opens": (
        "author_above_guess",
        shop(named(LISTS, "get_issue", adapter_id="b", result=TEXT)),
        shop(named(LISTS, "get_tissue", adapter_id="b", result=TEXT)),
        "what others write counts",
    ),
    "a number that may be text": (
        "limit_without_type",
        count({"type": ["integer", "string"], "maximum": 500}),
        count(
            {
                "anyOf": [
                    {"type": "integer", "maximum": 500},
                    {"type": "string", "pattern": "^[1-9]$"},
                ]
            }
        ),
        "may be text",
    ),
    "somebody who is a detail": (
        "role_below_name",
        shop(changed(UPDATES, arg_roles={"login": "attribute"}, args_schema=args_of("login"))),
        shop(changed(UPDATES, arg_roles={"logo": "attribute"}, args_schema=args_of("logo"))),
        "its name says object",
    ),
    "what is granted as a message": (
        "tier_below_name",
        shop(named(SENDS, "enroll_pupil")),
        shop(named(SENDS, "enclose_pupil")),
        "its name says delegated, and approval_mode says network",
    ),
    "the same thing by another verb": (
        "weaker_twin",
        shop(named(REPAYS, "settle_debt", bound_args=...), named(REPAYS, "pay_debt")),
        shop(named(REPAYS, "settle_debt", bound_args=...), named(REPAYS, "pay_fine")),
        "it does what pay_debt does, with fewer demands",
    ),
    "the same by another verb": (
        "weaker_twin",
        shop(
            named(REFUNDS, "reimburse", arg_roles=BACK, bound_args=...),
            REPAYS,
        ),
        shop(
            named(REFUNDS, "hide", arg_roles=BACK, bound_args=...),
            REPAYS,
        ),
        "it does what repay does, with fewer demands",
    ),
    "patterns of two numbers": (
        "never_equal",
        bound_to("/code", {"type": "string", "pattern": "^ORD-[0-9]{4}$"}),
        bound_to("/code", {"type": "string", "pattern": "^O-[0-9]+$"}),
        "make both schemas the same",
    ),
    "true as a text": (
        "constant_never",
        asks(says(due={"const": "true"})),
        asks(says(due={"const": True})),
        "no order can meet the demand on due",
    ),
    "a demand that each record meets": (
        "demand_says_nothing",
        asks(says(due={"type": "boolean"})),
        asks(says(due={"type": "boolean", "const": True})),
        "every order meets the demand",
    ),
    "a demand of nothing": (
        "demand_says_nothing",
        asks({}, about=...),
        asks({"type": "object"}),
        "so it asks for nothing",
    ),
    "evidence that needs itself": (
        "unreachable_tool",
        shop(*permits("permit")),
        shop(*permits("order")),
        "first yield permit, so no call of it can pass",
    ),
    "a bound argument that cannot be there": (
        "unreachable_tool",
        shop(changed(REFUNDS, bound_args={"id": {"from": ["order"]}})),
        shop(changed(REFUNDS, bound_args={"id": {"from": ["order"], "optional": True}})),
        "id is bound and must be there",
    ),
    "a group of no class": (
        "unreachable_tool",
        binds({"amount": {"from": ["mail"], "at": ["/id"]}}, bound_together=[BOTH]),
        binds({"amount": {"from": ["mail", "order"], "at": ["/id"]}}, bound_together=[BOTH]),
        "one item must back order, amount",
    ),
    "fewer calls than it takes": (
        "over_budget",
        guarded(budget={"max_steps": 1, "bucket_tokens": 99}),
        guarded(budget={"max_steps": 2, "bucket_tokens": 99}),
        "it takes 2 calls to get to it",
    ),
    "roles that nothing judges": (
        "provenance_off",
        shop(spec={"provenance": ...}),
        shop(),
        "has arg_roles",
    ),
    "a refund without a person": (
        "nobody_is_asked",
        shop(spec={"approval_required_from": ...}),
        shop(spec={"approval_required_from": "delegated"}),
        'approval_required_from = "destructive"',
    ),
    "commands without a person": (
        "nobody_is_asked",
        shell_policy(),
        shell_policy(approval_required_from="destructive"),
        "not even one that is not understood",
    ),
    "a guard that looks on": (
        "shadow_on",
        guarded(shadow=True),
        guarded(shadow=False),
        "lets every call run",
    ),
    "a tool in no scope": (
        "only_scope_allows",
        guarded(scope=[]),
        guarded(scope=["send", "refund"]),
        "the word refund: add it to [guard] scope",
    ),
    "a tool that follows nothing": (
        "only_scope_allows",
        shop(changed(REFUNDS, requested=...), guard={"safety_mode": "destructive"}),
        shop(changed(REFUNDS, requested="always"), changed(SENDS, requested="always")),
        "it runs only where",
    ),
    "more questions than anybody reads": (
        "no_question_limit",
        guarded(max_questions=21),
        guarded(max_questions=20),
        "write 20 at most",
    ),
    "a budget that nothing meets": (
        "no_budget",
        guarded(budget={"max_steps": 100_001, "bucket_tokens": 1000}),
        guarded(budget={"max_steps": 100_000, "bucket_tokens": 1000}),
        "which no session reaches",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_finding_is_of_its_policy_and_not_of_a_near_one(name: str) -> None:
    rule, risky, near, words = CASES[name]
    found = rules_of(risky)
    assert rule in found, found
    assert words in found[rule].message
    assert rule not in rules_of(near), rules_of(near)[rule]


def test_every_finding_has_a_case() -> None:
    modules = (
        *(label_lint, argument_lint, evidence_lint, setting_lint, class_lint),
        reachability_lint,
    )
    text = "".join(Path(str(module.__file__)).read_text("utf-8") for module in modules)
    written = re.findall(r'(?:report_finding|LintFinding)\(\s*"(\w+)"', text)
    assert {*written} - {"not_linted", "example_misses_schema"} == {
        rule for rule, *_ in CASES.values()
    }


@pytest.mark.parametrize(
    ("pattern", "anchored"),
    [
        ("^a$", True),
        ("a", False),
        ("^a", False),
        ("a$", False),
        ("^a|b$", False),
        ("^a$|^b$", True),
        ("^(a|b)$", True),
        ("(^a$)", True),
        ("(?:^a$|b)", False),
        ("^a\\$", False),
        ("^a\\\\$", True),
        ("^[|]$", True),
        ("^[]|]$", True),
        ("^https://shop\\.example/", True),
        ("\\Aa\\Z", True),
    ],
)
def test_a_pattern_is_for_the_whole_text(pattern: str, anchored: bool) -> None:
    assert is_anchored(pattern) == anchored


def test_a_fault_in_the_form_of_makes_names_the_finding() -> None:
    with pytest.raises(InvalidPolicy) as refused:
        document(shop(changed(LISTS, result={"author": "public", "makes": True})))
    assert any("makes_on_a_read" in fault.message for fault in refused.value.faults)


ACCEPTED: Json = {"finding": "tier_below_name", "tool": "refund", "reason": "small sums"}
DELEGATED = shop(changed(REFUNDS, approval_mode="delegated"))


def test_a_finding_is_accepted_by_its_name_and_tool() -> None:
    assert "tier_below_name" in rules_of(DELEGATED)
    report = lint_report(document({**DELEGATED, "accept": [ACCEPTED]}).policy)
    assert [(one.finding.rule, one.reason) for one in report.accepted] == [
        ("tier_below_name", "small sums")
    ]
    assert "tier_below_name" not in {one.rule for one in report.findings}
    everywhere = {**DELEGATED, "accept": [changed(ACCEPTED, tool=...)]}
    assert "tier_below_name" not in rules_of(everywhere)


@pytest.mark.parametrize("wrong", [{"tool": "send"}, {"finding": "shadow_on"}])
def test_what_accepts_nothing_is_found(wrong: Json) -> None:
    value = {**DELEGATED, "accept": [{**ACCEPTED, **wrong}]}
    found = rules_of(value)
    assert {"tier_below_name", "accepts_nothing"} <= {*found}
    assert found["accepts_nothing"].path == "/accept/0"


def test_a_misspelt_name_of_a_finding_is_told_with_the_nearest_that_is_found() -> None:
    value = {**DELEGATED, "accept": [{**ACCEPTED, "finding": "tier_below_nam"}]}
    message = rules_of(value)["accepts_nothing"].message
    assert message == (
        "accepts tier_below_nam of refund, which is not found: did you mean tier_below_name? "
        "correct it, or remove it"
    )
    for one in ("shadow_on", "tier_below_name"):
        value = {**DELEGATED, "accept": [{**ACCEPTED, "finding": one, "tool": "send"}]}
        assert rules_of(value)["accepts_nothing"].message.endswith("not found: remove it")


def test_an_entry_that_repeats_another_accepts_nothing() -> None:
    value = {**DELEGATED, "accept": [ACCEPTED, {**ACCEPTED, "reason": "again"}]}
    assert rules_of(value)["accepts_nothing"].path == "/accept/1"


def test_each_finding_has_a_severity() -> None:
    found = {one.rule: one.severity for one in lint(document(DELEGATED).policy)}
    assert found["tier_below_name"] == "warning"
    assert rules_of(shop(spec={"provenance": ...}))["provenance_off"].severity == "error"
    assert rules_of(CASES["an amount without an end"][1])["amount_unlimited"].severity == "note"
