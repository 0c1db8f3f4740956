"""The five checks, in their order. Every reason to refuse a plan lives here and nowhere else.

Rule 1: authority comes from the manifest, the spec and the context. What a plan says of itself
        can add a violation and can never remove one.
Rule 2: a fact that is missing refuses; it never passes.
Rule 3: within a check, steps come in ascending order and faults of the plan as a whole last;
        but the plan's size leads the last check.
Rule 4: every check is linear in the steps and the manifests.
"""

from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import Any, Final

from jsonschema_rs import Draft202012Validator

from critic.prepared import PreparedPlan
from critic.surface import (
    HAS_ARGS_SCHEMA,
    NEEDS_EVIDENCE,
    NO_PIN,
    NOT_IN_MANIFEST,
    PRODUCES_ANYTHING,
    ToolEntry,
)
from critic.verdicts import Check, RefusalKind, Violation
from evals.approval import approved_steps
from evals.binding import ContentIndex
from evals.canonical import canonical_json
from evals.context import DEFAULT_BUCKET_TOKENS, DEFAULT_MAX_STEPS
from evals.envelope import MODE_RANK
from evals.escaping import escape_name, pointer
from evals.evidence import resolve_pins, unbacked_arguments
from evals.schemas import schema_faults
from evals.timestamps import unexpired

_DESTRUCTIVE: Final = MODE_RANK["destructive"]


def _violation(
    check: Check, kind: RefusalKind, reason: str, step: int | None, path: str
) -> Violation:
    if step is None:
        return Violation(check=check, kind=kind, reason=reason, path=path)
    return Violation(check=check, kind=kind, reason=reason, offending_step=step, path=path)


# 1. Coverage: every required output is declared, and something can produce it.


def check_coverage(case: PreparedPlan) -> Iterator[Violation]:
    required = set(case.spec.required_outputs)
    undeclared = required.difference(case.plan.declared_outputs)
    unlisted = () if case.traits & PRODUCES_ANYTHING else unlisted_outputs(case, required)
    if undeclared or unlisted:
        for output in dict.fromkeys(case.spec.required_outputs):
            if output in undeclared:
                yield _uncovered(f"plan does not produce required output {output}")
            if output in unlisted:
                yield _uncovered(f"no step can produce required output {output}")
    trace = case.plan.trace_id
    if trace is not None and trace != case.ctx.trace_id:
        reason = f"plan belongs to trace {trace}, not to {case.ctx.trace_id}"
        yield _violation("coverage", "violates_decision_spec", reason, None, "/trace_id")


def unlisted_outputs(case: PreparedPlan, outputs: set[str]) -> set[str]:
    """Those of `outputs` that no tool of the plan lists.

    A reason step, or a tool that lists nothing, may produce them all the same.
    A step outside the surface is left to the surface check.
    """
    # What each tool lists is taken once for all the steps that call it: there may be many.
    return outputs.difference(*{tool.produces for _, tool, _ in case.steps})


def _uncovered(reason: str) -> Violation:
    return _violation("coverage", "violates_decision_spec", reason, None, "/declared_outputs")


# 2. Surface: every tool step calls a surfaced capability, with args that satisfy its schema.


def check_surface(case: PreparedPlan) -> Iterator[Violation]:
    if not case.traits & (NOT_IN_MANIFEST | HAS_ARGS_SCHEMA):
        return
    validators: dict[ToolEntry, Draft202012Validator | None] = {}
    for index, tool, said in case.steps:
        if tool.traits & NOT_IN_MANIFEST:
            name = f"{said['adapter_id']}.{said['capability_id']}"
            reason = f"plan step {index} calls {name} which is not in the surface"
            yield _violation("surface", "violates_decision_spec", reason, index, f"/steps/{index}")
        elif tool.traits & HAS_ARGS_SCHEMA:
            if tool not in validators:
                validators[tool] = tool.validator()
            validator = validators[tool]
            if validator is not None and not validator.is_valid(said["args"]):
                yield from _schema_violations(index, said["args"], validator)


