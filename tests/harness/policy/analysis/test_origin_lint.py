"""The lint of origins: each finding has a policy that gets it, and a near one that does not."""

import re
from pathlib import Path
from typing import Any

import pytest

from harness.policy.analysis import origin_lint
from tests.harness.policy.analysis.shop_policies import (
    CLASSES,
    FINDS,
    LISTS,
    REFUNDS,
    SENDS,
    SHAPE,
    TEXT,
    Json,
    changed,
    classes,
    rules_of,
    shop,
)


def bound(at: str | None, *names: str) -> Json:
    places = {} if at is None else {"at": [at]}
    return changed(REFUNDS, bound_args={"order": {"from": [*names], **places}})


def demands(**demand: Any) -> Json:
    return changed(REFUNDS, bound_args=..., requires_evidence=[demand])


NAMES = [f"n{at}" for at in range(999)]
MANY_KINDS = [
    {
        **changed(REFUNDS, name=f"t{at}", capability_id=f"t{at}", bound_args=..., args_schema=...),
        "arg_roles": {"/*": "object", **dict.fromkeys(NAMES, "object")},
        "arg_kinds": dict.fromkeys(NAMES, "order"),
    }
    for at in range(9)
]
"""Tools of many names: each kind has its role at once, though it may be compared with each."""

SAYS_OPEN = {"type": "object", "required": ["note"], "properties": {"note": {"const": "ok"}}}
SAYS_ID = {"type": "object", "required": ["id"], "properties": {"id": {"const": 7}}}
OF_MAIL = {"class": "mail", "content_schema": SAYS_ID}
OF_ID = {"class": "order", "content_schema": SAYS_ID}
PAGE = changed(
    LISTS,
    name="fetch",
    capability_id="fetch",
    result={"author": "public", "web": True},
    yields="page",
)
WEB = {"author": "public", "web": True, "format": "json"}
MADE = {"format": "json", "makes": {"/id": "order"}}
OPENS = changed(FINDS, name="open", capability_id="open", approval_mode="local_write")


def makes(kinds: Any, **changes: Any) -> Json:
    result = {**FINDS["result"], "makes": kinds}
    return changed(OPENS, result=result, **changes)


