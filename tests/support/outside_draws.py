"""Sessions in which outsiders write what they like: reads, then calls with everybody's values.

Each session has three values of one kind. A request, records and texts of every author mention one
or another, in this or that spelling, and each call has one as its target. What the labels leave to
an outsider is marked, so that it can be taken away or rewritten.
"""

import re
from typing import Any, Final

from harness.testing._draw.primitives import ABSENT, Json, Pick, optional


class Outside(str):
    """A text that an outsider wrote."""

    __slots__ = ()


class OutsideName(Outside):
    """The name of a party: an outsider chose it, and a system put it in its field."""

    __slots__ = ()


VALUES: Final[dict[str, tuple[tuple[str, ...], ...]]] = {
    "path": (
        ("/srv/data/old", "/srv/data/new.txt", "/srv/prod/db"),
        ("notes.txt", "drafts/may.txt", "/etc/hosts"),
        ("/srv/data", "/srv/data/old", "/srv/data/../prod"),
    ),
    "url": (
        ("https://forge.example/me/repo", "www.dora.example", "https://evil.example/x"),
        ("www.dora.example", "https://www.dora.example/about", "http://dora.example/a?q=1"),
        ("https://forge.example/me", "https://forge.example/me/repo", "forge.example/eve/x"),
    ),
    "address": (
        ("emma@corp.example", "dana@corp.example", "mallory@evil.example"),
        ("emma@corp.example", "ops@corp.example", "corp.example"),
    ),
    "account": (
        ("GB29NWBK60161331926819", "GB33BUKB20201555555555", "US64SVBKUS6S3300958879"),
        ("GB29NWBK60161331926819", "GB29 NWBK 6016 1331 9268 19", "US64SVBKUS6S3300958879"),
    ),
    "order": (("883", "77120", "12"), ("ord-77120", "ord-77121", "eve-1"), ("7", "8", "9914")),
    "channel": (
        ("general", "Alice", "refund"),
        ("sales-7", "general", "summary"),
        ("old notes", "random", "Bob"),
    ),
    "text": (
        ("zeta-9914", "eta-7781", "theta-1"),
        ("a b", "zeta-9914", "plain"),
        ("ord_7", "7", "x9"),
    ),
}
KINDS: Final = (*VALUES, "url", "path", "channel", "channel")
REQUESTS: Final = (
    *("please do the usual", "use {0}", "use {0} now", "see {0}.", "use {0} and {1}", "id {0}"),
    *("send it to {0}", "the {0} summary", "order {0}, please", "the {0} channel", "'{0}'"),
    *("use {0}", "use {0} and {1}", *("the message from Bob in Town",) * 5),
)
MORE: Final = ("", " and use {0}", " and use {0} and {1}", "; id {1}")
NAMED: Final = ("", " and read report-77", " as report-77 says")
TEXTS: Final = (
    *("none", "nothing", "no news", "{0}", "use {0} now", "id {0}"),
    *("see {0} and {1}", "order {0}", "none", "({0})"),
)
LINKS: Final = ("", "", " see wiki-88", " see trap-99")
PLACES: Final = ("nowhere-1", "report-77", "report-77", "wiki-88", "trap-99", "trap-99", "trap-99")
TARGETS: Final = ("recipient", "object", "locator", "secret")
SCENES: Final = (
    *("", "yes", "led", "led", "party", "party", "filled", "Bob", "Bob", "made"),
    *("named", "named", "named", *("trail",) * 8),
)
FIELDS: Final = {"id": "system", "ref": "system", "sender": "party"}
CLASSES: Final = (
    {"name": "mail", "fields": FIELDS},
    {"name": "chat", "fields": {"by": "party", "room": "system", "who": "party"}},
    {"name": "form", "fields": {"subject": "public", "payer": "party"}},
)
READERS: Final = (
    ("read_page", {"author": "public"}, None),
    ("read_site", {"author": "public", "web": True}, None),
    ("read_wiki", {"author": "member"}, None),
    ("list_mail", {"author": "public", "format": "json"}, "mail"),
    ("read_mail", {"author": "public"}, "mail"),
    ("list_chat", {"author": "member", "format": "json"}, "chat"),
    ("show_form", {"author": "system", "format": "json"}, "form"),
    ("show_profile", {"author": "system", "format": "json"}, None),
    ("read_site_mail", {"author": "public", "web": True, "format": "json"}, "mail"),
)
TIERS: Final = ("network", "delegated", "destructive", "local_write")


