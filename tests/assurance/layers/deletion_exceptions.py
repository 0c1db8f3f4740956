"""Fields that may be removed without a stricter verdict, each with the reason.

An entry names the commands, the field, what is done to it, and the reason. An input of `verify`
is under `proposal` in an input of `score`. Nothing set to null is excused anywhere.
"""

from typing import Final

Use = tuple[str, str, str]
Entry = tuple[str, str, str, str]

_PARTS: Final = ("ctx", "compiled", "spec", "plan")


def _named(*entries: Entry) -> dict[Use, str]:
    """Return the entries by command, whole field and operation; none may occur twice."""
    found: dict[Use, str] = {}
    for commands, field, operation, reason in entries:
        for command in ("verify", "score") if commands == "both" else (commands,):
            inner = command == "score" and field.partition(".")[0] in _PARTS
            use = (command, f"proposal.{field}" if inner else field, operation)
            if use in found:
                raise ValueError(f"listed twice: {use}")
            found[use] = reason
    return found


_TOOL: Final = "compiled.manifests.tool_manifest[]"
_ITEM: Final = "compiled.manifests.evidence_manifest[]"
_CLASSES: Final = "compiled.manifests.classes"
_BOUND: Final = f"{_TOOL}.bound_args{{}}"
_REQUIRED: Final = f"{_TOOL}.requires_evidence[]"
_DEMAND: Final = "the manifest has authority: without this it demands less"
_SPEC: Final = "the spec has authority: without this it demands less"
_TRUE: Final = "`true` is a JSON Schema, which demands nothing"
_NO_GROUP: Final = "`[[]]` is a group without arguments, which demands nothing"
_OTHER_FORM: Final = "an array is a binding too, which lets an argument be left out"
_UNSEEN: Final = "what is not seen contests nothing; nor does it give authority"
_ADDED: Final = "the plan added a requirement to itself: all that others demand still holds"
_DEFAULT: Final = "absent means the published default of 12 steps and 8,000 tokens"
_UNLIMITED: Final = "no such budget is declared then; an info finding says so"
_UNSPENT: Final = "the caller has authority: absent means that nothing was spent before"
_UNSENT: Final = "the caller has authority: absent means that the session sent nothing before"
_OTHER_SENT: Final = "any JSON but null is sent, and other values were"
_UNMEASURED: Final = "not measured warns with score 0 and never fails; without a budget it is quiet"

_OPENING: Final = "it says what an output is worth, which the opening of a step judges"

