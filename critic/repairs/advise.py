"""advise: what would mend a refused plan, and whether the planner can do it.

Rule 1: advice to replan is a proof: the repairs were applied, and `verify` accepted the outcome.
Rule 2: what an approver or an operator has to do is never left to the planner to try.
Rule 3: a repair is read from the facts at the place of a violation, never from its wording.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import chain
from typing import Any, Final, assert_never

from critic.checks import planned_tokens, unlisted_outputs
from critic.prepared import PreparedPlan, prepare_plan
from critic.repairs.apply import RepairedPlan, mend
from critic.repairs.kinds import (
    MOST_CANDIDATES,
    Advice,
    AskApproval,
    BackArgument,
    CorrectArgs,
    DeclareOutput,
    DropClaim,
    DropDependency,
    DropId,
    DropStep,
    GrantBudget,
    ObtainEvidence,
    PinEvidence,
    ProduceOutput,
    Repair,
    SaveTokens,
    SetTrace,
    Shorten,
    UnpinEvidence,
)
from critic.repairs.options import RepairOptions
from critic.surface import NO_PIN, PRODUCES_ANYTHING, ToolEntry, surface_of
from critic.verdicts import Check, Refused, Verified, Violation
from critic.verify import verify
from evals.approval import approved_steps
from evals.binding import scalars, unbacked
from evals.context import CompiledContext, DecisionSpec, EvidenceItem, RunContext
from evals.envelope import MODE_RANK, ApprovalMode
from evals.escaping import pointer
from evals.evidence import resolve_pins
from evals.json_value import SAFE_INTEGER
from evals.plan import Plan
from evals.timestamps import unexpired

# Repairs have consequences: a dropped step takes outputs and pins with it, and what produces them
# instead takes a step. They settle in this order: faults of steps, outputs, the number of steps,
# outputs, room for the step they need, pins, tokens; then outputs and pins once more.
_PASSES: Final = 12


def advise(
    ctx: RunContext, compiled: CompiledContext, spec: DecisionSpec, plan: Plan
) -> Advice | None:
    """Suggest repairs of a refused plan and say who can do them; None for a plan that passes.

    The repairs fix every violation that `verify` finds, and those that a repair brings about.

    `replan`: applying the repairs, all the planner's, gives a plan that `verify` accepts.
    `reject`: somebody else has to act as well. A plan that changes loses its approvals.

    Pure. Linear in the plan, the manifests and the violations; candidates are cut after five.

    Raises:
        TypeError: an argument is not exactly the envelope it should be, as for `verify`.
    """
    outcome = verify(ctx, compiled, spec, plan)
    if isinstance(outcome, Verified):
        return None
    means = RepairOptions(ctx, surface_of(compiled), spec)
    mended, repairs = RepairedPlan(plan, tuple(range(len(plan.steps)))), list[Repair]()
    for _ in range(_PASSES):
        case = prepare_plan(ctx, means.surface, spec, mended.plan)
        found = _RepairRound(means, case, mended.origins)
        new = found.repairs(outcome.violations, repairs) if isinstance(outcome, Refused) else []
        if not new:
            break
        repairs += new
        mended = mend(plan, repairs)
        outcome = verify(ctx, compiled, spec, mended.plan)
    case, kept = prepare_plan(ctx, means.surface, spec, plan), set(mended.origins)
    # What others were to do for a step that is left out by now is asked of nobody.
    needed = [one for one in repairs if one.by == "planner" or _step_of(one) in {None, *kept}]
    if len(needed) < len(repairs):
        repairs, outcome = needed, verify(ctx, compiled, spec, mend(plan, needed).plan)
    repairs = [*_folded(repairs), *_approvals(means, case, repairs, kept)]
    mendable = bool(outcome) and all(repair.by == "planner" for repair in repairs)
    return Advice(disposition="replan" if mendable else "reject", repairs=tuple(repairs))


def _folded(repairs: list[Repair]) -> list[Repair]:
    """The repairs, with all that shorten the plan as one."""
    steps = sum(repair.steps for repair in repairs if isinstance(repair, Shorten))
    folded: list[Repair] = [repair for repair in repairs if not isinstance(repair, Shorten)]
    if steps:
        folded.append(Shorten(steps=steps))
    return folded


def _approvals(
    means: RepairOptions, case: PreparedPlan, repairs: Iterable[Repair], kept: set[int]
) -> Iterator[AskApproval]:
    """What to have approved of the steps that are kept. Any change to the plan voids approvals."""
    changed = any(repair.by == "planner" for repair in repairs)
    held = () if changed else approved_steps(means.ctx, case.plan)
    asked: dict[ApprovalMode, list[int]] = {}
    for at, tool, _ in case.steps:
        if tool.rank >= means.approved_from and at in kept and at not in held:
            asked.setdefault(tool.mode, []).append(at)
    for mode in sorted(asked, key=MODE_RANK.__getitem__):
        yield AskApproval(tier=mode, steps=tuple(asked[mode]))


class _RepairRound:
    """What would mend the plan as it stands now, by its positions in the refused plan."""

    def __init__(self, means: RepairOptions, case: PreparedPlan, origins: tuple[int, ...]) -> None:
        self._means = means
        self._case = case
        self._origins = origins
        self._spared: dict[int, bool] = {}
        self._pinned: dict[int, list[EvidenceItem]] = {}

    def repairs(self, violations: Iterable[Violation], known: Iterable[Repair]) -> list[Repair]:
        """Those not known yet. The size of the plan comes last, since other repairs change it."""
        places = dict.fromkeys((one.check, one.path or "") for one in violations)
        found = dict.fromkeys(chain.from_iterable(self._at(*place) for place in places))
        dropped = {repair.step for repair in found if isinstance(repair, DropStep)}
        before = set(known)
        moot = {one for one in found if not isinstance(one, DropStep) and _step_of(one) in dropped}
        return [one for one in found if one not in before and one not in moot] or self._size(before)

    def _at(self, check: Check, path: str) -> Iterator[Repair]:
        """What would mend what a check found at a place."""
        first, *rest = path.split("/")[1:]
        match check:
            case "coverage":
                return self._coverage(first)
            case "surface":
                return self._surface(rest)
            case "approval":
                return self._approval(int(rest[0]))
            case "evidence":
                return self._evidence(rest) if rest else self._required_evidence()
            case "loop":
                return self._loop(rest) if rest else iter(())
            case _:
                assert_never(check)

    def _coverage(self, field: str) -> Iterator[Repair]:
        case, required = self._case, dict.fromkeys(self._case.spec.required_outputs)
        if field == "trace_id":
            yield SetTrace(trace_id=case.ctx.trace_id)
            return
        undeclared = set(required).difference(case.plan.declared_outputs)
        unlisted = (
            set() if case.traits & PRODUCES_ANYTHING else unlisted_outputs(case, set(required))
        )
        for output in required:
            if output in undeclared:
                yield DeclareOutput(output=output)
            if output in unlisted:
                yield ProduceOutput(output=output, candidates=self._means.producers(output))

    def _surface(self, place: list[str]) -> Iterator[Repair]:
        step = self._origins[int(place[0])]
        if len(place) == 1:
            yield DropStep(step=step)
        else:
            yield CorrectArgs(step=step, path="/".join(["/steps", str(step), *place[1:]]))

    def _approval(self, at: int) -> Iterator[Repair]:
        _, tool, _ = self._case.steps[at]
        if tool.rank > self._means.highest_rank:
            yield DropStep(step=self._origins[at])

    def _evidence(self, place: list[str]) -> Iterator[Repair]:
        at = int(place[0])
        step, (_, tool, said) = self._origins[at], self._case.steps[at]
        if len(place) == 1:
            yield from self._classes(step, tool, said)
        elif place[1] == "evidence_refs":
            yield UnpinEvidence(step=step, ref=said["evidence_refs"][int(place[2])])
        else:
            name = place[2].replace("~1", "/").replace("~0", "~")
            yield from self._argument(step, tool, said, name)

    def _classes(self, step: int, tool: ToolEntry, said: Mapping[str, Any]) -> Iterator[Repair]:
        held = self._held(said)
        for name in dict.fromkeys((*tool.requires, *(said["requires_evidence"] or ()))):
            if name in held:
                continue
            if candidates := self._means.evidence_for(name):
                yield PinEvidence(step=step, classification=name, candidates=candidates)
            elif name in tool.needs:
                yield self._missing(step, tool, said, (name,))
            else:
                yield DropClaim(step=step, classification=name)

    def _required_evidence(self) -> Iterator[Repair]:
        held = set().union(*(self._held(said) for _, _, said in self._case.steps))
        for name in dict.fromkeys(self._case.spec.required_evidence or ()):
            if name in held:
                continue
            if candidates := self._means.evidence_for(name):
                yield PinEvidence(classification=name, candidates=candidates)
            else:
                yield ObtainEvidence(classifications=(name,))

    def _held(self, said: Mapping[str, Any]) -> set[str]:
        """The classes of the fresh evidence that a step pins."""
        pins, as_of = self._means.surface.pins, self._case.ctx.as_of
        held = (pins.get(ref, NO_PIN) for ref in said["evidence_refs"] or ())
        return {name for name, expiry in held if name is not None and unexpired(expiry, as_of)}

    def _argument(
        self, step: int, tool: ToolEntry, said: Mapping[str, Any], name: str
    ) -> Iterator[Repair]:
        means, allowed = self._means, tool.bound_args[name]
        if step not in self._pinned:
            refs = said["evidence_refs"] or ()
            self._pinned[step] = resolve_pins(refs, means.surface.evidence, means.ctx.as_of).fresh
        pinned = [
            means.index_of(one) for one in self._pinned[step] if one.classification in allowed
        ]
        values = unbacked(list(scalars(said["args"][name])), pinned)
        found = dict.fromkeys(means.evidence_backing(tool, name, value) for value in values)
        if () not in found:
            for candidates in found:
                yield BackArgument(step=step, argument=name, candidates=candidates)
        elif (
            not allowed
            or means.allowed(tool, name)
            or self._can_omit_args(step, tool, said["args"])
        ):
            yield CorrectArgs(step=step, path=pointer("steps", step, "args", name))
        else:
            classes = tuple(dict.fromkeys(allowed))[:MOST_CANDIDATES]
            yield self._missing(step, tool, said, classes)

    def _missing(
        self, step: int, tool: ToolEntry, said: Mapping[str, Any], classes: tuple[str, ...]
    ) -> DropStep | ObtainEvidence:
        """What to do where there is no evidence: a step that nothing needs is left out."""
        if self._removable(tool) and said["id"] not in self._needed:
            return DropStep(step=step)
        return ObtainEvidence(step=step, classifications=classes)

    def _removable(self, tool: ToolEntry) -> bool:
        return tool.mode == "read_only" and tool in self._unneeded_tools

    @cached_property
    def _unneeded_tools(self) -> set[ToolEntry]:
        """Tools that say what they give, none of it required, where others give all that is."""
        required = {*self._case.spec.required_outputs}
        if not required or unlisted_outputs(self._case, required):
            return set()
        tools = {tool for _, tool, _ in self._case.steps if not tool.traits & PRODUCES_ANYTHING}
        return {tool for tool in tools if tool.produces.isdisjoint(required)}

    @cached_property
    def _needed(self) -> set[str]:
        """Ids that steps depend on, but for steps that are idle and not needed themselves."""
        needed = set[str]()
        for _, tool, said in reversed(self._case.steps):
            if not self._removable(tool) or said["id"] in needed:
                needed.update(said["depends_on"] or ())
        return needed

    def _can_omit_args(self, step: int, tool: ToolEntry, args: dict[str, Any]) -> bool:
        """Whether the tool can do without the arguments for which there is no evidence at all."""
        if step not in self._spared:
            bound = {name for name in args if name in tool.bound_args}
            bare = {name for name in bound if not self._means.allowed(tool, name)}
            others = {name: value for name, value in args.items() if name not in bare}
            validator = self._means.validator_of(tool)
            self._spared[step] = validator is None or validator.is_valid(others)
        return self._spared[step]

    def _loop(self, place: list[str]) -> Iterator[Repair]:
        at = int(place[0])
        step, (_, _, said) = self._origins[at], self._case.steps[at]
        if len(place) == 1:
            yield DropStep(step=step)
        elif place[1] == "id":
            yield DropId(step=step)
        else:
            yield DropDependency(step=step, dependency=said["depends_on"][int(place[2])])

    def _size(self, known: set[Repair]) -> list[Repair]:
        """What would bring the plan down to what is left: its steps first, then its tokens."""
        granted = {repair.of for repair in known if isinstance(repair, GrantBudget)}
        steps_left, tokens_left = self._means.steps_left, self._means.tokens_left
        steps = min(len(self._case.steps) - steps_left, SAFE_INTEGER)
        tokens = min(planned_tokens(self._case) - tokens_left, SAFE_INTEGER)
        if steps > 0 and "steps" not in granted:
            none_left = GrantBudget(of="steps", by_how_much=steps)
            return [Shorten(steps=steps) if steps_left > 0 else none_left]
        if tokens > 0 and "tokens" not in granted:
            none_left = GrantBudget(of="tokens", by_how_much=tokens)
            return [self._saving(tokens) if tokens_left > 0 else none_left]
        return []

    def _saving(self, tokens: int) -> SaveTokens:
        """Saves as many tokens by dropping the fewest steps."""
        costs = {
            at: max(said["estimated_tokens"] or 0, tool.min_tokens)
            for at, tool, said in self._case.steps
        }
        over, steps = sum(costs.values()) - self._means.tokens_left, list[int]()
        for at in sorted(costs, key=costs.__getitem__, reverse=True):
            if over > 0:
                steps.append(self._origins[at])
                over -= costs[at]
        return SaveTokens(tokens=tokens, steps=tuple(steps))


def _step_of(repair: Repair) -> int | None:
    step: int | None = getattr(repair, "step", None)
    return step
