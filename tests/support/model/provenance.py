"""A slow, obvious second statement of provenance: where a value comes from, and what that allows.

A class is a letter; that of a text carries its author: `m` a member, `p` the public, `w` a web
page. `A` approved, `U` request, `S` operator, `O` own, `T` system of record, `F` a field, `C` a
field that other text mentions, `D` text of a named source, `R` of a reached one, `X` of any other,
`L` a field of a led source, `N` not seen.
"""

from typing import Any, NamedTuple

from tests.support.model.days import day_class, days_in
from tests.support.model.facts import Json, approved, find_tool, same_pair, scalars, unexpired
from tests.support.model.sources import NEAR, Seen, by, mentions, requested, seen_in
from tests.support.model.values import (
    addresses_in,
    host_of,
    hosts_in,
    once,
    scalars_with_roles,
    spelling,
    stems_of_name,
    stems_of_text,
    values_in,
)

ALLOWED_ASKED = {
    "recipient": ("A U S O T F", "Dm Dp Dw C L"),
    "object": ("A U S O T F", "Dm Dp Dw C L"),
    "attribute": ("A U S O T F Dm Dp Dw Rm Rp Rw N", "C X L"),
    "locator": ("A U S O T F C Dm Rm", "Dp Dw Rp L"),
    "secret": ("A U S T", "Dm Dp Dw"),
    "code": ("A U S O T F C Dm Dp Dw Rm Rp Rw X L", ""),
    "content": ("A U S O T F Dm Dp Rm C N L", "Dw"),
}
"""For each role what `closed` allows and what it asks about; it refuses the rest."""
SOFTENED = {
    "recipient": "Rm Rp Rw X",
    "object": "Rm Rp Rw X N",
    "locator": "Rm Rp Rw X",
    "secret": "Rm Rp Rw X",
    "content": "Rm Rp Rw X",
}
"""What `open` asks about where `closed` refuses."""
ORDER = ("allow", "ask", "refuse")


class Judged(NamedTuple):
    """A value of a step, its role and its class, and whether it is allowed, asked or refused."""

    role: str
    place: str
    kind: str
    answer: str


# --- the class of a value ---------------------------------------------------------------------


def class_of(p: Json, seen: list[Seen], role: str, value: str) -> str:
    """Return the first class that holds."""
    holds = {
        "A": is_approved(p, value),
        "U": requested(seen, value),
        "S": any(mentions(one, value) for one in by(seen, "operator")),
        "O": is_own(p, seen, role, value),
        "T": any(value in one.fields or mentions(one, value) for one in by(seen, "system")),
    }
    return next((kind for kind in holds if holds[kind]), class_in_results(seen, value))


def class_in_results(seen: list[Seen], value: str) -> str:
    """Return the class of a value that only what members, the public and web pages wrote holds."""
    results = [one for one in seen if one.author in ("m", "p", "w")]
    standings = [one.standing for one in results if value in one.fields]
    texts = [(one.standing, one.author) for one in results if mentions(one, value)]
    if any(standing != "led" for standing in standings):
        return "C" if any(standing != "named" for standing, _ in texts) else "F"
    for letter, standing in (("D", "named"), ("R", "reached")):
        for author in ("m", "p", "w"):
            if (standing, author) in texts:
                return letter + author
    unseen = "L" if standings else "N"
    return "X" if texts else unseen


def is_approved(p: Json, value: str) -> bool:
    """Return whether a person approved the value, as a whole and until later than now."""
    approvals = p["ctx"].get("session", {}).get("approved", [])
    return any(
        value != ""
        and value
        in [spelling(one) for leaf in scalars(approval["value"]) for one in values_in(leaf)]
        and unexpired(p, approval)
        for approval in approvals
    )


def is_own(p: Json, seen: list[Seen], role: str, value: str) -> bool:
    session, host = p["ctx"].get("session", {}), host_of(value)
    request = [text for one in by(seen, "user") for text in one.texts]
    if host in [named for text in request for named in hosts_in(text)]:
        return True
    if role == "locator" and host in [
        host_of(spelling(one)) or spelling(one) for one in session.get("hosts", [])
    ]:
        return True
    made = [spelling(one) for one in session.get("own", [])]
    return role in ("object", "attribute", "locator") and value != "" and value in made


# --- what a class is worth --------------------------------------------------------------------


def answer_of(p: Json, role: str, kind: str) -> str:
    allowed, asked = ALLOWED_ASKED[role]
    is_open = p["spec"]["provenance"] == "open"
    if (role, kind, p["spec"].get("field_recipients")) == ("recipient", "F", "ask"):
        return "ask"
    if (role, kind, is_open) == ("locator", "C", True):
        return "ask"
    if kind in allowed.split():
        return "allow"
    if kind in asked.split() or (is_open and kind in SOFTENED.get(role, "").split()):
        return "ask"
    return "refuse"


