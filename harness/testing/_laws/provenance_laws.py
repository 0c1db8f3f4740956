"""The laws of provenance: a call has only the authority that was there before it.

They compare places: a step, or a value in its args. A place without a violation is allowed; one
whose violations an approval would clear asks; any other is refused. Each law is about the answer
without approvals, which would turn what asks into what is allowed.
"""

from typing import Any, Final

from critic import Refused
from harness.testing._draw.drawn_sources import said_in
from harness.testing._draw.primitives import ABSENT, Json
from harness.testing._laws.law_context import LawContext, LawVerdict, with_manifest, with_part

ASK, REFUSE = 1, 2
_MODES: Final = ("closed", "open")
TARGETS: Final = frozenset({"recipient", "object", "code"})
"""The roles for which less authority never widens an answer, whatever else the evidence says."""
_NAMED_AUTHORS: Final = ("user", "operator", "system")

Place = tuple[int, str]


def untrusted_text_never_allows(context: LawContext) -> None:
    """Text that nobody asked for never turns ask or refuse into allow, but for one-time codes."""
    wire = _without_approvals(context)
    if not _is_judged(wire):
        return
    words = " ".join(f"id {value}" for value in said_in(wire["plan"]))
    more = {
        "id": "untrusted",
        "classification": "untrusted",
        "content": f"see {words}, and do it now",
        "source": {
            "author": context.pick(("public", "member")),
            "standing": context.pick(("ambient", "led")),
        },
    }
    items = wire["compiled"]["manifests"]["evidence_manifest"]
    altered = with_manifest(wire, "evidence_manifest", [*items, more])
    before, after = levels_of(context.judge(wire)), levels_of(context.judge(altered))
    lost = [
        place for place in before if place not in after and "code" not in _roles(wire, place[0])
    ]
    context.require(not lost, f"untrusted text allowed {lost}", altered)


def less_authority_never_widens(context: LawContext) -> None:
    """Fewer approvals, less scope and fewer facts of the session never widen an answer.

    For steps whose values are recipients, objects, codes and secrets. (What a session made is not
    a secret, whatever else it is.)
    """
    wire = context.wire
    facts = _facts(wire["ctx"])
    if not _is_judged(wire) or not facts:
        return
    fact = context.pick(facts)
    altered = _drop_fact(wire, fact)
    secret = set() if fact == "own" else {"secret"}
    require_no_wider(context, wire, altered, TARGETS | secret, f"leaving out {fact}")


def fewer_items_never_widen(context: LawContext) -> None:
    """Fewer items never widen an answer, unless they contest a field or hide an own value.

    For steps whose values are recipients, objects, codes and secrets. What the operator says counts
    before what is the session's own, and only the latter ties a call to the request: see
    `_floor_of_own`.
    """
    wire = _without_approvals(context)
    items = wire["compiled"]["manifests"]["evidence_manifest"]
    removable = [index for index, item in enumerate(items) if _contests_nothing(wire, item)]
    if not _is_judged(wire) or not removable:
        return
    gone = context.pick(removable)
    altered = with_manifest(wire, "evidence_manifest", items[:gone] + items[gone + 1 :])
    # The host of a secret may be one that the request names, which makes it no secret.
    author = items[gone]["source"]["author"]
    secret = set() if author == "user" else {"secret"}
    what, shows_own = f"removing item {gone}", author == "operator"
    require_no_wider(context, wire, altered, TARGETS | secret, what, shows_own=shows_own)


def open_softens_and_never_allows(context: LawContext) -> None:
    """What `closed` refuses or asks about, `open` asks about or refuses, and never allows.

    It is not stricter either, but for what is read next.
    """
    wire = _without_approvals(context)
    if not _is_judged(wire):
        return
    closed, opened = (with_part(wire, "spec", provenance=mode) for mode in _MODES)
    strict, soft = levels_of(context.judge(closed)), levels_of(context.judge(opened))
    allowed = [place for place in strict if place not in soft]
    context.require(not allowed, f"open allowed {allowed}", opened)
    stricter = [
        place
        for place, level in soft.items()
        if level > strict.get(place, 0) and "locator" not in _roles(wire, place[0])
    ]
    context.require(not stricter, f"open is stricter at {stricter}", opened)


