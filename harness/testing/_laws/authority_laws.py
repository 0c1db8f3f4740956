"""The laws of authority: less of it never helps a plan.

They are about all violations, not only about the answer, wherever that holds. Violations are
compared by check, kind, step and path; their reasons quote modes and counts.
"""

from collections import Counter
from hashlib import sha256
from typing import Final

from hypothesis import strategies as st

from critic import Refused, context_digest, digest
from evals.context import DEFAULT_BUCKET_TOKENS, DEFAULT_MAX_STEPS
from evals.json_value import SAFE_INTEGER
from evals.kinds import MODES
from harness.canonical import canonical_json
from harness.testing._draw.primitives import ABSENT, Json
from harness.testing._laws.law_context import LawContext, marks, marks_of, with_manifest, with_part
from harness.testing._laws.provenance_laws import TARGETS, operator_text_expires, require_no_wider

_DEFAULTS: Final = {"max_steps": DEFAULT_MAX_STEPS, "bucket_tokens": DEFAULT_BUCKET_TOKENS}


def _two_modes(context: LawContext) -> list[str]:
    """Draw two modes, the lower first."""
    return sorted((context.pick(MODES), context.pick(MODES)), key=MODES.index)


def safety_mode_is_monotone(context: LawContext) -> None:
    """Raising safety_mode never adds a violation, and lowering it never takes one away."""
    lower, higher = _two_modes(context)
    in_higher = context.judge(with_part(context.wire, "ctx", safety_mode=higher))
    altered = with_part(context.wire, "ctx", safety_mode=lower)
    context.require_kept(in_higher, altered, f"lowering safety_mode from {higher} to {lower}")


def ceiling_is_monotone(context: LawContext) -> None:
    """Lowering the ceiling of the spec, or adding one, never takes a violation away."""
    lower, higher = _two_modes(context)
    without = context.judge(with_part(context.loose, "spec", approval_mode=ABSENT))
    in_higher = with_part(context.loose, "spec", approval_mode=higher)
    context.require_kept(without, in_higher, f"adding the ceiling {higher}")
    altered = with_part(context.loose, "spec", approval_mode=lower)
    what = f"lowering the ceiling from {higher} to {lower}"
    context.require_kept(context.judge(in_higher), altered, what)


def read_only_refuses_every_write(context: LawContext) -> None:
    """Under safety_mode read_only every call of a tool that is not read_only is a violation."""
    altered = with_part(context.wire, "ctx", safety_mode="read_only")
    verdict = context.judge(altered)
    violations = verdict.violations if isinstance(verdict, Refused) else ()
    blamed = {
        violation.offending_step
        for violation in violations
        if violation.check in ("surface", "approval")
    }
    tools = context.proposal.compiled.manifests.tools
    for index, step in enumerate(context.wire["plan"]["steps"]):
        tool = tools.get((step.get("adapter_id"), step.get("capability_id")))
        reads = step["kind"] != "tool" or (tool and tool.approval_mode == "read_only")
        context.require(
            bool(reads) or index in blamed, f"the write in step {index} passed", altered
        )


def less_evidence_never_helps(context: LawContext) -> None:
    """Removing evidence that is neither confined nor a source never lets a refused plan pass."""
    confined = context.wire["spec"].get("confined_evidence", ())
    entries = context.wire["compiled"]["manifests"]["evidence_manifest"]
    plain = [
        index
        for index, item in enumerate(entries)
        if item["classification"] not in confined and "source" not in item
    ]
    _remove_one(context, "evidence_manifest", plain)


def fewer_capabilities_never_help(context: LawContext) -> None:
    """Removing a capability never lets a refused plan pass.

    Except the only one that lists a required output: without it, a reason step may produce that.
    """
    tools = context.wire["compiled"]["manifests"]["tool_manifest"]
    counts = Counter(name for tool in tools for name in {*tool.get("produces", ())})
    alone = {name for name in context.proposal.spec.required_outputs if counts[name] == 1}
    shared = [
        index for index, tool in enumerate(tools) if alone.isdisjoint(tool.get("produces", ()))
    ]
    _remove_one(context, "tool_manifest", shared)


def _remove_one(context: LawContext, manifest: str, removable: list[int]) -> None:
    """Require that a refused plan stays refused without one of the entries at these places."""
    entries = context.wire["compiled"]["manifests"][manifest]
    if removable:
        index = context.pick(removable)
        altered = with_manifest(context.wire, manifest, entries[:index] + entries[index + 1 :])
        before = context.judge(context.proposal)
        context.require_refused(before, altered, f"removing entry {index} of {manifest}")


