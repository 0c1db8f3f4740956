"""Calls whose values were seen somewhere: in the request, in results, in records, or nowhere.

Two values are drawn for a proposal, and everything mentions one of them or the other: a request, a
few results of every author and standing, what the session did, and the args of the calls. So each
class of a value is met, and often two of them at once.
"""

import json
from typing import Any, Final

from tests.support.generate.alphabet import ABSENT, AS_OF, EXPIRIES, ROLE_NAMES, SOURCES
from tests.support.generate.drawing import Pick, optional
from tests.support.model.facts import Json

_ = ABSENT

VALUES: Final = (
    *("zeta-9914", "ord_7", "mia@corp.example", "shop.example/pay", "UK12BARC34567890"),
    *("7", "4471", "bill.txt", "#general", "a b", "/", "2026-05-09", "2026-05-10"),
)
ADDRESSES: Final = ("mia@corp.example", "shop.example/pay", "UK12BARC34567890")
SPELLINGS: Final[dict[str, tuple[Any, ...]]] = {
    "zeta-9914": ("ZETA-9914", " zeta-9914 ", "'zeta-9914'", "zeta-991", "zet\u0430-9914"),
    "ord_7": ("Ord_7.", "ord_7/", "ord_77", "https://ord_7"),
    "mia@corp.example": ("Mia@Corp.example", "\uff4dia@corp.example", "corp.example"),
    "shop.example/pay": ("https://Shop.example/pay/", "http://shop.example/x", "shop.example"),
    "UK12BARC34567890": ("uk12barc34567890", "UK12BARC3456789"),
    "7": (7, 7.0, "7.", "id 7"),
    "4471": (4471, 4471.0, 4.471e3, 44710),
    "bill.txt": ("BILL.TXT", "./bill.txt", "bill.txt:8"),
    "#general": ("#General", "general"),
    "a b": ("A\tB", "a  b", "a"),
    "/": (".", "//", "./"),
    "2026-05-09": ("May 9", "9 may", "5/9/2026", "2026-05-09T10:00", "Aug 9", "15/9/2026"),
    "2026-05-10": ("may 10", "10 May", "5/10/2026", "May 1", "2026-05-101"),
}
DAYS: Final = ("2026-05-09", "2026-05-10")
TEXTS: Final = (
    *("{}", "use {} now", "see {}.", "id {}", "IDs: {}, 8", "({})", "hello {} and {}", '"{}"!'),
    *("on {}", "id {}", "mail {}.evil", "x{}", "{}-b", "c@{}", "at https://{}/b", "shop.example?"),
)
WORDS: Final = ("", " please", " send the money", " sending moneys", " delete files", " open cases")
NAMES: Final = (
    *(("shop", "send_money"), ("bank", "send_money"), ("shop", "deleteFile")),
    *(("shop", "open.case"), ("shop", "get_all"), ("shop", "post-to_User")),
)
KINDS: Final = ("path", "url", "address", "account", "text", "order", "channel")
MODES: Final = (
    *("network", "delegated", "destructive", "network", "delegated", "destructive"),
    *("local_write", "local_write", "read_only"),
)


def seen_case(pick: Pick) -> Json:
    """Return one to three calls of tools with roles; limits and budgets leave them room."""
    first = pick(VALUES)
    values: list[str] = [first, pick((first, first, pick(VALUES)))]
    names = pick((NAMES[:1], NAMES[2:4], NAMES[:3], NAMES[3:]))
    tools = [a_tool(pick, pair, values[0]) for pair in names]
    called = [pick(tools) for _step in range(pick((1, 1, 2, 3)))]
    steps = [a_call(pick, tool, values) for tool in called]
    refs = pick(("", "1", "1", "12", "12", "123"))
    items = [a_request(pick, values), *(a_result(pick, f"call/{ref}", values) for ref in refs)]
    plan = {"steps": steps, "declared_outputs": []}
    manifests = {"tool_manifest": tools, "evidence_manifest": items}
    manifests.update(optional("record_fields", pick((_, _, _, ["sender"], ["sender", "id"]))))
    manifests.update(optional("classes", pick((_, [a_class(pick)], [a_class(pick)], []))))
    return {
        "ctx": a_context(pick, values, tools),
        "compiled": {"manifests": manifests},
        "spec": {
            "id": "d",
            "required_outputs": [],
            "provenance": pick(("closed", "closed", "open")),
            **optional("party_recipients", pick((_, _, "allow", "ask"))),
            **optional("approval_required_from", pick((*(_,) * 9, "delegated"))),
        },
        "plan": plan,
    }


