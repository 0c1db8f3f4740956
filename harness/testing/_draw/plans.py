"""Draw plans that pass, step by step, from what a manifest, a spec and a context allow.

Plans pass by construction: nothing here calls `verify`, so the generator cannot share its errors.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from hypothesis import strategies as st

from critic import Plan, ToolCapability, digest
from evals.binding import is_empty
from evals.needs import Need, needs_of
from evals.schemas import compile_schema
from harness.canonical import canonical_json
from harness.testing._draw.bounds import Bounds, NoPlan, Pair, held_values
from harness.testing._draw.evidence import backed_together, meets_demand
from harness.testing._draw.json_values import NoValue, object_for
from harness.testing._draw.primitives import ABSENT, Json, chance, fields, pick, some

Args = Mapping[Pair, st.SearchStrategy[Json]]
"""Strategies for the args of some tools, by (adapter_id, capability_id)."""

_LONGEST: Final = 4  # steps; longer plans add no new cases
_CANDIDATES: Final = 24  # evidence values to try for one argument


class Drafter:
    """Draws steps and plans in wire form, within bounds."""

    def __init__(self, draw: st.DrawFn, bounds: Bounds, args: Args, *, approving: bool) -> None:
        self.draw = draw
        self.bounds = bounds
        self.approving = approving
        self.retry_may_help = False
        """Whether another draw may allow a near miss that this one did not."""
        self._args = args

    def steps(self, opening: Sequence[Json] = (), *, alone: bool = False) -> list[Json]:
        """Return steps that pass.

        Args:
            opening: the first steps, in wire form.
            alone: whether to add only the steps that the spec demands.

        Raises:
            NoPlan: no plan can pass.
        """
        if obstacle := self.bounds.obstacle():
            raise NoPlan(f"no plan can pass: {obstacle}")
        room = min(self.bounds.steps_left, max(_LONGEST, len(opening) + 1))
        steps = [dict(step) for step in opening]
        count = len(steps) if alone else self.draw(st.integers(max(1, len(steps)), max(1, room)))
        while len(steps) < min(count, room):
            self._add(steps)
        self._cover(steps, room, kept=len(opening))
        self._pin(steps)
        return steps

    def _add(self, steps: list[Json]) -> None:
        """Add a step: a tool step, or a reason step if the tool does not fit."""
        tools = self.bounds.allowed(approving=self.approving)
        drawn = pick(self.draw, [*tools, None])
        step = self.step(drawn) if drawn is not None else None
        unfit = step is None or self.tokens([*steps, step]) > self.bounds.tokens_left
        repeated = drawn is not None and drawn.approval_mode == "destructive" and step is not None
        if step is None or unfit or (repeated and call_of(step) in map(call_of, steps)):
            # This takes as many draws as a bare tool step, so that shrinking prefers the tool.
            step = {**reason_step(), **fields(self.draw, {"summary": (ABSENT, "think")})}
        steps.append(step)

    def _cover(self, steps: list[Json], room: int, kept: int) -> None:
        """Make a step produce the required outputs: the last one, or one more, as a reason step."""
        if self.covers(steps):
            return
        if len(steps) > kept:
            steps[-1] = reason_step()
        elif len(steps) < room:
            steps.append(reason_step())

    def _pin(self, steps: list[Json]) -> None:
        for ref in self.bounds.pins if steps else ():
            if not any(ref in step.get("evidence_refs", ()) for step in steps):
                step = pick(self.draw, steps)
                step["evidence_refs"] = [*step.get("evidence_refs", ()), ref]

    def covers(self, steps: Sequence[Json]) -> bool:
        """Return whether the steps can produce the required outputs."""
        listed: set[str] = set()
        for step in steps:
            tool = self.tool_of(step)
            if tool is None or tool.produces is None:
                return True
            listed |= set(tool.produces)
        return listed >= set(self.bounds.required)

    def tool_of(self, step: Json) -> ToolCapability | None:
        """Return the tool that a step calls; None for a reason step or an unknown tool."""
        if step["kind"] != "tool":
            return None
        tools = self.bounds.compiled.manifests.tools
        return tools.get((step["adapter_id"], step["capability_id"]))

    def tokens(self, steps: Sequence[Json]) -> int:
        """Return the tokens that the steps count as."""
        estimates = [(step.get("estimated_tokens", 0), self.tool_of(step)) for step in steps]
        return sum(max(own, (tool and tool.min_tokens) or 0) for own, tool in estimates)

    def step(self, tool: ToolCapability) -> Json | None:
        """Return a step that calls the tool and meets its demands; None if none was found."""
        try:
            args, backing = self._arguments(tool)
            pins = [self._pinned(need, args) for need in needs_of(tool).demands]
        except NoValue:
            return None
        step = {
            "kind": "tool",
            "adapter_id": tool.adapter_id,
            "capability_id": tool.capability_id,
        }
        refs = list(dict.fromkeys([*pins, *backing]))
        evidence = self.bounds.compiled.manifests.evidence
        if not backed_together(tool, args, [evidence[ref] for ref in refs]):
            return None
        return {
            **step,
            **({"args": args} if args else {}),
            **({"evidence_refs": refs} if refs else {}),
        }

    def _pinned(self, need: Need, args: Json) -> str:
        """Return the ref of an item that meets a demand for these args.

        Raises:
            NoValue: there is none.
        """
        items = self.bounds.fresh.get(need.classification, [])
        suitable = [item for item in items if meets_demand(item, need, args)]
        if not suitable:
            raise NoValue
        return pick(self.draw, suitable).id

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
        """Return the args with the bound ones taken from evidence, and the refs that back them.

        Raises:
            NoValue: no evidence gives a value that the schema accepts.
        """
        refs: list[str] = []
        needs = needs_of(tool)
        for name, bound in needs.bound.items():
            if name not in args and bound.empty != "refused":
                continue
            items = [item for group in bound.classes for item in self.bounds.fresh.get(group, ())]
            options = self._options(tool, args, name, held_values(items, bound)[:_CANDIDATES])
            # Arguments that are bound together are likely to be in the same item.
            if needs.groups:
                options = [option for option in options if option[1] in refs] or options
            if not options:
                raise NoValue
            args, ref = pick(self.draw, options)
            refs += [ref] if ref else []
        return args, refs

    def _options(
        self, tool: ToolCapability, args: Json, name: str, held: Sequence[tuple[Any, str]]
    ) -> list[tuple[Json, str]]:
        """Return the variants of the args that the schema accepts, each with the ref that backs it.

        In each, the arg `name` is one of the `held` values or, if it may be, missing or empty.
        """
        schema = tool.args_schema
        valid = compile_schema(schema).is_valid if schema is not None else (lambda _: True)
        shaped: list[tuple[Any, str]] = []
        for value, ref in held:
            shaped += [(value, ref), ([value], ref)]
        without = {key: value for key, value in args.items() if key != name}
        options = [({**without, name: value}, ref) for value, ref in shaped]
        if needs_of(tool).bound[name].empty == "refused":
            options = [option for option in options if not is_empty(option[0][name])]
        else:
            empty: list[Any] = [[], {}]
            options += [*(({**without, name: value}, "") for value in empty), (without, "")]
        return [option for option in options if valid(option[0])]

    def plan(self, steps: Sequence[Json]) -> Json:
        """Return a plan of the steps: the required outputs declared, some optional fields added."""
        steps = list(steps)
        ids: list[str] = []
        for index, step in enumerate(steps):
            steps[index] = self._adorned(step, ids, self.bounds.tokens_left - self.tokens(steps))
        trace = self.bounds.ctx.trace_id
        extra = {"plan_id": (ABSENT, "p"), "trace_id": (ABSENT, trace)}
        more = [name for name in ("extra",) if chance(self.draw)]
        declared = list(dict.fromkeys([*self.bounds.required, *more]))
        return {"steps": steps, "declared_outputs": declared, **fields(self.draw, extra)}

    def _adorned(self, step: Json, ids: list[str], tokens_left: int) -> Json:
        """Return the step with some optional fields; add its new id to `ids`."""
        refs = step.get("evidence_refs", [])
        evidence = self.bounds.compiled.manifests.evidence
        pinned = [evidence[ref].classification for ref in refs if ref in evidence]
        options = {
            "id": (ABSENT, f"s{len(ids)}"),
            "depends_on": (ABSENT, ids[-1:], list(ids)) if ids else (ABSENT, []),
            "requires_evidence": (ABSENT, pinned[:1], pinned),
            "estimated_tokens": (ABSENT, *sorted({0, min(1, tokens_left), tokens_left})),
        }
        drawn = fields(self.draw, options) if chance(self.draw) else {}
        ids += [drawn["id"]] if "id" in drawn else []
        return {**step, **drawn}


def reason_step() -> Json:
    """Return a reason step, which needs nothing and may produce any output."""
    return {"kind": "reason"}


def call_of(step: Json) -> tuple[Any, ...]:
    """Return a value that is equal for equal calls."""
    named = (step.get("adapter_id"), step.get("capability_id"))
    return (*named, canonical_json(step.get("args", {})))


def approved(bounds: Bounds, plan: Json, without: int | None = None) -> Json:
    """Return the context in wire form, with an approval of the plan if its steps need one.

    Args:
        without: the index of a step that the approval leaves out.
    """
    ctx = bounds.ctx.wire()
    tools = bounds.compiled.manifests.tools
    pairs = [(step.get("adapter_id"), step.get("capability_id")) for step in plan["steps"]]
    over_tier = [pair in tools and bounds.over(tools[pair])[2] for pair in pairs]
    covered = [index for index, needed in enumerate(over_tier) if needed and index != without]
    if not covered:
        return ctx
    approval: Json = {
        "approval_id": "yes",
        "plan_digest": digest(Plan(**plan)),
        "approver": "someone",
        **({} if without is None else {"steps": covered}),
    }
    return {**ctx, "approvals": [*ctx.get("approvals", []), approval]}
