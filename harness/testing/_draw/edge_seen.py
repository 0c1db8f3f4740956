"""Calls whose values were seen somewhere: in the request, in results, in records, or nowhere.

Two values are drawn for a proposal, and everything mentions one of them or the other: a request, a
few results of every author and standing, what the session did, and the args of the calls. So each
class of a value is met, and often two of them at once.
"""

import json
from collections.abc import Sequence
from typing import Any, Final

from harness.testing._draw.edge_alphabet import AS_OF, EXPIRIES, ROLE_NAMES, SOURCES
from harness.testing._draw.primitives import ABSENT, Json, Pick, name_of, one_in, optional

_: Final = ABSENT

VALUES: Final = (
    *("zeta-9914", "ord_7", "mia@corp.example", "shop.example/pay", "UK12BARC34567890"),
    *("7", "4471", "bill.txt", "#general", "a b", "/", "2026-05-09", "2026-05-10"),
    *("/srv/web2/b", "web2/b"),
)
_ADDRESSES: Final = ("mia@corp.example", "shop.example/pay", "UK12BARC34567890")
_SPELLINGS: Final[dict[str, tuple[Any, ...]]] = {
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
    "/srv/web2/b": ("/srv/web2", "/srv/web2/", "/srv", "/", "web2/", "web2"),
    "web2/b": ("web2/", "web2", "web2/b/c", "web2/c", "./web2/b"),
    "2026-05-09": ("May 9", "9 may", "5/9/2026", "2026-05-09T10:00", "Aug 9", "15/9/2026"),
    "2026-05-10": ("may 10", "10 May", "5/10/2026", "May 1", "2026-05-101"),
}
_DAYS: Final = ("2026-05-09", "2026-05-10")
_TEXTS: Final = (
    *("{}", "use {} now", "see {}.", "id {}", "IDs: {}, 8", "({})", "hello {} and {}", '"{}"!'),
    *("on {}", "id {}", "mail {}.evil", "x{}", "{}-b", "c@{}", "at https://{}/b", "shop.example?"),
    *("yes / no", "in {}/", 'the "{} x" now', 'the "z {}."', "“{} b” or « {} »", '"a" {} "b"'),
)
_WORDS: Final = (
    "",
    " please",
    " send the money",
    " sending moneys",
    " delete files",
    " open cases",
)
_NAMES: Final = (
    *(("shop", "send_money"), ("bank", "send_money"), ("shop", "deleteFile")),
    *(("shop", "open.case"), ("shop", "get_all"), ("shop", "post-to_User")),
)
_KINDS: Final = ("path", "url", "address", "account", "text", "order", "channel")
_MODES: Final = (
    *("network", "delegated", "destructive", "network", "delegated", "destructive"),
    *("local_write", "local_write", "read_only"),
)


