"""The most expensive plans: small on the wire, costly to judge."""

from collections.abc import Callable
from typing import Any, NamedTuple

import orjson

from critic import CompiledContext, DecisionSpec, RunContext

Json = dict[str, Any]

TINY_STEPS = 5000
CLASSES = 4000
VALUES = 2000
PHRASES = 200
WORDS_OF_TEXT = 40_000
CLASS = "k"


class Crafted(NamedTuple):
    """The inputs of one attack; the plan as bytes, since its size is what everything is held to."""

    ctx: RunContext
    compiled: CompiledContext
    spec: DecisionSpec
    plan: bytes


def _crafted(
    steps: list[Json], tools: list[Json], items: list[Json], *, ctx: Json, spec: Json | None = None
) -> Crafted:
    compiled: Json = {"manifests": {"tool_manifest": tools, "evidence_manifest": items}}
    return Crafted(
        RunContext(trace_id="t", **ctx),
        CompiledContext(**compiled),
        DecisionSpec(id="d", required_outputs=(), **(spec or {})),
        orjson.dumps({"steps": steps, "declared_outputs": []}),
    )


def _tool(mode: str = "read_only", **demands: Any) -> Json:
    return {"adapter_id": "a", "capability_id": "b", "approval_mode": mode, **demands}


def _call(**said: Any) -> Json:
    return {"kind": "tool", "adapter_id": "a", "capability_id": "b", **said}


def _generous(mode: str = "read_only") -> Json:
    return {"safety_mode": mode, "run_budget": {"max_steps": TINY_STEPS, "bucket_tokens": 0}}


def tiny_calls() -> Crafted:
    """5,000 steps that call one harmless tool: accepted."""
    return _crafted([_call()] * TINY_STEPS, [_tool()], [], ctx=_generous())


def tiny_reasons() -> Crafted:
    """5,000 steps of 17 bytes: accepted."""
    return _crafted([{"kind": "reason"}] * TINY_STEPS, [], [], ctx=_generous())


def tiny_strangers() -> Crafted:
    """5,000 steps outside the surface: as many violations."""
    return _crafted([_call()] * TINY_STEPS, [], [], ctx=_generous())


def tiny_outrages() -> Crafted:
    """5,000 steps that break everything a step can: above every mode, no evidence, repeated."""
    tool = _tool("destructive", requires_evidence=[CLASS])
    spec = {"approval_mode": "read_only", "approval_required_from": "local_write"}
    return _crafted([_call()] * TINY_STEPS, [tool], [], ctx=_generous(), spec=spec)


def confined_resembled() -> Crafted:
    """4,000 confined texts, and 4,000 calls that each send one but for a character: accepted."""
    return _sending(lambda number: f"https://intern.example/keys/{number:04}x/value")


def confined_sent() -> Crafted:
    """4,000 confined texts, and 4,000 calls that each send one: as many violations."""
    return _sending(lambda number: f"https://intern.example/keys/{number:04}/value")


def _sending(sent: Callable[[int], str]) -> Crafted:
    texts = [f"https://intern.example/keys/{number:04}/value" for number in range(CLASSES)]
    item = {"id": "e", "classification": CLASS, "content": texts}
    steps = [_call(args={"x": sent(number)}) for number in range(CLASSES)]
    spec = {"confined_evidence": [CLASS]}
    return _crafted(steps, [_tool("network")], [item], ctx=_generous("network"), spec=spec)


def _items(count: int, **more: Any) -> list[Json]:
    return [{"id": f"e{n}", "classification": f"{CLASS}{n}", **more} for n in range(count)]


def _refs(prefix: str = "e") -> list[str]:
    return [f"{prefix}{number}" for number in reversed(range(CLASSES))]


def _classes() -> list[str]:
    return [f"{CLASS}{number}" for number in range(CLASSES)]


def classes_met() -> Crafted:
    """Return a tool that requires 4,000 classes, and a step that pins a ref for each: accepted."""
    tool = _tool(requires_evidence=_classes())
    step = _call(evidence_refs=_refs())
    return _crafted([step], [tool], _items(CLASSES), ctx=_generous())


def classes_met_by_expiring() -> Crafted:
    """Return the same with evidence that expires later: accepted."""
    tool = _tool(requires_evidence=_classes())
    items = _items(CLASSES, expires_at="2026-05-10T00:00:00Z")
    ctx = {**_generous(), "as_of": "2026-05-09T09:45:00Z"}
    return _crafted([_call(evidence_refs=_refs())], [tool], items, ctx=ctx)


def classes_demanded_by_step() -> Crafted:
    """Return the same, with the classes required by the step: accepted."""
    step = _call(requires_evidence=_classes(), evidence_refs=_refs())
    return _crafted([step], [_tool()], _items(CLASSES), ctx=_generous())


def classes_unmet() -> Crafted:
    """4,000 classes required, and 4,000 refs that exist and are of no such class."""
    tool = _tool(requires_evidence=[f"other{number}" for number in range(CLASSES)])
    step = _call(evidence_refs=_refs())
    return _crafted([step], [tool], _items(CLASSES), ctx=_generous())


def classes_forged() -> Crafted:
    """4,000 classes required, and 4,000 refs behind which there is nothing."""
    tool = _tool(requires_evidence=_classes())
    step = _call(evidence_refs=_refs("f"))
    return _crafted([step], [tool], [], ctx=_generous())


def _bound(values: list[str], text: str) -> Crafted:
    tool = _tool(bound_args={"x": [CLASS]})
    item = {"id": "e", "classification": CLASS, "content": text}
    step = _call(args={"x": values}, evidence_refs=["e"])
    return _crafted([step], [tool], [item], ctx=_generous())


def values_in_texts() -> Crafted:
    """4,000 values of one argument, each in a separate text: accepted."""
    items = [
        {"id": f"e{number}", "classification": CLASS, "content": f"ord_{number}"}
        for number in range(CLASSES)
    ]
    args = {"x": [f"ord_{number}" for number in range(CLASSES)]}
    step = _call(args=args, evidence_refs=_refs())
    return _crafted([step], [_tool(bound_args={"x": [CLASS]})], items, ctx=_generous())


def _text() -> str:
    return " ".join(f"ord_{number}" for number in range(WORDS_OF_TEXT))


def values_in_text() -> Crafted:
    """2,000 bound values, each one word of a large text: accepted."""
    stride = WORDS_OF_TEXT // VALUES
    return _bound([f"ord_{number * stride}" for number in range(VALUES)], _text())


def phrases_in_text() -> Crafted:
    """200 bound values of two words, all towards the end of a large text: accepted."""
    start = WORDS_OF_TEXT - PHRASES - 1
    return _bound([f"ord_{start + n} ord_{start + n + 1}" for n in range(PHRASES)], _text())