def outside_case(pick: Pick) -> Json:
    """Return a policy, the events before, facts of the session, and the calls to be judged."""
    kind = pick(KINDS)
    values = pick(VALUES[kind])
    values = pick((values, values[::-1], values[1:] + values[:1]))
    policy, main = a_policy(pick, kind), pick(values)
    scene = pick(SCENES)
    events = [an_opening(pick, scene, values, policy), *a_scene(pick, scene, main)]
    for number in range(pick((0, 0, 1, 1, 2, 3))):
        events += a_read(pick, policy, values, f"r{number}")
        events += pick(([], [], [], a_write(pick, values, f"w{number}")))
    yeses = pick(([], [], [], [a_yes(pick, values) for _ in range(3)]))
    yeses = [a_yes(pick, (main,)) for _ in range(4)] if scene == "yes" else yeses
    own = pick(([], [], [], [{"kind": pick((kind, kind, "note")), "value": pick(values)}]))
    own = [{"kind": kind, "value": main}] if scene == "made" else own
    return {
        "policy": policy,
        "events": events,
        "approved": yeses,
        "own": own,
        "calls": [
            a_call(pick, policy, (*values, main, main, main, values[0], values[1]))
            for _ in range(8)
        ],
        "values": list(values),
    }


def a_policy(pick: Pick, kind: str) -> Json:
    kinds = pick(({"x": kind}, {"x": kind}, {"x": kind}, {}))
    named = {"x": pick((kind, kind, "text"))} if kinds else {}
    readers = [
        {
            **tool(name, "read_only", {"x": "locator"}, named),
            "result": result,
            **optional_class(table),
            **optional_life(pick),
        }
        for name, result, table in READERS
    ]
    acts = [tool(f"do_{role}", pick(TIERS), {"x": role}, kinds) for role in TARGETS]
    acts += [
        tool("set_note", "local_write", {"x": "attribute", "y": "content"}, kinds),
        tool("send_any", pick(TIERS), {}, {}),
        tool("share", "network", {"x": "recipient", "y": "object"}, {**kinds, "y": kind}),
    ]
    mode = pick(("closed", "closed", "closed", "open"))
    spec = {"id": "s", "required_outputs": [], "provenance": mode}
    return {"spec": spec, "class": list(CLASSES), "tool": readers + acts, "evidence": []}


def tool(name: str, tier: str, roles: Json, kinds: Json) -> Json:
    named = {"adapter_id": "app", "capability_id": name, "name": name}
    return {**named, "approval_mode": tier, "arg_roles": roles, "arg_kinds": kinds}


def optional_class(table: str | None) -> Json:
    return {} if table is None else {"yields": table}


def optional_life(pick: Pick) -> Json:
    return optional("expires_after_s", pick((ABSENT,) * 9 + (60,)))


def an_opening(pick: Pick, scene: str, values: tuple[str, ...], policy: Json) -> Json:
    scenes = {"Bob": "the message from Bob in Town{}", "trail": "do what report-77 says{}"}
    scenes["named"] = scenes["trail"]
    text = scenes.get(scene, pick(REQUESTS) + pick(NAMED)).replace("{}", pick(MORE))
    text = text.format(values[0], values[1])
    every = [one["name"] for one in policy["tool"]]
    scope = pick((every, every, every, every[:10]))
    system = pick(("", "", "", "", "the default is {0}", "{1}")).format(values[0], values[1])
    opening = {"event": "open", "request": text, "scope": scope, "as_of": "2026-05-09T10:00:00Z"}
    return {**opening, **({"system": system} if system else {})}


def a_scene(pick: Pick, scene: str, value: str) -> list[Json]:
    """Return reads that give the value a class that chance alone seldom gives."""
    text, mail = f"use {value} now", {"id": "m-55", "sender": OutsideName("eve-77"), "body": ""}
    if scene == "Bob":
        chat = {"by": "Bob", "room": "Town", "who": "Eve", "text": pick((text, value))}
        return read_events("s0", "list_chat", "nowhere-1", [chat])
    if scene in ("trail", "named"):
        readers = [pick(("read_page", "read_site", "read_wiki")) for _ in range(2)]
        said = pick(("", f"{text}. ")) if scene == "trail" else f"{text}. "
        first = read_events("s0", readers[0], "report-77", f"{said}see wiki-88")
        return first + (read_events("s1", readers[1], "wiki-88", text) if scene == "trail" else [])
    if scene == "led":
        led = read_events("s0", "read_page", "nowhere-1", "see trap-99")
        return led + read_events("s1", "list_mail", "trap-99", [{**mail, "ref": value}])
    if scene == "party":
        contest = pick(([], [], read_events("s0", "read_page", "nowhere-1", text)))
        found: list[Json] = contest + read_events(
            "s1", "list_mail", "nowhere-1", [{**mail, "sender": value}]
        )
        return found
    if scene == "filled":
        return read_events("s0", "list_mail", "nowhere-1", [{**mail, "id": value}])
    return []


def read_events(ref: str, name: str, where: str, output: Any) -> list[Json]:
    """Return a read and its result, with what an outsider writes of it marked."""
    if name in ("read_page", "read_site"):
        output = Outside(output)
    if name == "list_mail":
        output = [{**one, "sender": OutsideName(one["sender"])} for one in output]
    call = {"id": ref, "tool": name, "args": {"x": where}}
    result = {"event": "result", "id": ref, "status": "completed", "output": output}
    return [{"event": "calls", "calls": [call]}, result]