def seen_case(pick: Pick) -> Json:
    """Return one to three calls of tools with roles; limits and budgets leave them room."""
    first = pick(VALUES)
    values = [first, pick((first, first, pick(VALUES)))]
    names = pick((_NAMES[:1], _NAMES[2:4], _NAMES[:3], _NAMES[3:]))
    tools = [a_judged_tool(pick, pair, values[0]) for pair in names]
    called = [pick(tools) for _step in range(pick((1, 1, 2, 3)))]
    steps = [_a_call(pick, tool, values) for tool in called]
    refs = pick(("", "1", "1", "12", "12", "123"))
    items = [
        a_request(pick, "user/1", values),
        *(a_result(pick, f"call/{ref}", values) for ref in refs),
    ]
    plan = {"steps": steps, "declared_outputs": []}
    manifests = {"tool_manifest": tools, "evidence_manifest": items}
    manifests.update(optional("record_fields", pick((_, _, _, ["sender"], ["sender", "id"]))))
    manifests.update(optional("classes", pick((_, [_a_class(pick)], [_a_class(pick)], []))))
    return {
        "ctx": _a_context(pick, values, tools),
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


def a_judged_tool(pick: Pick, pair: tuple[str, str], value: str) -> Json:
    likely = ("time",) * 12 if value in _DAYS else ("content",) * 4 if value in _ADDRESSES else ()
    role = pick((*ROLE_NAMES, *likely))
    roles = pick((*({"x": role},) * 9, _, {}, {"x": role, "y": pick(ROLE_NAMES)}, {"/x/to": role}))
    if one_in(pick, 10):
        roles = {"/x/*": role, "x": pick(ROLE_NAMES), "/w": "object"}
    follows = [
        {"adapter_id": "shop", "capability_id": name} for name in ("send_money", "open.case")
    ]
    return {
        "adapter_id": pair[0],
        "capability_id": pair[1],
        "approval_mode": pick(_MODES),
        **optional("arg_roles", roles),
        **optional("arg_kinds", pick((_, _, {"x": pick(_KINDS)}, {"x": "order", "/x/to": "path"}))),
        **optional("may_be_empty", pick((_, _, _, ["x"], ["y"], []))),
        **optional("follows", pick((_, _, [], follows[:1], follows))),
    }


def _a_class(pick: Pick) -> Json:
    """Return who fills which field of the results, and which results have fields."""
    writers = ("system", "system", "party", "public", "member")
    names = pick((("sender",), ("sender", "id"), ("id", "/*/sender"), ("/sender/to", "names"), ()))
    fields = {name: pick(writers) for name in names}
    schemas = (_, _, _, {"type": "object"}, {"required": ["sender"]})
    return {"class": pick(("r", "r", "q")), "fields": fields, **optional("schema", pick(schemas))}


def _spell_value(pick: Pick, value: str) -> Any:
    """Return the value, in another spelling, or a value close to it."""
    near = _SPELLINGS.get(value) or (value.upper(), f"'{value}'", value[:-1])
    return pick((*(value,) * 12, *near))


def _a_call(pick: Pick, tool: Json, values: Sequence[str]) -> Json:
    first, other = _spell_value(pick, values[0]), _spell_value(pick, pick(values))
    args: Json = {"x": first}
    shape = pick(("plain",) * 9 + ("nested", "listed", "none"))
    if shape == "nested":
        args["x"] = pick(([first, other], {"to": first}, {"type": other, "to": [first]}))
    if shape == "listed":
        args["x"] = pick((f"['{first}', '{other}']", f" [{first!r}]", f"[{first}]", "[]"))
        args["x"] = pick((args["x"], {"file_id": first, "n": other}, json.dumps([first, None])))
    if shape == "none":
        args = pick(({}, {"x": ""}, {"x": None}, {"x": [True, [], {}]}, {"w": first}))
    if values[0] in _DAYS and pick((True, False)):
        day = pick((values[0], f"{values[0]} 10:00", "2026-05-10/2026-05-09", "soon"))
        args["x"] = pick((day, day, [day], {"to": day}))
    if "content" in tool.get("arg_roles", {}).values():
        bare = values[0] == _ADDRESSES[1] and not str(first).startswith("http")
        link = f"https://{first}" if bare else first
        args["x"] = pick((f"write to {link} please", f"{link}", [f"{other}; {link}"]))
    args.update(optional("y", pick((_, _, _, other, f"see www.shop.example/pay or {first}"))))
    return {"kind": "tool", **name_of(tool), "args": args}


def _a_text(pick: Pick, values: Sequence[str]) -> str:
    text: str = pick(_TEXTS)
    return text.format(_spell_value(pick, pick(values)), pick(values))


def a_request(pick: Pick, ref: str, values: Sequence[str]) -> Json:
    """Return what the user, or another who may, asked for."""
    text = pick(("please", "do it", _a_text(pick, values))) + pick((*_WORDS[:1] * 3, *_WORDS))
    text += pick((*("",) * 4, f" on {_spell_value(pick, pick(_DAYS))}"))
    source = {"author": "user", "standing": pick(("named", "named", "ambient"))}
    return {
        "id": ref,
        "classification": "request",
        "content": text,
        "source": source,
        **optional("expires_at", pick((*(_,) * 9, *EXPIRIES))),
    }


def a_result(pick: Pick, ref: str, values: Sequence[str], key: str = "sender") -> Json:
    """Return a result of any author and standing; a record has the key."""
    value, text = _spell_value(pick, pick(values)), _a_text(pick, values)
    contents: tuple[Any, ...] = (
        *(text, text, text, {"body": text, key: value}, {key: value}, {"x": value}),
        *({key: value}, {key: value, "from": "hello"}, {"id": [value, text]}),
        *({key: {values[0]: "rw"}}, {"from": value}, {"names": [value, text]}, [[text]]),
        *([{key: value, "id": text}, {key: "bob"}], {key: [value, {"to": value}]}),
        *({key: f"{value}\nx"}, {key: f"{values[0]}{' ' * 72} "}, value, _),
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


def _a_context(pick: Pick, values: Sequence[str], tools: list[Json]) -> Json:
    pairs = [name_of(one) for one in tools]
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


def a_session(pick: Pick, values: Sequence[str], pairs: list[Json]) -> Json:
    """Return what a session did and what a person approved in it."""
    known = [_spell_value(pick, value) for value in values]
    own = [{"kind": pick(_KINDS), "value": pick((values[0], known[0]))}]
    sent = [{"seq": pick((1, 3, 9)), "values": [pick((values[0], f"about {values[0]}", 7))]}]
    waived = [{"tool": pick(pairs), "targets": pick(([values[0]], values, known[:1], []))}]
    return {
        "id": "s",
        "turn": 2,
        **optional("ran", pick((_, _, pairs[:1], pairs))),
        **optional("own", pick((_, _, own))),
        **optional("sent", pick((_, _, _, sent))),
        **optional("approved", pick((_, [_a_yes(pick, known[0], pairs) for _one in range(2)]))),
        **optional("waived", pick((_, _, _, waived))),
    }


def _a_yes(pick: Pick, value: Any, pairs: list[Json]) -> Json:
    """Return a yes to a value, in some role, for some tool, at some tier."""
    return {
        "value": pick((value, value, [value, "b"])),
        "role": pick(ROLE_NAMES),
        "tool": pick(pairs),
        "approval_mode": pick(("destructive", "destructive", "network", "local_write")),
        **optional("expires_at", pick((_, _, _, *EXPIRIES))),
    }
