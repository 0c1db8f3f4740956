"""What can be missing of the evidence: violations of check 4, put into a sound proposal."""

from collections.abc import Sequence
from typing import Any, Final

from tests.support.generate.alphabet import AS_OF, FORGED, HOSTILE
from tests.support.generate.drawing import Pick
from tests.support.generate.parts import Fault, items, some_step, tool_step, tools
from tests.support.model.facts import Json


def unpinned(pick: Pick, p: Json) -> None:
    step = some_step(pick, p)
    step["evidence_refs"] = step.get("evidence_refs", [])[1:]


def forged(pick: Pick, p: Json) -> None:
    step = some_step(pick, p)
    step["evidence_refs"] = [*step.get("evidence_refs", []), pick((FORGED, "E1"))]


def flooded(pick: Pick, p: Json) -> None:
    """Mostly a few forged refs; now and then about a thousand."""
    count = pick((*(2,) * 30, 997, 999, 1000, 1001, 1500))
    step = some_step(pick, p)
    step["evidence_refs"] = [*step.get("evidence_refs", []), *(f"f{n}" for n in range(count))]


def expired(pick: Pick, p: Json) -> None:
    items(p)[0]["expires_at"] = pick(
        (AS_OF, "2026-05-09T15:30:00+05:30", "2026-05-09T09:59:59.999999Z")
    )


def undated(_pick: Pick, p: Json) -> None:
    p["ctx"].pop("as_of", None)


def other_class(pick: Pick, p: Json) -> None:
    pick(items(p))["classification"] = pick(("K", "k.x", "k"))


def demanded_by_step(pick: Pick, p: Json) -> None:
    some_step(pick, p)["requires_evidence"] = pick((["k", "k.x"], ["K"], ["nope", "nope"]))


def demanded_by_spec(pick: Pick, p: Json) -> None:
    p["spec"]["required_evidence"] = pick((["k.x"], ["k", "K", "k.x"]))


def unbacked(pick: Pick, p: Json) -> None:
    wrong: Sequence[Any] = (
        "pay",
        "24",
        2,
        False,
        "24500.",
        "1.00",
        24500.5,
        ["k"],
        "",
        "-",
        "PAY_1",
    )
    for tool in tools(p):
        tool["bound_args"] = pick(({"x": ["k"]}, {"x": ["k"], HOSTILE: ["K"]}, {"x": []}))
    step = tool_step(pick, p)
    if step["kind"] == "tool":
        step["args"] = {**step["args"], "x": pick(wrong)}


def backed_by_another_class(pick: Pick, p: Json) -> None:
    """Fresh and pinned evidence holds the value, and is of a class that may not back it."""
    step, item = tool_step(pick, p), pick(items(p))
    if step["kind"] != "tool":
        return
    item["content"] = 24500
    step["args"] = {**step["args"], "x": 24500}
    step["evidence_refs"] = [*step.get("evidence_refs", []), item["id"]]
    allowed = [name for name in ("k", "K", "nope") if name != item["classification"]]
    for tool in tools(p):
        tool["bound_args"] = {"x": [pick(allowed)]}


def other_content(pick: Pick, p: Json) -> None:
    for item in items(p):
        item["content"] = pick(
            (0, {"24500": "x"}, "PAY_1 refund", "24,500.5", [None], "pay_1\u0301")
        )


FAULTS_OF_EVIDENCE: Final[tuple[Fault, ...]] = (
    unpinned,
    forged,
    flooded,
    expired,
    undated,
    other_class,
    demanded_by_step,
    demanded_by_spec,
    unbacked,
    backed_by_another_class,
    other_content,
)