def a_tool(pick: Pick, pair: tuple[str, str], value: str) -> Json:
    likely = ("time",) * 12 if value in DAYS else ("content",) * 4 if value in ADDRESSES else ()
    role = pick((*ROLE_NAMES, *likely))
    roles = pick((*({"x": role},) * 9, _, {}, {"x": role, "y": pick(ROLE_NAMES)}, {"/x/to": role}))
    if pick((False,) * 9 + (True,)):
        roles = {"/x/*": role, "x": pick(ROLE_NAMES), "/w": "object"}
    follows = [
        {"adapter_id": "shop", "capability_id": name} for name in ("send_money", "open.case")
    ]
    return {
        "adapter_id": pair[0],
        "capability_id": pair[1],
        "approval_mode": pick(MODES),
        **optional("arg_roles", roles),
        **optional("arg_kinds", pick((_, _, {"x": pick(KINDS)}, {"x": "order", "/x/to": "path"}))),
        **optional("may_be_empty", pick((_, _, _, ["x"], ["y"], []))),
        **optional("follows", pick((_, _, [], follows[:1], follows))),
    }


def a_class(pick: Pick) -> Json:
    """Return who fills which field of the results, and which results have fields."""
    writers = ("system", "system", "party", "public", "member")
    names = pick((("sender",), ("sender", "id"), ("id", "/*/sender"), ("/sender/to", "names"), ()))
    fields = {name: pick(writers) for name in names}
    schemas = (_, _, _, {"type": "object"}, {"required": ["sender"]})
    return {"class": pick(("r", "r", "q")), "fields": fields, **optional("schema", pick(schemas))}


def spelled(pick: Pick, value: str) -> Any:
    """Return the value, in another spelling, or a value close to it."""
    return pick((*(value,) * 12, *SPELLINGS[value]))


def a_call(pick: Pick, tool: Json, values: list[str]) -> Json:
    first, other = spelled(pick, values[0]), spelled(pick, pick(values))
    args: Json = {"x": first}
    shape = pick(("plain",) * 9 + ("nested", "listed", "none"))
    if shape == "nested":
        args["x"] = pick(([first, other], {"to": first}, {"type": other, "to": [first]}))
    if shape == "listed":
        args["x"] = pick((f"['{first}', '{other}']", f" [{first!r}]", f"[{first}]", "[]"))
        args["x"] = pick((args["x"], {"file_id": first, "n": other}, json.dumps([first, None])))
    if shape == "none":
        args = pick(({}, {"x": ""}, {"x": None}, {"x": [True, [], {}]}, {"w": first}))
    if values[0] in DAYS and pick((True, False)):
        day = pick((values[0], f"{values[0]} 10:00", "2026-05-10/2026-05-09", "soon"))
        args["x"] = pick((day, day, [day], {"to": day}))
    if "content" in tool.get("arg_roles", {}).values():
        bare = values[0] == ADDRESSES[1] and not str(first).startswith("http")
        link = f"https://{first}" if bare else first
        args["x"] = pick((f"write to {link} please", f"{link}", [f"{other}; {link}"]))
    args.update(optional("y", pick((_, _, _, other, f"see www.shop.example/pay or {first}"))))
    named = {name: tool[name] for name in ("adapter_id", "capability_id")}
    return {"kind": "tool", **named, "args": args}


