"""Draw plans that pass, step by step, from what a manifest, a spec and a context allow.

Plans pass by construction: nothing here calls `verify`, so the generator cannot share its errors.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from hypothesis import strategies as st

from critic import EvidenceItem, Plan, ToolCapability, context_digest, digest
from evals.binding import is_empty
from evals.capability import least_tokens
from evals.json_schemas import compile_schema
from evals.needs import Bound, Need, needs_of
from harness.canonical import canonical_json
from harness.testing._draw.bounds import Bounds, NoPlan, NotCovered, Pair, held_values
from harness.testing._draw.drawn_confinement import leaks
from harness.testing._draw.drawn_evidence import backed_together, meets_demand
from harness.testing._draw.json_values import NoValue, object_for
from harness.testing._draw.known import add_known, can_be_known, is_judged, is_known
from harness.testing._draw.primitives import (
    ABSENT,
    HypothesisPick,
    Json,
    chance,
    fields,
    optional,
    pick_some,
)

Args = Mapping[Pair, st.SearchStrategy[Json]]
"""Strategies for the args of some tools, by (adapter_id, capability_id)."""

_LONGEST: Final = 4  # steps; longer plans add no new cases
_CANDIDATES: Final = 24  # evidence values to try for one argument


class Drafter:
    """Draws steps and plans in wire form, within bounds."""

    def __init__(
        self, pick: HypothesisPick, bounds: Bounds, args: Args, *, approving: bool
    ) -> None:
        self.pick = pick
        self.bounds = bounds
        self.approving = approving
        self.retry_may_help = False
        """Whether another draw may allow a near miss that this one did not."""
        self._args = args

    def steps(
        self,
        opening: Sequence[Json] = (),
        *,
        without: str | None = None,
        pins: Sequence[str] | None = None,
    ) -> list[Json]:
        """Return steps that pass.

        Args:
            opening: the first steps, in wire form.
            without: a required output that none of the other steps may produce.
            pins: the refs to pin, if not those that the spec demands.

        Raises:
            NoPlan: no plan can pass.
        """
        if obstacle := self.bounds.obstacle():
            raise NoPlan(f"no plan can pass: {obstacle}")
        longest = max(_LONGEST, len(opening) + max(1, len(self.bounds.required)))
        room = min(self.bounds.steps_left, longest)
        steps = [dict(step) for step in opening]
        count = self.pick(range(max(1, len(steps)), max(1, room) + 1))
        while len(steps) < min(count, room):
            self._add(steps, without)
        self._cover(steps, room, len(opening), without)
        self._pin(steps, self.bounds.pins if pins is None else pins)
        return steps

    def _add(self, steps: list[Json], without: str | None) -> None:
        """Add a step: a tool step, or a reason step if the tool does not fit."""
        tools = self._tools(without)
        drawn = self.pick([*tools, None])
        step = self.step(drawn) if drawn is not None else None
        unfit = step is None or self.tokens([*steps, step]) > self.bounds.tokens_left
        repeated = drawn is not None and drawn.approval_mode == "destructive" and step is not None
        if step is None or unfit or (repeated and call_of(step) in map(call_of, steps)):
            # This takes as many draws as a bare tool step, so that shrinking prefers the tool.
            step = {**reason_step(), **fields(self.pick, {"summary": (ABSENT, "think")})}
        steps.append(step)

    def _tools(self, without: str | None = None) -> list[ToolCapability]:
        tools = self.bounds.allowed_tools(approving=self.approving)
        return [tool for tool in tools if without not in (tool.produces or ())]

    def _cover(self, steps: list[Json], room: int, kept: int, without: str | None) -> None:
        """Add the steps that produce the outputs still missing, in place of others if need be.

        Raises:
            NotCovered: that was not possible.
        """
        while (missing := self._producers(steps, without)) is not None:
            whole = [*steps, *missing]
            if len(whole) <= room and self.tokens(whole) <= self.bounds.tokens_left:
                steps += missing
                return
            if len(steps) <= kept:
                break
            steps.pop()
        self.retry_may_help = True
        outputs = ", ".join(self.bounds.required)
        raise NotCovered(
            f"no plan was found that produces the outputs {outputs}: a tool that lists one needs "
            "args, evidence, approvals or room that were not found (args may be given)"
        )

    def _producers(self, steps: Sequence[Json], without: str | None) -> list[Json] | None:
        """Return steps that produce the outputs that these do not; None if there are none."""
        added: list[Json] = []
        for output in self.bounds.required:
            if output == without or not self._is_unproduced([*steps, *added], output):
                continue
            step = self._producer(output, without)
            if step is None:
                return None
            added.append(step)
        return added

    def _producer(self, output: str, without: str | None) -> Json | None:
        if output not in self.bounds.listed:
            return reason_step()
        for tool in self._tools(without):
            step = self.step(tool) if output in (tool.produces or ()) else None
            if step is not None:
                return step
        return None

    def _is_unproduced(self, steps: Sequence[Json], output: str) -> bool:
        return bool(self.bounds.unproduced_outputs(map(self.tool_of, steps), [output]))

    def _pin(self, steps: list[Json], refs: Sequence[str]) -> None:
        for ref in refs if steps else ():
            if not any(ref in step.get("evidence_refs", ()) for step in steps):
                step = self.pick(steps)
                step["evidence_refs"] = [*step.get("evidence_refs", ()), ref]

    def covers(self, steps: Sequence[Json]) -> bool:
        """Return whether the steps can produce the required outputs."""
        return not self.bounds.unproduced_outputs(map(self.tool_of, steps), self.bounds.required)

    def tool_of(self, step: Json) -> ToolCapability | None:
        """Return the tool that a step calls; None for a reason step or an unknown tool."""
        if step["kind"] != "tool":
            return None
        tools = self.bounds.compiled.manifests.tools
        return tools.get((step["adapter_id"], step["capability_id"]))

    def tokens(self, steps: Sequence[Json]) -> int:
        """Return the tokens that the steps count as."""
        estimates = [(step.get("estimated_tokens", 0), self.tool_of(step)) for step in steps]
        return sum(max(own, least_tokens(tool)) for own, tool in estimates)

    def step(self, tool: ToolCapability) -> Json | None:
        """Return a step that calls the tool and meets its demands; None if none was found."""
        try:
            args, backing = self._arguments(tool)
            pins = [self._pin_item(need, args) for need in needs_of(tool).demands]
        except NoValue:
            return None
        named = {"adapter_id": tool.adapter_id, "capability_id": tool.capability_id}
        step = {"kind": "tool", **named}
        refs = list(dict.fromkeys([*pins, *backing]))
        evidence = self.bounds.compiled.manifests.evidence
        if not backed_together(tool, args, [evidence[ref] for ref in refs]):
            return None
        made = {
            **step,
            **({"args": args} if args else {}),
            **({"evidence_refs": refs} if refs else {}),
        }
        if is_judged(self.bounds, tool) and not can_be_known(tool, args):
            return None
        if leaks(self.bounds, tool, args) or (not self.approving and not self._is_free(tool, made)):
            return None
        return made

    def _is_free(self, tool: ToolCapability, step: Json) -> bool:
        """Return whether the call of a step needs nothing that the context does not hold."""
        known = not is_judged(self.bounds, tool) or is_known(
            self.bounds, tool, step.get("args", {})
        )
        return known and not self.bounds.made_before(step)

    def _pin_item(self, need: Need, args: Json) -> str:
        """Return the ref of an item that meets a demand for these args.

        Raises:
            NoValue: there is none.
        """
        suitable = self._suitable(need, args)
        if not suitable:
            raise NoValue
        return self.pick(suitable).id

    def _suitable(self, need: Need, args: Json) -> list[EvidenceItem]:
        items = self.bounds.fresh.get(need.classification, [])
        return [item for item in items if meets_demand(item, need, args)]

    def _held_values(self, bound: Bound) -> list[tuple[Any, str]]:
        items = [item for name in bound.classes for item in self.bounds.fresh.get(name, ())]
        return held_values(items, bound)[:_CANDIDATES]

    def _own_args(self, tool: ToolCapability) -> st.SearchStrategy[Json] | None:
        return self._args.get((tool.adapter_id, tool.capability_id))

    def _arguments(self, tool: ToolCapability) -> tuple[Json, list[str]]:
        own = self._own_args(tool)
        if own is not None:
            args = dict(self.pick.draw(own))
        elif tool.args_schema is not None:
            args = object_for(self.pick, tool.args_schema)
        else:
            args = fields(self.pick, {"x": (ABSENT, "a", 1)})
            args |= dict.fromkeys(pick_some(self.pick, list(tool.bound_args or ())), "a")
        return self._bind_args(tool, args)

    def _bind_args(self, tool: ToolCapability, args: Json) -> tuple[Json, list[str]]:
        """Return the args with the bound ones taken from evidence, and the refs that back them.

        Raises:
            NoValue: no evidence gives a value that the schema accepts.
        """
        refs, needs = list[str](), needs_of(tool)
        for name, bound in needs.bound.items():
            if name not in args and bound.empty != "refused":
                continue
            options = self._options(tool, args, name, self._held_values(bound))
            # Arguments of a group are likely to be in one item; evidence has to say what they need.
            if needs.groups:
                options = [one for one in options if one[1] in refs] or options
            for need in (one for one in needs.demands if name in dict(one.about)):
                options = [one for one in options if self._suitable(need, one[0])] or options
            if not options:
                raise NoValue
            args, ref = self.pick(options)
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

    def may_vary(self, tool: ToolCapability, step: Json) -> bool:
        """Return whether another draw may call the tool of a step with other args or evidence."""
        needs, args, schema = needs_of(tool), step.get("args", {}), tool.args_schema
        if not isinstance(schema, dict) or self._own_args(tool) is not None or self.bounds.pins:
            return True
        closed = schema.get("additionalProperties") is False and "patternProperties" not in schema
        if not closed or not needs.bound.keys() >= schema.get("properties", {}).keys():
            return True
        choices = [
            self._options(tool, args, name, self._held_values(bound))
            for name, bound in needs.bound.items()
        ]
        suitable = [self._suitable(need, args) for need in needs.demands]
        return max([*map(len, choices), *map(len, suitable)], default=0) > 1

    def plan(self, steps: Sequence[Json]) -> Json:
        """Return a plan of the steps: the required outputs declared, some optional fields added."""
        steps = list(steps)
        ids: list[str] = []
        for index, step in enumerate(steps):
            steps[index] = self._adorn_step(step, ids, self.bounds.tokens_left - self.tokens(steps))
        trace = self.bounds.ctx.trace_id
        extra = {"plan_id": (ABSENT, "p"), "trace_id": (ABSENT, trace)}
        more = [name for name in ("extra",) if chance(self.pick)]
        declared = list(dict.fromkeys([*self.bounds.required, *more]))
        return {"steps": steps, "declared_outputs": declared, **fields(self.pick, extra)}

    def _adorn_step(self, step: Json, ids: list[str], tokens_left: int) -> Json:
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
        drawn = fields(self.pick, options) if chance(self.pick) else {}
        ids += [drawn["id"]] if "id" in drawn else []
        return {**step, **drawn}


def reason_step() -> Json:
    """Return a reason step, which needs nothing and may produce what no tool lists."""
    return {"kind": "reason"}


def call_of(step: Json) -> tuple[Any, ...]:
    """Return a value that is equal for equal calls."""
    named = (step.get("adapter_id"), step.get("capability_id"))
    return (*named, canonical_json(step.get("args", {})))


def approved_context(bounds: Bounds, plan: Json, without: int | None = None) -> Json:
    """Return the context in wire form, with what the steps of a plan need.

    That is an approval of the plan, and what a session knows where provenance is judged.

    Args:
        bounds: what the plan was drawn from.
        plan: the plan, in wire form.
        without: the index of a step that the approval leaves out.
    """
    ctx = add_known(bounds, bounds.ctx.wire(), plan["steps"])
    needing = [index for index, step in enumerate(plan["steps"]) if _needs_approval(bounds, step)]
    covered = [index for index in needing if index != without]
    if not covered:
        return ctx
    # Some approvals name what they were given in, and some do not.
    given = context_digest(bounds.ctx, bounds.compiled, bounds.spec) if len(covered) > 1 else ABSENT
    approval: Json = {
        "approval_id": "yes",
        "plan_digest": digest(Plan(**plan)),
        "approver": "someone",
        **({} if without is None else {"steps": covered}),
        **optional("context_digest", given),
    }
    return {**ctx, "approvals": [*ctx.get("approvals", []), approval]}


def _needs_approval(bounds: Bounds, step: Json) -> bool:
    pair = (step.get("adapter_id", ""), step.get("capability_id", ""))
    tool = bounds.compiled.manifests.tools.get(pair)
    return tool is not None and (bounds.over_limits(tool)[2] or bounds.made_before(step))
