"""The five checks, in their order. Every reason to refuse a plan is found here, nowhere else.

Rule 1: authority comes from the manifest, the spec and the context. What a plan declares about
        itself can add a violation and can never remove one.
Rule 2: a missing fact refuses the plan; it never lets it pass.
Rule 3: within a check, violations of steps come in ascending order, then those of the whole plan;
        in the last check, the size of the plan comes first.
Rule 4: every check is linear in the steps and the manifests.
"""

from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import Any, Final

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
from evals.schemas import CompiledSchema, schema_faults
from evals.timestamps import unexpired

_DESTRUCTIVE: Final = MODE_RANK["destructive"]


def _violation(
    check: Check, kind: RefusalKind, reason: str, step: int | None, path: str
) -> Violation:
    if step is None:
        return Violation(check=check, kind=kind, reason=reason, path=path)
    return Violation(check=check, kind=kind, reason=reason, offending_step=step, path=path)


def check_coverage(case: PreparedPlan) -> Iterator[Violation]:
    """Check 1: every required output is declared, and some step can produce it.

    A tool step produces what its capability lists in `produces`, or anything where the capability
    has no `produces`; a reason step may produce anything. A plan that names a trace must name that
    of the context.

    Yields `violates_decision_spec` without a step, at `/declared_outputs` (one for each undeclared
    output and one for each that no step produces, in the order of the spec) or `/trace_id`.
    """
    required = set(case.spec.required_outputs)
    undeclared = required.difference(case.plan.declared_outputs)
    unlisted = () if case.traits & PRODUCES_ANYTHING else unlisted_outputs(case, required)
    if undeclared or unlisted:
        for output in dict.fromkeys(case.spec.required_outputs):
            if output in undeclared:
                yield _coverage_violation(f"plan does not produce required output {output}")
            if output in unlisted:
                yield _coverage_violation(f"no step can produce required output {output}")
    trace = case.plan.trace_id
    if trace is not None and trace != case.ctx.trace_id:
        reason = f"plan belongs to trace {trace}, not to {case.ctx.trace_id}"
        yield _violation("coverage", "violates_decision_spec", reason, None, "/trace_id")


def unlisted_outputs(case: PreparedPlan, outputs: set[str]) -> set[str]:
    """Return those of `outputs` that no tool of the plan lists in `produces`.

    A reason step, or a tool without `produces`, may produce them all the same. A step outside the
    surface is left to the surface check.
    """
    # A set, because many steps may call the same tool.
    return outputs.difference(*{tool.produces for _, tool, _ in case.steps})


def _coverage_violation(reason: str) -> Violation:
    return _violation("coverage", "violates_decision_spec", reason, None, "/declared_outputs")


def check_surface(case: PreparedPlan) -> Iterator[Violation]:
    """Check 2: every tool step calls a capability of the manifest, with args that fit its schema.

    A capability is found by the pair of adapter_id and capability_id, never by a joined name. Args
    are checked where the capability has an `args_schema`.

    Yields `violates_decision_spec` with the step, at `/steps/N` for a call outside the manifest, or
    at the place in `/steps/N/args` that does not satisfy the schema.
    """
    if not case.traits & (NOT_IN_MANIFEST | HAS_ARGS_SCHEMA):
        return
    validators: dict[ToolEntry, CompiledSchema | None] = {}
    for index, tool, fields in case.steps:
        if tool.traits & NOT_IN_MANIFEST:
            name = f"{fields['adapter_id']}.{fields['capability_id']}"
            reason = f"plan step {index} calls {name} which is not in the surface"
            yield _violation("surface", "violates_decision_spec", reason, index, f"/steps/{index}")
        elif tool.traits & HAS_ARGS_SCHEMA:
            if tool not in validators:
                validators[tool] = tool.validator()
            validator = validators[tool]
            if validator is not None and not validator.is_valid(fields["args"]):
                yield from _schema_violations(index, fields["args"], validator)


def _schema_violations(
    index: int, args: dict[str, Any], validator: CompiledSchema
) -> Iterator[Violation]:
    for error in schema_faults(validator, args):
        place = escape_name(pointer(*error.path)) or "their root"
        keywords = escape_name(", ".join(error.keywords))
        reason = f"step {index} args do not satisfy the args_schema at {place} ({keywords})"
        path = pointer("steps", index, "args", *error.path)
        yield _violation("surface", "violates_decision_spec", reason, index, path)


def check_approval(case: PreparedPlan) -> Iterator[Violation]:
    """Check 3: no step has an approval mode above what the run, the spec or a person allows.

    The mode of the capability is at most `ctx.safety_mode` and at most `spec.approval_mode` where
    that is set. From `spec.approval_required_from` on, an unexpired approval of exactly this plan
    must cover the step. Modes are compared by rank.

    Yields `approval_mode_mismatch` with the step, at `/steps/N`; up to three for one step.
    """
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
            yield _approval_violation(
                index, f"mode {tool.mode} > safety_mode {case.ctx.safety_mode}"
            )
        if tool.rank > ceiling_rank:
            yield _approval_violation(index, f"mode {tool.mode} > spec approval_mode {ceiling}")
        if tool.rank >= tier_rank and index not in approved:
            reason = f"mode {tool.mode} needs an unexpired approval of this plan, none given"
            yield _approval_violation(index, reason)


def _approval_violation(index: int, reason: str) -> Violation:
    reason, path = f"step {index} {reason}", f"/steps/{index}"
    return _violation("approval", "approval_mode_mismatch", reason, index, path)


