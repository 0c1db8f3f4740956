"""The laws of `verify`, each a named function with its promise as docstring.

Monotony is stated over all violations, not only over the answer, wherever that holds. Violations
are compared by check, kind, step and path; their reasons quote modes and counts.
"""

from collections.abc import Callable
from typing import Any, Final

from hypothesis import strategies as st

from critic import MODE_RANK, Proposal, Refused, Verified
from evals.canonical import canonical_bytes
from evals.context import DEFAULT_BUCKET_TOKENS, DEFAULT_MAX_STEPS
from harness.testing._draw.primitives import ABSENT, Json
from harness.testing._laws.renaming import named_back, renamed
from harness.testing._laws.trial import Trial, marks, replace_step, with_manifest, with_part
from harness.testing.strategies import hostile_plans
from harness.wire import parse

Body = Callable[[Trial], None]


_TOOLS: Final = "tool_manifest"
_ITEMS: Final = "evidence_manifest"
_MODES: Final = tuple(MODE_RANK)


# Totality and determinism.


def totality(trial: Trial) -> None:
    """Every proposal gets one of two answers, and no exception."""
    one = trial.proposal
    try:
        verdict: Any = trial.verify(one.ctx, one.compiled, one.spec, one.plan)
    except Exception as error:
        trial.require(False, f"verify raised {type(error).__name__}: {error}")
    else:
        answered = type(verdict) in (Verified, Refused)
        trial.require(answered, f"verify returned {type(verdict).__name__}")


def determinism(trial: Trial) -> None:
    """The same proposal gets the same verdict, byte for byte, and so does a copy of it."""
    first = canonical_bytes(trial.judge(trial.proposal))
    for again in (trial.proposal, trial.proposal.model_copy(deep=True)):
        trial.require(canonical_bytes(trial.judge(again)) == first, "judged again, it differs")


def json_round_trip(trial: Trial) -> None:
    """Writing a proposal as JSON and reading it again changes nothing."""
    reread = parse(Proposal, canonical_bytes(trial.proposal))
    same = canonical_bytes(trial.judge(reread)) == canonical_bytes(trial.judge(trial.proposal))
    trial.require(same, "read again from its JSON, it gets another verdict")


# Authority: less of it never helps.


def safety_mode_is_monotone(trial: Trial) -> None:
    """Raising safety_mode never adds a violation, and lowering it never takes one away."""
    one, other = (trial.pick(_MODES) for _ in range(2))
    lower, higher = sorted((one, other), key=MODE_RANK.__getitem__)
    in_higher = trial.judge(with_part(trial.wire, "ctx", safety_mode=higher))
    altered = with_part(trial.wire, "ctx", safety_mode=lower)
    trial.require_kept(in_higher, altered, f"lowering safety_mode from {higher} to {lower}")


def read_only_refuses_every_write(trial: Trial) -> None:
    """Under safety_mode read_only no plan passes that calls anything but read_only tools."""
    known = trial.proposal.compiled.manifests.tools
    called = [step for step in trial.wire["plan"]["steps"] if step["kind"] == "tool"]
    found = [known.get((step["adapter_id"], step["capability_id"])) for step in called]
    if any(tool is None or tool.approval_mode != "read_only" for tool in found):
        altered = with_part(trial.wire, "ctx", safety_mode="read_only")
        trial.require(not trial.judge(altered), "a plan with a write passed", altered)


def less_evidence_never_helps(trial: Trial) -> None:
    """Removing evidence never lets a refused plan pass."""
    _remove_entry(trial, _ITEMS)


def fewer_capabilities_never_help(trial: Trial) -> None:
    """Removing a capability never lets a refused plan pass."""
    _remove_entry(trial, _TOOLS)


def _remove_entry(trial: Trial, manifest: str) -> None:
    entries = trial.wire["compiled"]["manifests"][manifest]
    if entries:
        at = trial.pick(range(len(entries)))
        altered = with_manifest(trial.wire, manifest, entries[:at] + entries[at + 1 :])
        trial.require_refused(trial.judge(trial.proposal), altered, f"removing entry {at}")