def _schema_violations(
    index: int, args: dict[str, Any], validator: Draft202012Validator
) -> Iterator[Violation]:
    for fault in schema_faults(validator, args):
        place = escape_name(pointer(*fault.path)) or "their root"
        keywords = escape_name(", ".join(fault.keywords))
        reason = f"step {index} args do not satisfy the args_schema at {place} ({keywords})"
        path = pointer("steps", index, "args", *fault.path)
        yield _violation("surface", "violates_decision_spec", reason, index, path)


# 3. Approval: no step goes above the safety mode, the spec's ceiling, or what was approved.


def check_approval(case: PreparedPlan) -> Iterator[Violation]:
    limit = MODE_RANK[case.ctx.safety_mode]
    ceiling, tier = case.spec.approval_mode, case.spec.approval_required_from
    ceiling_rank = _DESTRUCTIVE if ceiling is None else MODE_RANK[ceiling]
    tier_rank = _DESTRUCTIVE + 1 if tier is None else MODE_RANK[tier]
    allowed = min(limit, ceiling_rank, tier_rank - 1)
    modes = case.traits & (1 << (_DESTRUCTIVE + 1)) - 1
    if not modes >> (allowed + 1):
        return
    approved = approved_steps(case.ctx, case.plan) if tier is not None else ()
    for index, tool, _ in case.steps:
        if tool.rank > limit:
            yield _unapproved(index, f"mode {tool.mode} > safety_mode {case.ctx.safety_mode}")
        if tool.rank > ceiling_rank:
            yield _unapproved(index, f"mode {tool.mode} > spec approval_mode {ceiling}")
        if tool.rank >= tier_rank and index not in approved:
            reason = f"mode {tool.mode} needs an unexpired approval of this plan, none given"
            yield _unapproved(index, reason)


def _unapproved(index: int, reason: str) -> Violation:
    reason, path = f"step {index} {reason}", f"/steps/{index}"
    return _violation("approval", "approval_mode_mismatch", reason, index, path)


# 4. Evidence: every class is pinned by a ref that exists and is fresh, and backs the bound args.


def check_evidence(case: PreparedPlan) -> Iterator[Violation]:
    pins, as_of = case.surface.pins, case.ctx.as_of
    demanded = case.spec.required_evidence or ()
    pinned: set[str | None] = set()
    indexes: dict[int, ContentIndex] = {}
    for index, tool, said in case.steps:
        own, refs = said["requires_evidence"], said["evidence_refs"]
        if not refs and not own and not tool.traits & NEEDS_EVIDENCE:
            continue
        held: set[str | None] = set()
        for ref in refs or ():
            name, expiry = pins.get(ref, NO_PIN)
            held.add(name if expiry is None or unexpired(expiry, as_of) else None)
        if demanded:
            pinned |= held
        met = tool.needs <= held and (not own or held.issuperset(own)) and None not in held
        if not met or tool.bound_args:
            yield from _step_evidence(case, index, held, indexes)
    for name in dict.fromkeys(demanded):
        if name not in pinned:
            reason = f"plan pins no fresh evidence of required class {name}"
            yield _violation("evidence", "missing_evidence", reason, None, "/steps")


def _step_evidence(
    case: PreparedPlan, index: int, held: set[str | None], indexes: dict[int, ContentIndex]
) -> Iterator[Violation]:
    """What the evidence of one step lacks, in full."""
    _, tool, said = case.steps[index]
    pins = resolve_pins(said["evidence_refs"] or (), case.surface.evidence, case.ctx.as_of)
    for name in dict.fromkeys((*tool.requires, *(said["requires_evidence"] or ()))):
        if name not in held:
            reason = f"requires evidence class {name}, none pinned"
            yield _unevidenced(index, reason, f"/steps/{index}")
    for fault in pins.faults:
        path = f"/steps/{index}/evidence_refs/{fault.position}"
        yield _unevidenced(index, f"pins evidence {fault.ref}, {fault.why}", path)
    if not tool.bound_args:
        return
    for argument in unbacked_arguments(tool.bound_args, said["args"], pins.fresh, indexes):
        reason = f"argument {escape_name(argument)} is not backed by pinned evidence"
        yield _unevidenced(index, reason, pointer("steps", index, "args", argument))


