"""Plans that pass, drawn step by step from what a manifest, a spec and a context leave room for.

By construction, not by trial: nothing here asks `verify`, so a wrong `verify` cannot hide itself.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from hypothesis import strategies as st

from critic import Plan, ToolCapability, digest
from evals.schemas import compile_schema
from harness.canonical import canonical_json
from harness.testing._draw.bounds import Bounds, NoPlan, Pair, held_values
from harness.testing._draw.json_values import NoValue, object_for
from harness.testing._draw.primitives import ABSENT, Json, chance, fields, pick, some

Args = Mapping[Pair, st.SearchStrategy[Json]]
"""Strategies for the args of some tools, by (adapter_id, capability_id)."""

_LONGEST: Final = 4  # steps that are drawn; more show nothing new
_CANDIDATES: Final = 24  # evidence values that are tried for one argument


class Drafter:
    """Draws steps and plans in wire form, within bounds."""

    def __init__(self, draw: st.DrawFn, bounds: Bounds, args: Args, *, approving: bool) -> None:
        self.draw = draw
        self.bounds = bounds
        self.approving = approving
        self.retry_may_help = False
        """Whether an occasion for a near miss was lost to what happened to be drawn."""
        self._args = args

    def steps(self, opening: Sequence[Json] = (), *, alone: bool = False) -> list[Json]:
        """Steps that pass, `opening` first; `alone`: followed by no more than the spec demands.

        Raises:
            NoPlan: none can pass.
        """
        if fault := self.bounds.obstacle():
            raise NoPlan(f"no plan can pass: {fault}")
        room = min(self.bounds.steps_left, max(_LONGEST, len(opening) + 1))
        steps = [dict(step) for step in opening]
        count = len(steps) if alone else self.draw(st.integers(max(1, len(steps)), max(1, room)))
        while len(steps) < min(count, room):
            self._add(steps)
        self._cover(steps, room, kept=len(opening))
        self._pin(steps)
        return steps

    def _add(self, steps: list[Json]) -> None:
        """One more step, which falls back to reasoning where the tool does not fit."""
        tools = self.bounds.allowed(approving=self.approving)
        drawn = pick(self.draw, [*tools, None])
        step = self.step(drawn) if drawn is not None else None
        unfit = step is None or self.tokens([*steps, step]) > self.bounds.tokens_left
        repeated = drawn is not None and drawn.approval_mode == "destructive" and step is not None
        if step is None or unfit or (repeated and call_of(step) in map(call_of, steps)):
            # As many draws as a bare tool step takes, so that shrinking prefers the tool.
            step = {**reason_step(), **fields(self.draw, {"summary": (ABSENT, "think")})}
        steps.append(step)

    def _cover(self, steps: list[Json], room: int, kept: int) -> None:
        """See that something can produce every required output, in the last step if need be."""
        if self.covers(steps):
            return
        if len(steps) > kept:
            steps[-1] = reason_step()
        elif len(steps) < room:
            steps.append(reason_step())

    def _pin(self, steps: list[Json]) -> None:
        for ref in self.bounds.pins if steps else ():
            if not any(ref in step.get("evidence_refs", ()) for step in steps):
                at = pick(self.draw, range(len(steps)))
                steps[at]["evidence_refs"] = [*steps[at].get("evidence_refs", ()), ref]

    def covers(self, steps: Sequence[Json]) -> bool:
        """Whether the steps can produce what the spec requires."""
        listed: set[str] = set()
        for step in steps:
            tool = self.tool_of(step)
            if tool is None or tool.produces is None:
                return True
            listed |= set(tool.produces)
        return listed >= set(self.bounds.required)

    def tool_of(self, step: Json) -> ToolCapability | None:
        """The capability that a step calls."""
        if step["kind"] != "tool":
            return None
        tools = self.bounds.compiled.manifests.tools
        return tools.get((step["adapter_id"], step["capability_id"]))

    def tokens(self, steps: Sequence[Json]) -> int:
        """The tokens that the steps count as."""
        known = [(step.get("estimated_tokens", 0), self.tool_of(step)) for step in steps]
        return sum(max(own, (tool and tool.min_tokens) or 0) for own, tool in known)

    def step(self, tool: ToolCapability) -> Json | None:
        """A step that calls the tool with all it demands; None if no such step was found."""
        fresh, classes = self.bounds.fresh, tool.requires_evidence or ()
        if not fresh.keys() >= {*classes}:
            return None
        pins = [pick(self.draw, fresh[name]).id for name in classes]
        try:
            args, backing = self._arguments(tool)
        except NoValue:
            return None
        step = {
            "kind": "tool",
            "adapter_id": tool.adapter_id,
            "capability_id": tool.capability_id,
        }
        refs = list(dict.fromkeys([*pins, *backing]))
        return {
            **step,
            **({"args": args} if args else {}),
            **({"evidence_refs": refs} if refs else {}),
        }

    def _arguments(self, tool: ToolCapability) -> tuple[Json, list[str]]:
        own = self._args.get((tool.adapter_id, tool.capability_id))
        if own is not None:
            args = dict(self.draw(own))
        elif tool.args_schema is not None:
            args = object_for(self.draw, tool.args_schema)
        else:
            args = fields(self.draw, {"x": (ABSENT, "a", 1)})
            args |= dict.fromkeys(some(self.draw, list(tool.bound_args or ())), "a")
        return self._bound(tool, args)

    def _bound(self, tool: ToolCapability, args: Json) -> tuple[Json, list[str]]:
        """The args with every bound one taken from evidence, and the refs that back them."""
        refs = []
        for name, classes in (tool.bound_args or {}).items():
            if name not in args:
                continue
            items = [item for one in classes for item in self.bounds.fresh.get(one, ())]
            options = self._options(tool, args, name, held_values(items)[:_CANDIDATES])
            if not options:
                raise NoValue
            args, ref = pick(self.draw, options)
            refs += [ref] if ref else []
        return args, refs

    def _options(
        self, tool: ToolCapability, args: Json, name: str, held: Sequence[tuple[Any, str]]
    ) -> list[tuple[Json, str]]:
        """The args with a backed value under `name`, or with none, as far as the schema agrees."""
        schema = tool.args_schema
        valid = compile_schema(schema).is_valid if schema is not None else (lambda _: True)
        shaped: list[tuple[Any, str]] = []
        for value, ref in held:
            shaped += [(value, ref), ([value], ref)]
        without = {key: value for key, value in args.items() if key != name}
        options = [({**without, name: value}, ref) for value, ref in [*shaped, ([], ""), ({}, "")]]
        return [option for option in [*options, (without, "")] if valid(option[0])]

    def plan(self, steps: Sequence[Json]) -> Json:
        """The steps as a plan that declares what it must, with optional fields here and there."""
        steps = list(steps)
        ids: list[str] = []
        for at, step in enumerate(steps):
            steps[at] = self._adorned(step, ids, self.bounds.tokens_left - self.tokens(steps))
        trace = self.bounds.ctx.trace_id
        extra = {"plan_id": (ABSENT, "p"), "trace_id": (ABSENT, trace)}
        more = [name for name in ("extra",) if chance(self.draw)]
        declared = list(dict.fromkeys([*self.bounds.required, *more]))
        return {"steps": steps, "declared_outputs": declared, **fields(self.draw, extra)}

    def _adorned(self, step: Json, ids: list[str], tokens_left: int) -> Json:
        refs = step.get("evidence_refs", [])
        known = self.bounds.compiled.manifests.evidence
        held = [known[ref].classification for ref in refs if ref in known]
        options = {
            "id": (ABSENT, f"s{len(ids)}"),
            "depends_on": (ABSENT, ids[-1:], list(ids)) if ids else (ABSENT, []),
            "requires_evidence": (ABSENT, held[:1], held),
            "estimated_tokens": (ABSENT, *sorted({0, min(1, tokens_left), tokens_left})),
        }
        drawn = fields(self.draw, options) if chance(self.draw) else {}
        ids += [drawn["id"]] if "id" in drawn else []
        return {**step, **drawn}


def reason_step() -> Json:
    """The step that needs nothing and may produce anything."""
    return {"kind": "reason"}


def call_of(step: Json) -> tuple[Any, ...]:
    """What makes two calls the same."""
    named = (step.get("adapter_id"), step.get("capability_id"))
    return (*named, canonical_json(step.get("args", {})))


def approved(bounds: Bounds, plan: Json, without: int | None = None) -> Json:
    """The context in wire form, with an approval of the plan where its steps need one.

    `without`: the step that the approval leaves out.
    """
    ctx = bounds.ctx.wire()
    tools = bounds.compiled.manifests.tools
    pairs = [(step.get("adapter_id"), step.get("capability_id")) for step in plan["steps"]]
    needing = [at for at, pair in enumerate(pairs) if pair in tools and bounds.over(tools[pair])[2]]
    covered = [at for at in needing if at != without]
    if not covered:
        return ctx
    approval: Json = {
        "approval_id": "yes",
        "plan_digest": digest(Plan(**plan)),
        "approver": "someone",
        **({} if without is None else {"steps": covered}),
    }
    return {**ctx, "approvals": [*ctx.get("approvals", []), approval]}