def less_budget_never_helps(trial: Trial) -> None:
    """A smaller budget, or more of it spent, never takes a violation away."""
    defaults = {"max_steps": DEFAULT_MAX_STEPS, "bucket_tokens": DEFAULT_BUCKET_TOKENS}
    budget = {**defaults, **trial.wire["ctx"].get("run_budget", {})}
    spent = {"steps": 0, "tokens": 0, **trial.wire["ctx"].get("spent", {})}
    name, used = trial.pick((("max_steps", "steps"), ("bucket_tokens", "tokens")))
    less = trial.draw(st.integers(0, budget[name]))
    smaller = {**budget, name: budget[name] - less}
    more = {**spent, used: min(spent[used] + less, 2**53 - 1)}
    before = trial.judge(trial.proposal)
    for altered in (
        with_part(trial.wire, "ctx", run_budget=smaller),
        with_part(trial.wire, "ctx", spent=more),
    ):
        trial.require_kept(before, altered, f"{less} less of {name}")


def no_clock_never_helps(trial: Trial) -> None:
    """Leaving out as_of never takes a violation away."""
    altered = with_part(trial.wire, "ctx", as_of=ABSENT)
    trial.require_kept(trial.judge(trial.proposal), altered, "leaving out as_of")


def another_plans_approval_is_none(trial: Trial) -> None:
    """An approval of another plan changes nothing."""
    foreign = {"approval_id": "x", "plan_digest": "0" * 64, "approver": "someone"}
    approvals = [foreign, *trial.wire["ctx"].get("approvals", [])]
    altered = with_part(trial.wire, "ctx", approvals=approvals)
    trial.require_same(trial.judge(trial.proposal), altered, "an approval of another plan")


# The manifests are sets, and names are but names.


def unrelated_entries_change_nothing(trial: Trial) -> None:
    """An entry that the plan does not name never changes a verdict."""
    mode = trial.pick(_MODES)
    tool = {"adapter_id": "unrelated", "capability_id": "unrelated", "approval_mode": mode}
    item = {"id": "unrelated", "classification": "unrelated", "content": "unrelated"}
    altered = trial.wire
    for manifest, entry in ((_TOOLS, tool), (_ITEMS, item)):
        entries = altered["compiled"]["manifests"][manifest]
        first = trial.draw(st.booleans())
        more = [entry, *entries] if first else [*entries, entry]
        altered = with_manifest(altered, manifest, more)
    trial.require_same(trial.judge(trial.proposal), altered, "an unrelated entry")


def manifest_order_is_irrelevant(trial: Trial) -> None:
    """The order of the entries of a manifest never changes a verdict."""
    altered = trial.wire
    for manifest in (_TOOLS, _ITEMS):
        entries = altered["compiled"]["manifests"][manifest]
        altered = with_manifest(altered, manifest, trial.draw(st.permutations(entries)))
    trial.require_same(trial.judge(trial.proposal), altered, "another order of a manifest")


def names_are_but_names(trial: Trial) -> None:
    """Renaming ids, classes and outputs throughout changes nothing in a verdict but the names."""
    altered, names = renamed(trial.wire)
    before, after = trial.judge(trial.proposal), trial.judge(altered)
    same = named_back(after.wire(), names) == before.wire()
    trial.require(same, f"renamed, it gets another verdict: {after.wire()}", altered)


# Steps: what one more of them, or one more claim of theirs, can do.


def appended_steps_keep_what_steps_are_blamed_for(trial: Trial) -> None:
    """Appending a step keeps every violation of a step and every broken limit.

    What it may cure is what no step is blamed for: an output that nothing could produce, and
    evidence that the spec wants pinned by some step.
    """
    one = trial.proposal
    strange = trial.draw(hostile_plans(one.compiled, one.spec, one.ctx)).wire()["steps"]
    altered = _appended(trial.wire, strange[0] if strange else {"kind": "reason"})
    blamed = marks(trial.judge(one))
    for mark in list(blamed):
        if mark[2] is None and mark[0] != "loop":
            del blamed[mark]
    lost = blamed - marks(trial.judge(altered))
    trial.require(not lost, f"an appended step took a violation away: {list(lost)}", altered)