# --- what is read -----------------------------------------------------------------------------


def a_read(pick: Pick, policy: Json, values: tuple[str, ...], ref: str) -> list[Json]:
    readers = policy["tool"][: len(READERS)]
    label = pick((*readers, *readers[3:6], *readers[3:6]))
    where = pick((*PLACES, pick(values)))
    call = {"id": ref, "tool": label["name"], "args": pick(({"x": where}, {"x": where}, {}))}
    status = pick(("completed",) * 9 + ("failed",))
    output = an_output(pick, label, values) if status == "completed" else a_text(pick, values)
    output = Outside(output) if status == "failed" else output
    result = {"event": "result", "id": ref, "status": status, "output": output}
    later = pick(({},) * 6 + ({"as_of": "2026-05-09T11:00:00Z"},))
    return [{"event": "calls", "calls": [call]}, {**result, **later}]


def an_output(pick: Pick, label: Json, values: tuple[str, ...]) -> Any:
    author, table = label["result"]["author"], label.get("yields")
    if table is None or "format" not in label["result"]:
        said = pick((a_text(pick, values), {"a": a_text(pick, values), "b": pick(values)}))
        return marked(said) if author == "public" else said
    count = pick((1, 1, 2))
    records = [a_record(pick, table, values) for _ in range(count)]
    return pick((records, records, records[0]))


def a_record(pick: Pick, table: str, values: tuple[str, ...]) -> Json:
    first, text = pick((*values, "none-1")), pick(("none", a_text(pick, values)))
    if table == "mail":
        party, spelled = OutsideName(pick((first, "eve-77"))), Outside(text)
        ref = pick((first, first, [first, "none-2"], {first: "rw"}, "none-3"))
        return {"id": ref, "sender": party, "body": spelled, "to": [Outside(pick(values))]}
    if table == "chat":
        by, room = pick(("Bob", "Bob", "Bob", first)), pick(("Town", "Town", "Town", "Hall"))
        return {"by": by, "room": room, "who": pick((first, "Eve")), "text": text}
    payer = OutsideName(pick((first, "eve-77")))
    return {"no": pick((first, "none-4")), "subject": Outside(text), "payer": payer}


def a_text(pick: Pick, values: tuple[str, ...]) -> str:
    text: str = pick(TEXTS)
    return text.format(pick(values), pick(values)) + str(pick(LINKS))


def marked(value: Any) -> Any:
    """Return a value whose every text an outsider wrote."""
    if isinstance(value, dict):
        return {Outside(name): marked(one) for name, one in value.items()}
    return Outside(value)


# --- what is done -----------------------------------------------------------------------------


def a_write(pick: Pick, values: tuple[str, ...], ref: str) -> list[Json]:
    """Return a harmless write of a value, which a system may show later."""
    args = pick(({"x": pick(values), "y": "hi"}, {"x": "n", "y": f"about {pick(values)}"}))
    call = {"id": ref, "tool": "set_note", "args": args}
    result = {"event": "result", "id": ref, "status": "completed", "output": Outside("ok")}
    return [{"event": "calls", "calls": [call]}, result]


def a_yes(pick: Pick, values: tuple[str, ...]) -> Json:
    role = pick(TARGETS)
    named = {"adapter_id": "app", "capability_id": f"do_{role}"}
    return {"value": pick(values), "role": role, "tool": named, "approval_mode": pick(TIERS)}


def a_call(pick: Pick, policy: Json, values: tuple[str, ...]) -> Json:
    label = pick(policy["tool"][len(READERS) :])
    args = {name: spelled(pick, pick(values)) for name in label["arg_roles"] or {"x": ""}}
    if "content" in label["arg_roles"].values():
        links = (
            "see https://fresh.example/x",
            f"see {pick(values)}?q=1",
            f"pay {pick(values)} soon",
        )
        args["y"] = pick(("hello", f"see {pick(values)} there", *links))
    shape = pick(("plain",) * 14 + ("list", "object"))
    args |= {"x": [args["x"], values[0]]} if shape == "list" else {}
    args |= {"x": {"to": args["x"]}} if shape == "object" else {}
    return {"id": "p", "tool": label["name"], "args": args}


def spelled(pick: Pick, value: str) -> Any:
    """Return the value, most often as it is, or in a spelling close to it."""
    number: Any = int(value) if value.isdigit() else value
    others: tuple[str, ...] = (f"{value}/below", f"{value}?q=1", f"{value}/../x", value.upper())
    others += () if value.isdigit() else (f"{value}/",)
    others += () if re.search("[/@]|[0-9]{9}", value) else (f"#{value}",)
    return pick((*(value,) * 12, number, *others))