def judge(p: Json, role: str, value: str) -> tuple[str, str]:
    """Return the class of a value and its worth.

    An expired source contests and gives no authority: the worse answer with it and without it.
    """
    kinds = [class_of(p, seen_in(p, expired=expired), role, value) for expired in (False, True)]
    return max(
        ((kind, answer_of(p, role, kind)) for kind in kinds), key=lambda one: ORDER.index(one[1])
    )


def judged_values(p: Json, step: Json) -> list[Judged]:
    """Return the values of a step in order of place and role, each with its answer."""
    tool, found = find_tool(p, step), []
    if "provenance" not in p["spec"] or tool is None or tool["approval_mode"] == "read_only":
        return []
    for role, place, value in scalars_with_roles(tool, step["args"]):
        for one in once(addresses_in(value) if role == "content" else values_in(value)):
            if role == "time":
                found += judged_days(p, place, one)
            else:
                found.append(Judged(role, place, *judge(p, role, spelling(one))))
    return found


def judged_days(p: Json, place: str, value: Any) -> list[Judged]:
    """Return the days in a text, with where they were seen in place of a class."""
    found = []
    for day in days_in(spelling(value)):
        kind = "A" if is_approved(p, spelling(value)) else day_class(p, day)
        answer = "ask" if kind in ("ambient", "other") else "allow"
        found.append(Judged("time", place, kind, answer))
    return found


# --- the tool ---------------------------------------------------------------------------------


def tool_answer(p: Json, step: Json) -> str:
    """Return whether the tool is in no doubt, asked about, or refused."""
    tool = find_tool(p, step)
    if "provenance" not in p["spec"] or tool is None or is_expected(p, tool, step):
        return "allow"
    connected = p["ctx"].get("session", {}).get("scope_waived") or is_connected(p, tool, step)
    return "ask" if p["spec"]["provenance"] == "open" or connected else "refuse"


def is_expected(p: Json, tool: Json, step: Json) -> bool:
    """Return whether there is no doubt that the request is for this tool."""
    roles = list(tool.get("arg_roles", {}).values())
    acts = [role for role in roles if role in ("recipient", "object", "attribute", "secret")]
    ran = p["ctx"].get("session", {}).get("ran", [])
    request = [text for one in by(seen_in(p, expired=False), "user") for text in one.texts]
    asked_for = [stem for text in request for stem in stems_of_text(text)]
    words = stems_of_name(tool["capability_id"])
    return (
        tool["approval_mode"] in ("read_only", "local_write")
        or ("locator" in roles and not acts)
        or any(same_pair(tool, one) for one in p["ctx"].get("scope", []))
        or (bool(words) and all(word in asked_for for word in words))
        or any(same_pair(one, other) for one in tool.get("follows", []) for other in ran)
        or (tool["approval_mode"] == "network" and all_named(p, tool, step))
    )


def all_named(p: Json, tool: Json, step: Json) -> bool:
    """Return whether it has recipients, and every one is requested, own or approved."""
    seen = seen_in(p, expired=False)
    values = [value for role, value in targets(tool, step) if role == "recipient"]
    return bool(values) and all(
        class_of(p, seen, "recipient", value) in ("A", "U", "O") for value in values
    )


def is_connected(p: Json, tool: Json, step: Json) -> bool:
    """Return whether a target is requested, own or approved, or in a named or reached source."""
    seen = seen_in(p, expired=False)
    near = [one for one in seen if one.author not in ("user", "operator") and one.standing in NEAR]
    return any(
        class_of(p, seen, role, value) in ("A", "U", "O")
        or any(value in one.fields or mentions(one, value) for one in near)
        for role, value in targets(tool, step)
    )


def targets(tool: Json, step: Json) -> list[tuple[str, str]]:
    """Return the values that the call acts on or reads, with their roles."""
    return [
        (role, spelling(one))
        for role, _, value in scalars_with_roles(tool, step["args"])
        if role not in ("content", "time")
        for one in values_in(value)
    ]


# --- what the checks say of it ----------------------------------------------------------------


def tool_is_refused(p: Json, step: Json) -> bool:
    return tool_answer(p, step) == "refuse"


def refused_values(p: Json, step: Json) -> list[str]:
    """Return the places of the values that are refused."""
    return [one.place for one in judged_values(p, step) if one.answer == "refuse"]


def doubts(p: Json, index: int) -> list[tuple[str, bool]]:
    """Return the place of each doubt that asks ("": the tool), and whether a person may clear it.

    In `closed` it cannot be cleared where both the tool and a value are in doubt or refused.
    """
    step = p["plan"]["steps"][index]
    tool, values = tool_answer(p, step), judged_values(p, step)
    both = tool != "allow" and any(one.answer != "allow" for one in values)
    clearable = not both or p["spec"]["provenance"] == "open"
    if approved(p, index) and clearable:
        return []
    asked = [""] if tool == "ask" else []
    asked += [one.place for one in values if one.answer == "ask"]
    return [(place, clearable) for place in asked]