LIFTS: Final = _named(
    ("both", f"{_TOOL}.requires_evidence", "delete", _DEMAND),
    ("both", f"{_REQUIRED}.content_schema", "delete", _DEMAND),
    ("both", f"{_REQUIRED}.content_schema", "mistype", _TRUE),
    ("both", f"{_REQUIRED}.about", "delete", _DEMAND),
    ("both", f"{_TOOL}.bound_args", "delete", _DEMAND),
    ("both", _BOUND, "delete", _DEMAND),
    ("both", _BOUND, "mistype", _OTHER_FORM),
    ("both", f"{_BOUND}.at", "delete", _DEMAND),
    ("both", f"{_TOOL}.bound_together", "delete", _DEMAND),
    ("both", f"{_TOOL}.bound_together", "mistype", _NO_GROUP),
    ("verify", f"{_TOOL}.args_schema", "delete", f"{_DEMAND}; a caveat says so"),
    ("verify", f"{_TOOL}.args_schema", "mistype", "`true` is a JSON Schema, which demands nothing"),
    ("verify", f"{_TOOL}.output_schema", "delete", f"{_DEMAND}; the opening judges the value"),
    ("verify", f"{_TOOL}.output_schema", "mistype", _TRUE),
    ("verify", "plan.steps[].takes", "delete", "then all that it sends stands in its args"),
    ("verify", f"{_TOOL}.min_tokens", "delete", _DEMAND),
    ("verify", f"{_TOOL}.arg_kinds", "delete", f"{_DEMAND}: its shape says what a value is"),
    ("verify", _CLASSES, "delete", f"{_DEMAND}: who wrote an item wrote all its fields"),
    ("verify", f"{_CLASSES}[].schema", "delete", _DEMAND),
    ("verify", f"{_CLASSES}[].schema", "mistype", _TRUE),
    ("verify", f"{_TOOL}.produces", "delete", "may produce anything then; a caveat says so"),
    ("both", f"{_ITEM}.expires_at", "delete", "evidence without an expiry does not expire"),
    (
        "verify",
        f"{_ITEM}.content",
        "mistype",
        "any JSON but null is content: other facts back more",
    ),
    ("verify", f"{_ITEM}.content", "delete", f"{_UNSEEN}, or to be kept from leaving"),
    ("verify", f"{_ITEM}.source", "delete", _UNSEEN),
    ("verify", f"{_ITEM}.source.web", "delete", "it was marked as a web page, and is a text then"),
    ("score", f"{_ITEM}.content", "delete", "what no one knows cannot be found in outputs: warns"),
    ("score", f"{_ITEM}.content", "mistype", "other content was confined than was let out"),
    ("both", "spec.approval_mode", "delete", _SPEC),
    ("both", "spec.approval_required_from", "delete", _SPEC),
    ("verify", "spec.required_evidence", "delete", _SPEC),
    ("both", "spec.confined_evidence", "delete", _SPEC),
    ("verify", "spec.provenance", "delete", f"{_SPEC}; a caveat says so"),
    ("score", "spec.output_schemas", "delete", _SPEC),
    (
        "verify",
        "ctx.approvals[].expires_at",
        "delete",
        "an approval without expiry does not expire",
    ),
    ("verify", "ctx.approvals[].steps", "delete", "an approval without steps is of the whole plan"),
    (
        "verify",
        "ctx.approvals[].context_digest",
        "delete",
        "an approval without a context holds in any; a caveat says so",
    ),
    (
        "verify",
        "ctx.session.approved[].expires_at",
        "delete",
        "a value that is approved without an expiry stays approved",
    ),
    (
        "verify",
        "ctx.session.waived[].expires_at",
        "delete",
        "a call outside the scope that is approved without an expiry stays approved",
    ),
    ("verify", "ctx.session", "delete", _UNSENT),
    ("verify", "ctx.session.sent", "delete", _UNSENT),
    ("verify", "ctx.session.sent[].values", "mistype", _OTHER_SENT),
    ("verify", "ctx.run_budget", "delete", _DEFAULT),
    ("score", "ctx.run_budget", "delete", _UNLIMITED),
    ("both", "ctx.run_budget.bucket_tokens", "delete", _DEFAULT),
    ("verify", "ctx.run_budget.max_steps", "delete", _DEFAULT),
    ("score", "ctx.run_budget.cost_micros", "delete", _UNLIMITED),
    ("score", "ctx.run_budget.wall_ms", "delete", _UNLIMITED),
    ("both", "ctx.spent", "delete", _UNSPENT),
    ("verify", "ctx.spent.calls", "delete", _UNSPENT),
    ("verify", "ctx.spent.steps", "delete", _UNSPENT),
    ("both", "ctx.spent.tokens", "delete", _UNSPENT),
    ("score", "ctx.run_id", "delete", "the context names no run, so a run of any name may be its"),
    ("both", "plan.steps[].args", "delete", "absent means {}: another call, and run as such"),
    ("both", "plan.steps[].depends_on", "delete", _ADDED),
    ("verify", "plan.steps[].estimated_tokens", "delete", f"{_ADDED}; a caveat says so"),
    ("score", "plan.steps[].evidence_refs", "delete", "a ref that was wrong and not needed"),
    ("verify", "plan.steps[].id", "delete", "the id of an earlier step is taken back"),
    ("both", "plan.steps[].requires_evidence", "delete", _ADDED),
    ("both", "plan.trace_id", "delete", _ADDED),
    ("score", "calls[].attempt", "delete", "the first attempt: absent means 1"),
    ("score", "calls[].duration_ms", "delete", "a call that was not measured contradicts nothing"),
    ("score", "calls[].tokens", "delete", "the run's own total is there, and is believed"),
    ("score", "tokens", "delete", _UNMEASURED),
    ("score", "cost_micros", "delete", _UNMEASURED),
    ("score", "wall_ms", "delete", _UNMEASURED),
)
"""Where a refusal may become a pass, or an evaluator's status better."""