def _unevidenced(index: int, reason: str, path: str) -> Violation:
    return _violation("evidence", "missing_evidence", f"step {index} {reason}", index, path)


# 5. Loop: the plan ends, repeats nothing destructive, and stays within steps and tokens.


def check_loop(case: PreparedPlan) -> Iterator[Violation]:
    budget, spent = case.ctx.run_budget, case.ctx.spent
    steps_before = (spent.steps if spent else None) or 0
    if steps_before + len(case.steps) > (budget.max_steps if budget else DEFAULT_MAX_STEPS):
        before = f" after {steps_before} already spent" if steps_before else ""
        reason = f"plan has {len(case.steps)} steps{before}, exceeds max_steps"
        yield _violation("loop", "loop_guard", reason, None, "/steps")
    if loops := [*_order_faults(case), *_repeats(case)]:
        yield from sorted(loops, key=attrgetter("offending_step"))
    left = budget.bucket_tokens if budget else DEFAULT_BUCKET_TOKENS
    left -= (spent.tokens if spent else None) or 0
    if planned_tokens(case) > left:
        reason = "plan exceeds bucket_tokens"
        yield _violation("loop", "budget_exceeded", reason, None, "/steps")


def planned_tokens(case: PreparedPlan) -> int:
    """The tokens the steps will take: each its own estimate, or its capability's least if more."""
    total = 0
    for _, tool, said in case.steps:
        estimated, least = said["estimated_tokens"], tool.min_tokens
        total += least if estimated is None or estimated < least else estimated
    return total


def _order_faults(case: PreparedPlan) -> Iterator[Violation]:
    earlier: set[str] = set()
    for index, _, said in case.steps:
        own, depends_on = said["id"], said["depends_on"]
        if own in earlier:
            reason = f"has the id {own} of an earlier step"
            yield _looping(index, reason, f"/steps/{index}/id")
        if depends_on and not earlier.issuperset(depends_on):
            yield from _late_dependencies(index, depends_on, earlier)
        if own is not None:
            earlier.add(own)


def _late_dependencies(
    index: int, depends_on: tuple[str, ...], earlier: set[str]
) -> Iterator[Violation]:
    named: set[str] = set()
    for position, needed in enumerate(depends_on):
        if needed not in earlier and needed not in named:
            path = f"/steps/{index}/depends_on/{position}"
            yield _looping(index, f"depends on {needed}, which is no earlier step", path)
        named.add(needed)


def _repeats(case: PreparedPlan) -> Iterator[Violation]:
    calls = [step for step in case.steps if step[1].rank == _DESTRUCTIVE]
    if len(calls) < 2:
        return
    called: set[tuple[str, str, bytes]] = set()
    for index, tool, said in calls:
        call = (said["adapter_id"], said["capability_id"], canonical_json(said["args"]))
        if call in called:
            reason = f"repeats the destructive call {tool.name} with the same args"
            yield _looping(index, reason, f"/steps/{index}")
        called.add(call)


def _looping(index: int, reason: str, path: str) -> Violation:
    return _violation("loop", "loop_guard", f"step {index} {reason}", index, path)


CHECKS: Final[tuple[Callable[[PreparedPlan], Iterator[Violation]], ...]] = (
    check_coverage,
    check_surface,
    check_approval,
    check_evidence,
    check_loop,
)
"""The checks in the order that decides which violation names the refusal."""