def check_evidence(case: PreparedPlan) -> Iterator[Violation]:
    """Check 4: required evidence is pinned, exists and is fresh, and backs the bound arguments.

    A step needs the classes that its capability requires and those that it requires itself; each
    must be the class of an item that the step pins and that has not expired at `ctx.as_of`. Every
    pinned ref must be in the manifest and unexpired, needed or not. Each scalar of an argument that
    the capability binds must be in the content of an item that the step pins, of an allowed class.
    Each class in `spec.required_evidence` must be pinned by some step.

    Yields `missing_evidence`: with the step, at `/steps/N` for a missing class, at
    `/steps/N/evidence_refs/M` for a ref, at `/steps/N/args/NAME` for an argument; and without a
    step, at `/steps`, for a class that the spec requires.
    """
    pins, as_of = case.surface.pins, case.ctx.as_of
    demanded = case.spec.required_evidence or ()
    pinned: set[str | None] = set()
    indexes: dict[int, ContentIndex] = {}
    for index, tool, fields in case.steps:
        own, refs = fields["requires_evidence"], fields["evidence_refs"]
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
    """Yield all that the evidence of one step lacks."""
    _, tool, fields = case.steps[index]
    pins = resolve_pins(fields["evidence_refs"] or (), case.surface.evidence, case.ctx.as_of)
    for name in dict.fromkeys((*tool.requires, *(fields["requires_evidence"] or ()))):
        if name not in held:
            reason = f"requires evidence class {name}, none pinned"
            yield _evidence_violation(index, reason, f"/steps/{index}")
    for error in pins.faults:
        path = f"/steps/{index}/evidence_refs/{error.position}"
        yield _evidence_violation(index, f"pins evidence {error.ref}, {error.why}", path)
    if not tool.bound_args:
        return
    for argument in unbacked_arguments(tool.bound_args, fields["args"], pins.fresh, indexes):
        reason = f"argument {escape_name(argument)} is not backed by pinned evidence"
        yield _evidence_violation(index, reason, pointer("steps", index, "args", argument))


def _evidence_violation(index: int, reason: str, path: str) -> Violation:
    return _violation("evidence", "missing_evidence", f"step {index} {reason}", index, path)


def check_loop(case: PreparedPlan) -> Iterator[Violation]:
    """Check 5: the plan ends, repeats nothing destructive, and stays within steps and tokens.

    Steps count together with `ctx.spent`, against `max_steps`. Ids are unique, `depends_on` names
    earlier steps only, and no destructive call is made twice with the same args. Each step takes
    its own estimate of tokens or its capability's `min_tokens`, whichever is more; their sum and
    what was spent stay within `bucket_tokens`.

    Yields `loop_guard` without a step, at `/steps`, for too many steps, or with the step, at
    `/steps/N/id`, `/steps/N/depends_on/M` or `/steps/N`; and `budget_exceeded` without a step, at
    `/steps`, for too many tokens.
    """
    budget, spent = case.ctx.run_budget, case.ctx.spent
    steps_before = (spent.steps if spent else None) or 0
    if steps_before + len(case.steps) > (budget.max_steps if budget else DEFAULT_MAX_STEPS):
        before = f" after {steps_before} already spent" if steps_before else ""
        reason = f"plan has {len(case.steps)} steps{before}, exceeds max_steps"
        yield _violation("loop", "loop_guard", reason, None, "/steps")
    if violations := [*_order_violations(case), *_repeats(case)]:
        yield from sorted(violations, key=attrgetter("offending_step"))
    left = budget.bucket_tokens if budget else DEFAULT_BUCKET_TOKENS
    left -= (spent.tokens if spent else None) or 0
    if planned_tokens(case) > left:
        reason = "plan exceeds bucket_tokens"
        yield _violation("loop", "budget_exceeded", reason, None, "/steps")


def planned_tokens(case: PreparedPlan) -> int:
    """Return the tokens of all steps: the estimate, or the capability's `min_tokens` if more."""
    total = 0
    for _, tool, fields in case.steps:
        estimated, least = fields["estimated_tokens"], tool.min_tokens
        total += least if estimated is None or estimated < least else estimated
    return total


def _order_violations(case: PreparedPlan) -> Iterator[Violation]:
    earlier: set[str] = set()
    for index, _, fields in case.steps:
        own, depends_on = fields["id"], fields["depends_on"]
        if own in earlier:
            reason = f"has the id {own} of an earlier step"
            yield _loop_violation(index, reason, f"/steps/{index}/id")
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
            yield _loop_violation(index, f"depends on {needed}, which is no earlier step", path)
        named.add(needed)


def _repeats(case: PreparedPlan) -> Iterator[Violation]:
    calls = [step for step in case.steps if step[1].rank == _DESTRUCTIVE]
    if len(calls) < 2:
        return
    called: set[tuple[str, str, bytes]] = set()
    for index, tool, fields in calls:
        call = (fields["adapter_id"], fields["capability_id"], canonical_json(fields["args"]))
        if call in called:
            reason = f"repeats the destructive call {tool.name} with the same args"
            yield _loop_violation(index, reason, f"/steps/{index}")
        called.add(call)


def _loop_violation(index: int, reason: str, path: str) -> Violation:
    return _violation("loop", "loop_guard", f"step {index} {reason}", index, path)


CHECKS: Final[tuple[Callable[[PreparedPlan], Iterator[Violation]], ...]] = (
    check_coverage,
    check_surface,
    check_approval,
    check_evidence,
    check_loop,
)
"""The checks in the order that decides which violation names the refusal."""