_RECORDED: Final = "recorded, not judged"
_MET: Final = "only adds a requirement, which is met"
_LIMIT: Final = "only sets a limit, which is kept with and without"
_UNUSED: Final = "a fact that this case does not depend on; where one does, it is refused"
_SESSION: Final = "read by the session, which gives each result its source; not judged here"
_OTHER_USES: Final = "not judged by score: verify has judged it"

_REPLAYED: Final = "says how a command was read, which replay does again"

STAYS: Final = _named(
    ("verify", "plan.steps[].shell", "delete", _REPLAYED),
    ("both", "ctx.run_id", "delete", _MET),
    ("both", "ctx.tenant_id", "delete", _RECORDED),
    ("both", "ctx.user_id", "delete", _RECORDED),
    ("both", "ctx.run_budget", "delete", _LIMIT),
    ("both", "ctx.run_budget.bucket_tokens", "delete", _LIMIT),
    ("both", "ctx.run_budget.max_steps", "delete", _LIMIT),
    ("both", "ctx.run_budget.cost_micros", "delete", _LIMIT),
    ("both", "ctx.run_budget.wall_ms", "delete", _LIMIT),
    ("both", "ctx.spent", "delete", _LIMIT),
    ("verify", "ctx.spent.steps", "delete", _LIMIT),
    ("both", "ctx.spent.tokens", "delete", _LIMIT),
    ("verify", "ctx.approvals", "delete", "the spec asks for no approval"),
    ("verify", "ctx.approvals[].expires_at", "delete", "only limits an approval, which is in time"),
    ("verify", "ctx.approvals[].steps", "delete", "only limits an approval, to the step it is for"),
    ("verify", "ctx.approvals[].context_digest", "delete", f"{_MET}; a caveat says so"),
    ("verify", "ctx.scope", "delete", _UNUSED),
    ("verify", "ctx.session", "delete", _UNUSED),
    ("verify", "ctx.session.ran", "delete", _UNUSED),
    ("verify", "ctx.session.own", "delete", _UNUSED),
    ("verify", "ctx.session.own[].value", "mistype", "any JSON but null is a value"),
    ("verify", "ctx.session.sent", "delete", "what was sent was seen before"),
    ("verify", "ctx.session.sent[].values", "mistype", _OTHER_SENT),
    ("verify", "ctx.session.approved", "delete", _UNUSED),
    ("verify", "ctx.session.approved[].expires_at", "delete", "it only limits, and is in time"),
    ("verify", "ctx.session.waived[].expires_at", "delete", "it only limits, and is in time"),
    ("verify", "ctx.session.approved[].value", "mistype", "any JSON but null is a value"),
    ("verify", "ctx.spent.calls", "delete", _LIMIT),
    ("verify", "ctx.spent.calls[].id", "delete", _RECORDED),
    ("verify", "ctx.as_of", "delete", "nothing that is used expires; where it does, it is refused"),
    ("both", "compiled.pack_version", "delete", _RECORDED),
    ("both", f"{_TOOL}.requires_evidence", "delete", _MET),
    ("both", f"{_REQUIRED}.content_schema", "delete", _MET),
    ("both", f"{_REQUIRED}.content_schema", "mistype", _TRUE),
    ("both", f"{_REQUIRED}.about", "delete", _MET),
    ("both", f"{_TOOL}.bound_args", "delete", _MET),
    ("both", _BOUND, "delete", _MET),
    ("verify", _BOUND, "mistype", _OTHER_FORM),
    ("both", f"{_BOUND}.at", "delete", _MET),
    ("both", f"{_TOOL}.bound_together", "delete", _MET),
    ("both", f"{_TOOL}.bound_together", "mistype", _NO_GROUP),
    ("verify", f"{_TOOL}.arg_roles", "delete", "every scalar is a recipient then, and these pass"),
    ("verify", f"{_TOOL}.follows", "delete", _UNUSED),
    ("verify", f"{_TOOL}.result", "delete", _SESSION),
    ("verify", f"{_TOOL}.result.format", "delete", _SESSION),
    ("verify", f"{_TOOL}.result.derived", "delete", _OPENING),
    ("verify", f"{_TOOL}.output_schema", "delete", _OPENING),
    ("verify", f"{_TOOL}.output_schema", "mistype", _TRUE),
    ("both", f"{_TOOL}.expires_after_s", "delete", _OPENING),
    ("score", f"{_BOUND}.optional", "delete", "absent means false: the argument has to be there"),
    ("score", "ctx.as_of", "delete", "of a late run, each opening says its own time"),
    ("score", "openings[].verdict.caveats", "delete", "absent means that there are none"),
    ("verify", f"{_TOOL}.result.makes", "delete", _SESSION),
    ("verify", f"{_TOOL}.result.web", "delete", _SESSION),
    ("verify", "compiled.manifests.record_fields", "delete", _UNUSED),
    ("verify", f"{_TOOL}.arg_kinds", "delete", "the kind is the one that the value's shape says"),
    ("verify", f"{_CLASSES}[].schema", "delete", _MET),
    ("verify", f"{_CLASSES}[].schema", "mistype", _TRUE),
    ("both", f"{_TOOL}.args_schema", "delete", _MET),
    ("both", f"{_TOOL}.args_schema", "mistype", "`true` is a JSON Schema, which demands nothing"),
    ("both", f"{_TOOL}.min_tokens", "delete", _MET),
    ("both", f"{_TOOL}.produces", "delete", _MET),
    ("both", f"{_ITEM}.content", "delete", _UNUSED),
    ("both", f"{_ITEM}.content", "mistype", "any JSON but null is content, and it is not used"),
    ("both", f"{_ITEM}.expires_at", "delete", "only limits evidence, which is fresh"),
    ("verify", f"{_ITEM}.source", "delete", _UNUSED),
    ("verify", f"{_ITEM}.source.web", "delete", "false, as is what is absent"),
    ("verify", f"{_ITEM}.source.cut", "delete", "false, as is what is absent"),
    ("both", f"{_ITEM}.snapshot", "delete", _RECORDED),
    ("both", f"{_ITEM}.subject", "delete", _RECORDED),
    ("verify", "spec.approval_mode", "delete", _LIMIT),
    ("both", "spec.approval_required_from", "delete", _MET),
    ("verify", "spec.required_evidence", "delete", _MET),
    ("both", "spec.confined_evidence", "delete", _MET),
    ("verify", "spec.provenance", "delete", f"{_MET}; a caveat says so"),
    ("verify", "spec.party_recipients", "delete", _MET),
    ("verify", "spec.output_schemas", "delete", "judged by score: a plan has no outputs yet"),
    ("score", "spec.output_schemas", "delete", _MET),
    ("both", "plan.plan_id", "delete", _RECORDED),
    ("both", "plan.trace_id", "delete", _MET),
    (
        "verify",
        "plan.steps[].args",
        "delete",
        "absent means {}: another call, which nothing forbids",
    ),
    ("both", "plan.steps[].depends_on", "delete", _MET),
    ("verify", "plan.steps[].estimated_tokens", "delete", f"{_MET}; a caveat says so"),
    ("score", "plan.steps[].estimated_tokens", "delete", _OTHER_USES),
    ("verify", "plan.steps[].evidence_refs", "delete", "pinned, though nothing demands it"),
    ("both", "plan.steps[].id", "delete", "no other step depends on it"),
    ("both", "plan.steps[].requires_evidence", "delete", _MET),
    ("verify", "plan.steps[].summary", "delete", _RECORDED),
    ("score", "calls[].attempt", "delete", "the first attempt: absent means 1"),
    ("score", "calls[].cost_micros", "delete", "the run's own total is there"),
    ("score", "calls[].duration_ms", "delete", "no longer than the run, or no budget asks for it"),
    ("score", "calls[].error", "delete", _RECORDED),
    ("score", "calls[].idempotency_key", "delete", "no retry needs it"),
    ("score", "calls[].output", "delete", _RECORDED),
    ("score", "calls[].output", "mistype", "any JSON but null is an output; recorded, not judged"),
    ("score", "calls[].started_ms", "delete", _RECORDED),
    ("score", "calls[].tokens", "delete", "the run's own total is there, or it has no budget"),
    ("score", "intent", "delete", _RECORDED),
    ("score", "pack_version", "delete", _RECORDED),
    ("score", "tokens", "delete", "every call was measured, or it warned before, or no budget"),
    (
        "score",
        "cost_micros",
        "delete",
        "every call was measured, or it warned before, or no budget",
    ),
    ("score", "wall_ms", "delete", "no budget is declared for it, or it warned before"),
)
"""Where a verdict that lets pass may stay exactly as it was."""