def a_text(pick: Pick, values: list[str]) -> str:
    text: str = pick(TEXTS)
    return text.format(spelled(pick, pick(values)), pick(values))


def a_request(pick: Pick, values: list[str]) -> Json:
    text = pick(("please", "do it", a_text(pick, values))) + pick((*WORDS[:1] * 3, *WORDS))
    text += pick((*("",) * 4, f" on {spelled(pick, pick(DAYS))}"))
    source = {"author": "user", "standing": pick(("named", "named", "ambient"))}
    return {
        "id": "user/1",
        "classification": "request",
        "content": text,
        "source": source,
        **optional("expires_at", pick((*(_,) * 9, *EXPIRIES))),
    }


def a_result(pick: Pick, ref: str, values: list[str]) -> Json:
    value, text = spelled(pick, pick(values)), a_text(pick, values)
    contents: tuple[Any, ...] = (
        *(text, text, text, {"body": text, "sender": value}, {"sender": value}, {"x": value}),
        *({"sender": value}, {"sender": value, "from": "hello"}, {"id": [value, text]}),
        *({"sender": {values[0]: "rw"}}, {"from": value}, {"names": [value, text]}, [[text]]),
        *([{"sender": value, "id": text}, {"sender": "bob"}], {"sender": [value, {"to": value}]}),
        *({"sender": f"{value}\nx"}, {"sender": f"{values[0]}{' ' * 72} "}, value, _),
    )
    source = pick((_, *SOURCES[1:2] * 3, *SOURCES[2:], *SOURCES[4:], *SOURCES[4:]))
    seq = optional("seq", pick((_, 1, 5)))
    return {
        "id": ref,
        "classification": "r",
        **optional("content", text if source is SOURCES[1] else pick(contents)),
        **optional("source", source if source is _ else {**source, **seq}),
        **optional("expires_at", pick((*(_,) * 9, *EXPIRIES))),
    }


def a_context(pick: Pick, values: list[str], tools: list[Json]) -> Json:
    pairs = [{name: one[name] for name in ("adapter_id", "capability_id")} for one in tools]
    approval = {"approval_id": "ap", "plan_digest": pick(("right", "right", "wrong"))}
    approval.update(optional("steps", pick((_, _, [0], [1]))))
    approval.update(optional("context_digest", pick((_, _, _, "right", "wrong"))))
    return {
        "trace_id": "t",
        "safety_mode": "destructive",
        **optional("as_of", pick((AS_OF, AS_OF, AS_OF, _))),
        **optional("scope", pick((_, _, pairs, pairs, pairs[:1], []))),
        **optional("session", pick((_, a_session(pick, values, pairs)))),
        **optional("approvals", pick((*(_,) * 4, [{**approval, "approver": "someone"}]))),
    }


def a_session(pick: Pick, values: list[str], pairs: list[Json]) -> Json:
    known = [spelled(pick, value) for value in values]
    own = [{"kind": pick(KINDS), "value": pick((values[0], known[0]))}]
    sent = [{"seq": pick((1, 3, 9)), "values": [pick((values[0], f"about {values[0]}", 7))]}]
    waived = [{"tool": pick(pairs), "targets": pick(([values[0]], values, known[:1], []))}]
    return {
        "id": "s",
        "turn": 2,
        **optional("ran", pick((_, _, pairs[:1], pairs))),
        **optional("own", pick((_, _, own))),
        **optional("sent", pick((_, _, _, sent))),
        **optional("approved", pick((_, [a_yes(pick, known[0], pairs) for _one in range(2)]))),
        **optional("waived", pick((_, _, _, waived))),
    }


def a_yes(pick: Pick, value: Any, pairs: list[Json]) -> Json:
    """Return a yes to a value, in some role, for some tool, at some tier."""
    return {
        "value": pick((value, value, [value, "b"])),
        "role": pick(ROLE_NAMES),
        "tool": pick(pairs),
        "approval_mode": pick(("destructive", "destructive", "network", "local_write")),
        **optional("expires_at", pick((_, _, _, *EXPIRIES))),
    }