CASES: dict[str, tuple[str, Json, Json, str]] = {
    "a target bound to what anybody writes": (
        "evidence_from_untrusted",
        shop(PAGE, bound(None, "page")),
        shop(PAGE, bound("/id", "order")),
        "order is backed by page of fetch, and anybody may write what stands there",
    ),
    "a field of a page is what the page says": (
        "evidence_from_untrusted",
        shop(changed(PAGE, result=WEB, yields="order"), bound("/id", "order")),
        shop(changed(PAGE, result=WEB), bound("/id", "order")),
        "order is backed by order of fetch, and anybody may write what stands there",
    ),
    "a demand of what a mail says is so": (
        "evidence_from_untrusted",
        shop(demands(**OF_MAIL)),
        shop(demands(**OF_ID)),
        "the demand at /id is backed by mail of list_mail",
    ),
    "a target bound to a field of outsiders in a system of record": (
        "evidence_from_untrusted",
        shop(bound("/note", "order")),
        shop(bound("/id", "order")),
        "anybody may write",
    ),
    "a target bound to a field of each element": (
        "evidence_from_untrusted",
        shop(bound("/*/note", "order")),
        shop(bound("/*/id", "order")),
        "anybody may write",
    ),
    "a target bound to a party": (
        "evidence_from_untrusted",
        shop(bound("/buyer", "order")),
        shop(bound("/total", "order")),
        "anyone who opens a record fills it",
    ),
    "a target bound to all of a record with fields of others": (
        "evidence_from_untrusted",
        shop(bound(None, "order")),
        shop(bound(None, "order"), of=[CLASSES[0], {"name": "order"}]),
        "order is backed by order of find_order",
    ),
    "a field of a system that is read as text": (
        "evidence_from_untrusted",
        shop(changed(LISTS, result={"author": "public"}), bound("/id", "mail")),
        shop(bound("/id", "mail")),
        "order is backed by mail of list_mail",
    ),
    "a target that a demand is about": (
        "evidence_from_untrusted",
        shop(demands(**{"class": "order", "about": {"order": "/note"}})),
        shop(demands(**{"class": "order", "about": {"amount": "/note", "order": "/id"}})),
        "order is backed by order",
    ),
    "a demand of what anybody writes": (
        "evidence_from_untrusted",
        shop(demands(**{"class": "order", "content_schema": SAYS_OPEN})),
        shop(demands(**{"class": "order", "content_schema": SAYS_ID})),
        "the demand at /note is backed by order",
    ),
    "a detail may be what anybody writes": (
        "evidence_from_untrusted",
        shop(PAGE, bound(None, "page")),
        shop(PAGE, changed(REFUNDS, bound_args={"amount": {"from": ["page"]}})),
        "take a class that a system of record fills",
    ),
    "a kind that no argument has": (
        "makes_without_kind",
        shop(makes({"/id": "ordre"})),
        shop(makes({"/id": "order"})),
        "did you mean order?",
    ),
    "a form needs no argument of its kind": (
        "makes_without_kind",
        shop(makes({"order": "folder"})),
        shop(makes({"order": "path"})),
        "no argument has this kind",
    ),
    "a reading call makes nothing": (
        "makes_on_a_read",
        shop(makes({"/id": "order"}, approval_mode="read_only")),
        shop(makes({"/id": "order"})),
        "would count as made by the session",
    ),
    "a place in a result that is text": (
        "makes_without_format",
        shop(changed(OPENS, result={**TEXT, "makes": {"/id": "order"}}, yields=...)),
        shop(changed(OPENS, result={**TEXT, "makes": {"order": "order"}}, yields=...)),
        'write format = "json"',
    ),
    "an id of what was made that anybody may write": (
        "makes_what_others_write",
        shop(makes({"/note": "order"})),
        shop(makes({"/id": "order"})),
        "/note of its result names the order that was made, and anybody may write",
    ),
    "an id of what was made in a record of no class": (
        "makes_what_others_write",
        shop(changed(OPENS, result={**MADE, "author": "public"}, yields=...)),
        shop(changed(OPENS, result={**MADE, "author": "system"}, yields=...)),
        "take a place that a system fills",
    ),
    "records of no class": (
        "format_without_class",
        shop(changed(LISTS, yields=...)),
        shop(changed(LISTS, result={"author": "public"}, yields=...)),
        "yields names no class of them",
    ),
    "records of a class without a table": (
        "format_without_class",
        shop(changed(FINDS, name="look", capability_id="look", yields="ordre")),
        shop(changed(FINDS, name="look", capability_id="look", yields="order")),
        "did you mean order?",
    ),
    "records that are read for what was made": (
        "format_without_class",
        shop(changed(OPENS, yields=...)),
        shop(makes({"/id": "order"}, yields=...)),
        "add it, or remove format",
    ),
    "a class that no tool promises": (
        "unfilled_class",
        shop(changed(LISTS, result={"author": "public"})),
        shop(),
        "list_mail yields it as text",
    ),
    "a class with a shape that no tool promises": (
        "unfilled_class",
        shop(changed(LISTS, result={"author": "public"}), of=classes(fields=..., schema=SHAPE)),
        shop(of=classes(fields=..., schema=SHAPE)),
        "list_mail yields it as text",
    ),
    "a class that nothing is of": (
        "unfilled_class",
        shop(of=[*CLASSES, {"name": "bill", "fields": {"id": "system"}}]),
        shop(
            of=[*CLASSES, {"name": "bill", "fields": {"id": "system"}}],
            evidence=[{"id": "b", "classification": "bill", "content": {"id": 7}}],
        ),
        "no tool yields it and no evidence has it",
    ),
    "a field that the schema does not have": (
        "pointer_leads_nowhere",
        shop(of=classes(fields={"sendr": "party"}, schema=SHAPE)),
        shop(of=classes(fields={"sender": "party"}, schema=SHAPE)),
        "did you mean sender?",
    ),
    "a field that the elements do not have": (
        "pointer_leads_nowhere",
        shop(of=classes(fields={"to": "party"}, schema={"type": "array", "items": SHAPE})),
        shop(of=classes(fields={"id": "system"}, schema={"type": "array", "items": SHAPE})),
        "its members are id, sender",
    ),
    "a field that the example does not have": (
        "pointer_leads_nowhere",
        shop(of=classes(fields={"/a/sender": "party"}, example={"a": {"from": "x"}})),
        shop(of=classes(fields={"/a/from": "party"}, example={"a": {"from": "x"}})),
        "nobody fills /a/sender",
    ),
    "a field that no element of the example has": (
        "pointer_leads_nowhere",
        shop(of=classes(fields={"sender": "party"}, example=[{"from": "x"}])),
        shop(of=classes(fields={"from": "party"}, example=[{"from": "x"}])),
        "its members are from",
    ),
    "an example that is none": (
        "example_misses_schema",
        shop(of=classes(schema=SHAPE, fields=..., example={"sender": "x"})),
        shop(of=classes(schema=SHAPE, fields=..., example={"id": "x"})),
        "does not satisfy the schema",
    ),
    "recipients that a record names": (
        "party_is_trusted",
        shop(spec={"party_recipients": "allow"}),
        shop(spec={"party_recipients": "ask"}),
        "anyone who opens a record fills sender of mail, and send sends there",
    ),
    "a trust in no party": (
        "idle_party_recipients",
        shop(spec={"party_recipients": "allow"}, of=[{"name": "mail"}]),
        shop(spec={"party_recipients": "allow"}),
        "no field of a party reaches a recipient",
    ),
    "a trust that nothing judges": (
        "idle_party_recipients",
        shop(spec={"party_recipients": "allow", "provenance": ...}),
        shop(spec={"provenance": ...}),
        "judged only with provenance",
    ),
    "content is always left out freely": (
        "idle_may_be_empty",
        shop(changed(SENDS, may_be_empty=["to", "cc", "body"])),
        shop(changed(SENDS, may_be_empty=["to", "cc"])),
        "body is neither recipient nor object",
    ),
    "one of two recipients": (
        "idle_may_be_empty",
        shop(changed(SENDS, may_be_empty=["cc"])),
        shop(changed(SENDS, may_be_empty=["cc", "to"])),
        "has no effect without to",
    ),
    "a small effect is not asked": (
        "idle_may_be_empty",
        shop(changed(SENDS, may_be_empty=["to", "cc"], approval_mode="local_write")),
        shop(changed(SENDS, may_be_empty=["to", "cc"], approval_mode="delegated")),
        "a local_write call is not asked",
    ),
    "a destructive call at nothing": (
        "target_may_be_empty",
        shop(changed(REFUNDS, may_be_empty=["order"])),
        shop(changed(REFUNDS, may_be_empty=["order"], approval_mode="delegated")),
        "runs unasked",
    ),
    "a misspelt form": (
        "unknown_kind",
        shop(changed(SENDS, arg_kinds={"to": "adress"})),
        shop(changed(SENDS, arg_kinds={"to": "guest"})),
        "did you mean address?",
    ),
    "a form in capitals": (
        "unknown_kind",
        shop(changed(SENDS, arg_kinds={"to": "URL"})),
        shop(changed(SENDS, arg_kinds={"to": "url"})),
        "did you mean url?",
    ),
    "another word for a form": (
        "unknown_kind",
        shop(changed(SENDS, arg_kinds={"to": "iban"})),
        shop(changed(SENDS, arg_kinds={"to": "account"})),
        "did you mean account?",
    ),
    "a kind of what is not compared": (
        "kind_without_role",
        shop(changed(SENDS, arg_kinds={"to": "address", "body": "text"})),
        shop(changed(SENDS, arg_kinds={"to": "address"})),
        "body has a kind and no role",
    ),
    "too many kinds to compare": (
        "not_linted",
        shop(*MANY_KINDS),
        shop(*MANY_KINDS[:1]),
        "too many names",
    ),
    "a kind above a role": (
        "kind_without_role",
        shop(changed(SENDS, arg_kinds={"/to/x": "address"}, arg_roles={"/cc/x": "recipient"})),
        shop(changed(SENDS, arg_kinds={"to": "address"}, arg_roles={"/to/x": "recipient"})),
        "/to/x has a kind",
    ),
}


def test_the_shop_is_quiet() -> None:
    assert {one.severity for one in rules_of(shop()).values()} <= {"note"}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", CASES)
def test_a_finding_is_of_its_policy_and_not_of_a_near_one(name: str) -> None:
    rule, risky, near, words = CASES[name]
    found = rules_of(risky)
    assert rule in found, found
    assert words in found[rule].message
    assert rule not in rules_of(near)


def test_every_finding_has_a_case() -> None:
    text = Path(origin_lint.__file__).read_text("utf-8")
    written = re.findall(r'(?:report_finding|LintFinding)\(\s*"(\w+)"', text)
    assert {*written, "example_misses_schema"} == {rule for rule, *_ in CASES.values()}


def test_a_finding_has_the_place_of_what_is_wrong() -> None:
    wrong = shop(changed(SENDS, arg_kinds={"to": "adress"}))
    assert rules_of(wrong)["unknown_kind"].path == "/tool/2/arg_kinds/to"