def less_budget_never_helps(context: LawContext) -> None:
    """A smaller budget, or more of it spent, never takes a violation away: steps and tokens."""
    budget = {**_DEFAULTS, **context.wire["ctx"].get("run_budget", {})}
    spent = {"steps": 0, "tokens": 0, **context.wire["ctx"].get("spent", {})}
    before = context.judge(context.proposal)
    for name, used in (("max_steps", "steps"), ("bucket_tokens", "tokens")):
        less = context.draw(st.integers(0, budget[name]))
        smaller = {**budget, name: budget[name] - less}
        altered = with_part(context.wire, "ctx", run_budget=smaller)
        context.require_kept(before, altered, f"{less} less of {name}")
        more = {**spent, used: min(spent[used] + less, SAFE_INTEGER)}
        altered = with_part(context.wire, "ctx", spent=more)
        context.require_kept(before, altered, f"{less} more {used} spent")


def no_budget_is_the_default_budget(context: LawContext) -> None:
    """Leaving out the budget, or all of its fields, is the same as writing the default one."""
    altered = with_part(context.wire, "ctx", run_budget=dict(_DEFAULTS))
    in_default = context.judge(altered)
    budgets: tuple[Json, ...] = (ABSENT, {})
    for budget in budgets:
        altered = with_part(context.wire, "ctx", run_budget=budget)
        context.require_same(in_default, altered, "leaving out the default budget")


def no_clock_never_helps(context: LawContext) -> None:
    """Leaving out as_of never takes a violation away, and never widens what provenance answers.

    What provenance answers is compared by place: where it asked, it may refuse instead. That holds
    for steps whose values are recipients, objects, codes and days. Without a time, a text of the
    operator that expires is gone, which may show that a value is the session's own: see
    `fewer_items_never_widen`.
    """
    what = "leaving out as_of"
    unsourced = with_part(context.loose, "spec", provenance=ABSENT)
    altered = with_part(unsourced, "ctx", as_of=ABSENT)
    context.require_kept(context.judge(unsourced), altered, what)
    altered = with_part(context.wire, "ctx", as_of=ABSENT)
    shows_own = operator_text_expires(context.wire)
    roles = TARGETS | {"time"}
    require_no_wider(context, context.wire, altered, roles, what, shows_own=shows_own)


def another_plans_approval_changes_nothing(context: LawContext) -> None:
    """An approval of another plan changes nothing."""
    other = context.draw(st.text("0123456789abcdef", min_size=64, max_size=64))
    if other == digest(context.proposal.plan):
        return
    foreign = {"approval_id": "foreign", "plan_digest": other, "approver": "someone"}
    approvals = [foreign, *context.wire["ctx"].get("approvals", [])]
    altered = with_part(context.wire, "ctx", approvals=approvals)
    before = context.judge(context.proposal)
    context.require_same(before, altered, "an approval of another plan")


def approval_lifts_only_its_need(context: LawContext) -> None:
    """A full approval of the plan takes away exactly the violations marked approvable."""
    parts = (context.proposal.ctx, context.proposal.compiled, context.proposal.spec)
    full = {
        "approval_id": "full",
        "plan_digest": digest(context.proposal.plan),
        "approver": "someone",
        **context.pick(({}, {"context_digest": context_digest(*parts)})),
    }
    bare = with_part(context.wire, "ctx", approvals=ABSENT)
    altered = with_part(context.wire, "ctx", approvals=[full])
    before = context.judge(bare)
    violations = before.violations if isinstance(before, Refused) else ()
    lasting = marks_of(one for one in violations if not one.approvable)
    same = marks(context.judge(altered)) == lasting
    context.require(same, "approved, it differs by more or less than what is approvable", altered)


def spent_calls_never_help(context: LawContext) -> None:
    """Calls that earlier plans of the trace made never take a violation away."""
    calls = [step for step in context.wire["plan"]["steps"] if step["kind"] == "tool"]
    made = context.pick([*calls, {"adapter_id": "zz", "capability_id": "zz"}])
    call = {
        "adapter_id": made["adapter_id"],
        "capability_id": made["capability_id"],
        "args_digest": sha256(canonical_json(made.get("args", {}))).hexdigest(),
    }
    spent = context.wire["ctx"].get("spent", {})
    more = {**spent, "calls": [*spent.get("calls", []), call]}
    altered = with_part(context.wire, "ctx", spent=more)
    context.require_kept(context.judge(context.proposal), altered, "a call made before")