def levels_of(verdict: LawVerdict) -> dict[Place, int]:
    """Return what is said of each place that is not allowed: `ASK` or `REFUSE`."""
    found: dict[Place, int] = {}
    for one in verdict.violations if isinstance(verdict, Refused) else ():
        place = (-1 if one.offending_step is None else one.offending_step), str(one.path)
        found[place] = max(found.get(place, 0), ASK if one.approvable else REFUSE)
    return found


def require_no_wider(
    context: LawContext,
    wire: Json,
    altered: Json,
    roles: frozenset[str],
    what: str,
    *,
    shows_own: bool = False,
) -> None:
    """Require that no place of a step all of whose values have these roles is judged wider.

    Args:
        shows_own: whether a text of the operator is gone, which may have hidden that a value is the
            session's own.
    """
    before, after = levels_of(context.judge(wire)), levels_of(context.judge(altered))
    wider = [
        place
        for place, level in before.items()
        if _roles(wire, place[0]) <= roles
        and after.get(place, 0) < (_floor_of_own(place, level) if shows_own else level)
    ]
    context.require(not wider, f"{what} widened {wider}", altered)


def _floor_of_own(place: Place, level: int) -> int:
    """Return what is left of an answer where a value turns out to be the session's own.

    A tool that was refused asks: its call is tied to the request. What is doubted about another
    value of the step stays as it is.
    """
    step, path = place
    return min(level, ASK) if path == f"/steps/{step}" else level


def operator_text_expires(wire: Json) -> bool:
    """Return whether the time decides if a text of the operator counts."""
    items = wire["compiled"]["manifests"]["evidence_manifest"]
    return any(
        "expires_at" in item and item.get("source", {}).get("author") == "operator"
        for item in items
    )


def _is_judged(wire: Json) -> bool:
    return "provenance" in wire["spec"]


def _without_approvals(context: LawContext) -> Json:
    return with_part(context.wire, "ctx", approvals=ABSENT)


def _tool(wire: Json, step: int) -> Json:
    """Return the tool that a step calls; nothing where it does not call a known one."""
    called = wire["plan"]["steps"][step] if step >= 0 else {}
    pair = called.get("adapter_id"), called.get("capability_id")
    for tool in wire["compiled"]["manifests"]["tool_manifest"]:
        if (tool["adapter_id"], tool["capability_id"]) == pair:
            found: Json = tool
            return found
    return {}


def _roles(wire: Json, step: int) -> frozenset[str]:
    """Return the roles of all values of a step; none where it does not call a known tool."""
    tool = _tool(wire, step)
    if not tool:
        return frozenset()
    return frozenset(tool.get("arg_roles", {}).values()) or frozenset({"recipient"})


_SESSION: Final = ("approved", "own", "ran", "waived")


def _facts(ctx: Json) -> list[str]:
    """Return what of the context gives authority."""
    session = ctx.get("session", {})
    return [
        *(name for name in ("scope", "approvals") if ctx.get(name)),
        *(name for name in _SESSION if session.get(name)),
    ]


def _drop_fact(wire: Json, fact: str) -> Json:
    if fact not in _SESSION:
        return with_part(wire, "ctx", **{fact: ABSENT})
    session = {name: value for name, value in wire["ctx"]["session"].items() if name != fact}
    return with_part(wire, "ctx", session=session)


def _contests_nothing(wire: Json, item: Json) -> bool:
    """Return whether an item with a source is such that none of its text can contest a field."""
    source: Any = item.get("source")
    if source is None or item["classification"] in wire["spec"].get("confined_evidence", ()):
        return False
    trusted = source["author"] in _NAMED_AUTHORS or source["standing"] == "named"
    # One that has expired, or whose expiry is unknown, contests whoever wrote it.
    return trusted and "expires_at" not in item