def an_idle_step_cures_nothing(trial: Trial) -> None:
    """Appending a step that pins nothing and produces nothing keeps every violation."""
    idle = {"adapter_id": "idle", "capability_id": "idle"}
    tool = {**idle, "approval_mode": "read_only", "produces": []}
    tools = trial.wire["compiled"]["manifests"][_TOOLS]
    known = with_manifest(trial.wire, _TOOLS, [*tools, tool])
    altered = _appended(known, {"kind": "tool", **idle})
    trial.require_kept(trial.judge(known), altered, "an idle step")


def _appended(wire: Json, step: Json) -> Json:
    return with_part(wire, "plan", steps=[*wire["plan"]["steps"], step])


def claims_only_add(trial: Trial) -> None:
    """What a step demands of itself (evidence, order, tokens) never takes a violation away."""
    steps = trial.wire["plan"]["steps"]
    # Another plan has another digest: then it is the approval that is missing, and that may add.
    if not steps:
        return
    at = trial.pick(range(len(steps)))
    step = steps[at]
    more: Json = {
        "requires_evidence": [*step.get("requires_evidence", ()), "zz"],
        "depends_on": [*step.get("depends_on", ()), "zz"],
        "estimated_tokens": min(step.get("estimated_tokens", 0) + 9000, 2**53 - 1),
    }
    name = trial.pick(tuple(more))
    altered = replace_step(trial.wire, at, **{name: more[name]})
    trial.require_kept(trial.judge(trial.proposal), altered, f"a claim in {name} of step {at}")


def violations_name_real_places(trial: Trial) -> None:
    """Every violation names a step that the plan has, and a path that leads into it."""
    verdict = trial.judge(trial.proposal)
    plan = trial.wire["plan"]
    for one in verdict.violations if isinstance(verdict, Refused) else ():
        step, path = one.offending_step, one.path
        real = step is None or step < len(plan["steps"])
        trial.require(real, f"step {step} is blamed, of {len(plan['steps'])}: {one.reason}")
        leads = path is None or leads_somewhere(plan, path)
        trial.require(leads, f"path {path} leads nowhere: {one.reason}")
        inside = step is None or path is None or f"{path}/".startswith(f"/steps/{step}/")
        trial.require(inside, f"path {path} is not in step {step}: {one.reason}")


def leads_somewhere(document: Any, pointer: str) -> bool:
    """Whether a JSON pointer leads to a place in the document, or to a field that is left out."""
    parts = [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]
    for position, part in enumerate(parts):
        if isinstance(document, list) and part.isdecimal() and int(part) < len(document):
            document = document[int(part)]
        elif isinstance(document, dict) and part in document:
            document = document[part]
        else:
            return isinstance(document, dict) and position == len(parts) - 1
    return True


# What is right passes, and what is nearly right does not.


def valid_plans_pass(trial: Trial) -> None:
    """A plan that meets every demand passes."""
    verdict = trial.judge(trial.proposal)
    trial.require(bool(verdict), f"it is refused: {verdict.reasons}")


def near_misses_are_refused(trial: Trial) -> None:
    """A plan with one fault is refused, for that fault and for no other."""
    miss = trial.miss
    if miss is None:
        return
    found = list(marks(trial.judge(trial.proposal)).elements())
    told = [(check, kind) for check, kind, *_ in found]
    wanted = (miss.check, miss.kind)
    trial.require(told == [wanted], f"{miss.way} must be refused with {wanted}, not {told}")


ANY: Final[tuple[Body, ...]] = (
    totality,
    determinism,
    json_round_trip,
    safety_mode_is_monotone,
    read_only_refuses_every_write,
    less_evidence_never_helps,
    fewer_capabilities_never_help,
    less_budget_never_helps,
    no_clock_never_helps,
    another_plans_approval_is_none,
    unrelated_entries_change_nothing,
    manifest_order_is_irrelevant,
    names_are_but_names,
    appended_steps_keep_what_steps_are_blamed_for,
    an_idle_step_cures_nothing,
    claims_only_add,
    violations_name_real_places,
)
"""The laws of any proposal."""

OF_PASSING: Final[tuple[Body, ...]] = (valid_plans_pass, near_misses_are_refused)
"""The laws of plans that pass or all but pass, for worlds where a plan can."""
