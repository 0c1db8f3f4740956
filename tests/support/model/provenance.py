"""A slow, obvious second statement of provenance: what a value is worth in its role.

The classes are those of `tests.support.model.classes`.
"""

import re
from typing import NamedTuple

from tests.support.model.classes import (
    class_of,
    holds,
    is_approved,
    is_in,
    is_same,
    leaves,
    request,
    texts,
)
from tests.support.model.contents import found_in
from tests.support.model.days import Day, day_class, days_of
from tests.support.model.facts import RANKS, Json, approved, find_tool, same_pair, unexpired
from tests.support.model.kinds import (
    is_unreadable,
    links_in,
    mentions,
    shows_link,
    spelling,
    wide,
)
from tests.support.model.parting import WORD
from tests.support.model.requests import FUNCTION_WORDS
from tests.support.model.sources import NEAR, Seen, seen_in
from tests.support.model.values import (
    TARGETS,
    Value,
    once,
    roles_at,
    stem,
    stems_of_name,
    stems_of_text,
    values_of,
)

ALLOWED_ASKED = {
    "recipient": ("A U S O T F M", "Dm Dp Dw C L P W H"),
    "object": ("A U S O T F M", "Dm Dp Dw C L P W H"),
    "attribute": ("A U S O T F M Dm Dp Dw Rm Rp Rw N P W H", "C X L"),
    "locator": ("A U S O T F M C W Dm Rm", "Dp Dw Rp L P H"),
    "secret": ("A U S T", "Dm Dp Dw W"),
    "code": ("A U S O T W F C H P M Dm Dp Dw Rm Rp Rw X L", ""),
    "content": ("A U S O T F M C P W H L Dm Dp Rm N", "Dw K"),
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
SHORTEST_TITLE, LONGEST_TITLE = 3, 60
MOST_VALUES = 10_000


Worth = tuple[str, str]
"""A class, and whether it is allowed, asked or refused."""


class Judged(NamedTuple):
    """A value of a step, its role and its class, and whether it is allowed, asked or refused."""

    role: str
    place: str
    kind: str
    answer: str


# --- what a class is worth --------------------------------------------------------------------


def answer_of(p: Json, role: str, kind: str) -> str:
    if kind == "CP":
        both = [answer_of(p, role, one) for one in (("X",) if role == "content" else ("C", "P"))]
        return max(both, key=ORDER.index)
    allowed, asked = ALLOWED_ASKED[role]
    is_open = p["spec"]["provenance"] == "open"
    if (role, kind, p["spec"].get("party_recipients")) == ("recipient", "P", "allow"):
        return "allow"
    if (role, kind, is_open) == ("locator", "C", True):
        return "ask"
    if kind in allowed.split():
        return "allow"
    if kind in asked.split() or (is_open and kind in SOFTENED.get(role, "").split()):
        return "ask"
    return "refuse"


def worse(p: Json, role: str, kinds: list[str]) -> tuple[str, str]:
    """Return the class that is worth least; of two that are worth the same, the first."""
    return max(
        ((kind, answer_of(p, role, kind)) for kind in kinds), key=lambda one: ORDER.index(one[1])
    )


def judge(p: Json, tool: Json, value: Value) -> tuple[str, str]:
    """Return the class of a value and its worth: an expired item gives nothing and still doubts."""
    seen = seen_in(p)
    fresh = [one for one in seen if one.fresh]
    return worse(p, value.role, [class_of(p, tool, value, one) for one in (fresh, seen)])


def judged_values(p: Json, step: Json) -> list[Judged]:
    """Return the values of a step in order of place and role, each with its answer."""
    return [Judged(one.role, one.path, *worth) for one, worth in judged_items(p, step)]


def judged_items(p: Json, step: Json) -> list[tuple[Value, Worth]]:
    """Return what is judged of a step, each with its class and its answer."""
    tool, found = find_tool(p, step), []
    if "provenance" not in p["spec"] or tool is None or tool["approval_mode"] == "read_only":
        return []
    for value in once(values_of(tool, step["args"])):
        if value.role == "time":
            found += judged_days(p, tool, value)
        elif value.role == "content":
            found += judged_content(p, tool, value)
        else:
            found.append((value, judge(p, tool, value)))
    return found


# --- content ----------------------------------------------------------------------------------


def judged_content(p: Json, tool: Json, value: Value) -> list[tuple[Value, Worth]]:
    """Return the addresses, accounts and links in a text, each as its longest seen part."""
    found = [(seen, worth) for _, seen, worth in judged_parts(p, tool, value)]
    first = {(one.kind, spelling(one.kind, one.value)): (one, worth) for one, worth in found[::-1]}
    return list(first.values())[::-1]


def judged_parts(p: Json, tool: Json, value: Value) -> list[tuple[Value, Value, Worth]]:
    """Return each address, account and link as it is shown, with the part that is judged."""
    found = []
    for kind, parts, as_it_is in found_in(value.value):
        inside = [value._replace(kind=kind, value=one) for one in parts]
        judged = [(one, judge_part(p, tool, one, as_it_is=as_it_is)) for one in inside]
        seen = [one for one in judged if one[1][0] not in ("N", "K")]
        found.append((inside[0], *(seen or judged)[0]))
    return found


def asked_values(p: Json, step: Json) -> list[Value]:
    """Return the values that a person is asked about, of content as they are shown."""
    tool = find_tool(p, step) or {}
    plain = [one for one, worth in judged_items(p, step) if worth[1] == "ask"]
    texts_of = [one for one in once(values_of(tool, step["args"])) if one.role == "content"]
    shown = [one for text in texts_of for one in judged_parts(p, tool, text)]
    found = [one for one in plain if one.role != "content"]
    return found + [one for one, _, worth in shown if worth[1] == "ask"]


def judge_part(p: Json, tool: Json, value: Value, *, as_it_is: bool) -> Worth:
    """Return what one is worth; what only a reader makes of the text is granted by nothing."""
    kind, answer = judge(p, tool, value)
    if not as_it_is and kind not in ("X", "N"):
        seen = [leaf for _, leaf in texts(seen_in(p))]
        shown = any(mentions(value.value, leaf.text, value.kind) for leaf in seen)
        kind, answer = worse(p, "content", ["X" if shown else "N"])
    if value.kind != "url":
        return kind, answer
    letter, answer = judge_link(p, value, kind)
    doubted = not all(one.whole for one in seen_in(p)) and letter not in ("A", "U", "S", "O", "T")
    return letter, "ask" if doubted and answer == "allow" else answer


def judge_link(p: Json, link: Value, kind: str) -> Worth:
    """Return the class of the whole link, else that of its host, else that it stands nowhere."""
    host = re.split(r"[/?#]", wide(link.value).removeprefix("/"))[0]
    host = host if host.startswith("[") else host.partition(":")[0]
    has_query = re.search("[?#]", link.value) is not None
    if kind not in ("N", "H") or (kind == "H" and not has_query):
        return worse(p, "content", [kind])
    return worse(p, "content", ["K", *class_of_host(p, host)])


def class_of_host(p: Json, host: str) -> list[str]:
    """Return the class of a host in the texts of others, as in the best of them, or any doubt."""
    found = [(one, leaf) for one, leaf in texts(seen_in(p)) if shows_host(leaf.text, host)]
    said = [(one.standing, one.letter_of(leaf)) for one, leaf in found if one.fresh]
    for letter, standing in (("D", "named"), ("R", "reached")):
        for author in "mpw":
            if (standing, author) in said:
                return [letter + author]
    return ["X"] if found else []


def shows_host(text: str, host: str) -> bool:
    before, behind = rf"(?<!{WORD})(?<!{WORD}[.@-])", rf"(?!{WORD}|[.-]{WORD})"
    hosts = [one.host.split(":")[0] for one in links_in(text)]
    return shows_link(host, before, behind, text) or host in hosts


# --- days -------------------------------------------------------------------------------------


def judged_days(p: Json, tool: Json, value: Value) -> list[tuple[Value, Worth]]:
    """Return the days in a text, with where they were seen in place of a class."""
    found = []
    days: list[Day | None] = [*days_of(p, str(value.value))]
    for day in days or [None]:
        kind = "A" if is_approved(p, tool, value) else day_class(p, day)
        answer = "ask" if kind in ("ambient", "other", "unread") else "allow"
        found.append((value, (kind, answer)))
    return found


# --- what is missing, and what is said to nobody ------------------------------------------------


def is_empty_call(p: Json, tool: Json, step: Json) -> bool:
    """Return whether a call with recipients or objects names none of them."""
    roles, optional = tool.get("arg_roles", {}), tool.get("may_be_empty", [])
    needed = [name for name in roles if roles[name] in ("recipient", "object")]
    values = [one for one in values_of(tool, step["args"]) if one.role in ("recipient", "object")]
    above = RANKS.index(tool["approval_mode"]) > RANKS.index("local_write")
    return above and not values and any(name not in optional for name in needed)


def titles(p: Json, tool: Json, step: Json) -> list[str]:
    """Return the places of short texts of ambient sources, in an effect without any target."""
    if RANKS.index(tool["approval_mode"]) <= RANKS.index("local_write"):
        return []
    values, seen = values_of(tool, step["args"]), seen_in(p)
    aims = [one for one in values if one.role in TARGETS]
    if not all(is_own_address(p, tool, one, seen) for one in aims):
        return []
    short = [
        one
        for one in values
        if one.role == "content" and isinstance(one.value, str)
        if "content" in roles_at(tool, list(one.place))  # nor is the name of a mailbox
        if SHORTEST_TITLE <= len(one.value.strip()) <= LONGEST_TITLE
        if one.value != one.place[-1]  # the name of a member is no title
    ]
    return [one.path for one in short if is_foreign(one, seen)]


def is_own_address(p: Json, tool: Json, value: Value, seen: list[Seen]) -> bool:
    """Return whether it is an address or account of the user's that nobody else gave."""
    fresh = [one for one in seen if one.fresh]
    return value.kind in ("address", "account") and class_of(p, tool, value, fresh) == "S"


def is_foreign(value: Value, seen: list[Seen]) -> bool:
    """Return whether untrusted text holds it, expired or not, and the request none of its words."""
    apart = [leaf for one, leaf in texts(seen) if one.standing not in NEAR or not one.fresh]
    said = [word for text in request(seen) for word in stems_of_text(text)]
    dull = [stem(word) for word in FUNCTION_WORDS.split()]
    shared = any(word in said for word in stems_of_text(value.value) if word not in dull)
    return not shared and any(mentions(value.value, leaf.text) for leaf in apart)


# --- the tool ---------------------------------------------------------------------------------


def tool_answer(p: Json, step: Json) -> str:
    """Return whether the tool is in no doubt, asked about, or refused."""
    tool = find_tool(p, step)
    if "provenance" not in p["spec"] or tool is None or is_expected(p, tool, step):
        return "allow"
    connected = bool(waived(p)) or is_connected(p, tool, step)
    return "ask" if p["spec"]["provenance"] == "open" or connected else "refuse"


def is_expected(p: Json, tool: Json, step: Json) -> bool:
    """Return whether there is no doubt that the request is for this tool."""
    roles = list(tool.get("arg_roles", {}).values())
    acts = [role for role in roles if role in ("recipient", "object", "attribute", "secret")]
    ran = p["ctx"].get("session", {}).get("ran", [])
    asked_for = [word for text in request(seen_in(p)) for word in stems_of_text(text)]
    words = stems_of_name(tool["capability_id"])
    return (
        tool["approval_mode"] in ("read_only", "local_write")
        or ("locator" in roles and not acts)
        or any(same_pair(tool, one) for one in p["ctx"].get("scope", []))
        or (bool(words) and all(word in asked_for for word in words))
        or any(same_pair(one, other) for one in tool.get("follows", []) for other in ran)
        or (tool["approval_mode"] == "network" and all_named(p, tool, step))
        or is_waived(p, tool, step)
    )


def waived(p: Json) -> list[Json]:
    """Return the calls that a person said yes to for their tools, of each yes that holds."""
    given = p["ctx"].get("session", {}).get("waived", [])
    return [one for one in given if unexpired(p, one)]


def is_waived(p: Json, tool: Json, step: Json) -> bool:
    """Return whether a person said yes to this tool with the same target values, at least one."""
    ours = [value for value in targets(tool, step) if value.role in TARGETS]
    for one in waived(p):
        theirs = one["targets"]
        each = all(any(is_same(value, other) for other in theirs) for value in ours)
        back = all(any(is_same(value, other) for value in ours) for other in theirs)
        if ours and same_pair(one["tool"], tool) and each and back:
            return True
    return False


def all_named(p: Json, tool: Json, step: Json) -> bool:
    """Return whether it has recipients, and every one is requested or approved."""
    fresh = [one for one in seen_in(p) if one.fresh]
    values = [value for value in targets(tool, step) if value.role == "recipient"]
    return bool(values) and all(class_of(p, tool, one, fresh) in ("A", "U") for one in values)


def is_connected(p: Json, tool: Json, step: Json) -> bool:
    """Return whether a target is own or approved, or stands in the request or in a near source."""
    fresh = [one for one in seen_in(p) if one.fresh]
    near = [leaf for one, leaf in leaves(fresh) if one.standing in NEAR]
    return any(
        class_of(p, tool, value, fresh) in ("A", "U", "O")
        or any(is_in(as_read(value), text) for text in request(fresh))
        or any(holds(as_read(value), leaf) for leaf in near)
        for value in targets(tool, step)
    )


def as_read(value: Value) -> Value:
    """Return the value, as a text if it cannot be read as its kind."""
    return value._replace(kind="text") if is_unreadable(value.kind, value.value) else value


def targets(tool: Json, step: Json) -> list[Value]:
    """Return the values that the call acts on or reads."""
    values = values_of(tool, step["args"])
    return [value for value in values if value.role not in ("content", "time")]


# --- what the checks say of it ----------------------------------------------------------------


def is_beyond(p: Json, step: Json) -> bool:
    """Return whether a step has a value beyond those of a plan that are judged."""
    if "provenance" not in p["spec"]:
        return False
    steps = p["plan"]["steps"]
    before = steps[: [one is step for one in steps].index(True) + 1] if step in steps else [step]
    counts = [count_values(p, one) for one in before]
    return counts[-1] > 0 and sum(counts) > MOST_VALUES


def count_values(p: Json, step: Json) -> int:
    tool = find_tool(p, step)
    if tool is None or tool["approval_mode"] == "read_only":
        return 0
    values = once(values_of(tool, step["args"]))
    texts_of = [one for one in values if one.role == "content"]
    return len(values) - len(texts_of) + sum(len(list(found_in(one.value))) for one in texts_of)


def tool_is_refused(p: Json, step: Json) -> bool:
    return tool_answer(p, step) == "refuse" and not is_beyond(p, step)


def refused_values(p: Json, step: Json) -> list[str]:
    """Return the places of the values that are refused."""
    if is_beyond(p, step):
        return ["/args"]
    return [one.place for one in judged_values(p, step) if one.answer == "refuse"]


def asked_places(p: Json, step: Json) -> list[str]:
    """Return the places of the values that a person is asked about, and what else is in doubt."""
    tool = find_tool(p, step)
    asked = [one.place for one in judged_values(p, step) if one.answer == "ask"]
    if "provenance" not in p["spec"] or tool is None:
        return asked
    missing = ["/args"] if is_empty_call(p, tool, step) else []
    return asked + missing + titles(p, tool, step)


def doubts(p: Json, index: int) -> list[tuple[str, bool]]:
    """Return the place of each doubt that asks ("": the tool), and whether a person may clear it.

    In `closed` it cannot be cleared where both the tool and a value are in doubt or refused.
    """
    step = p["plan"]["steps"][index]
    if is_beyond(p, step):
        return []
    tool, asked = tool_answer(p, step), asked_places(p, step)
    both = tool != "allow" and bool(asked or refused_values(p, step))
    clearable = not both or p["spec"]["provenance"] == "open"
    if approved(p, index) and clearable:
        return []
    places = [""] if tool == "ask" else []
    return [(place, clearable) for place in places + asked]
