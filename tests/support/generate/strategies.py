"""Hypothesis strategies for proposals and runs, and the same generator over a plain `random`.

Three styles in equal shares. Wild: every field drawn on its own. Repaired: a wild one mended until
the model lets it pass, so that passing plans still have tight budgets and real bindings.
Near miss: a repaired one with one or two fields drawn again.
"""

from collections.abc import Callable, Sequence
from functools import cache
from random import Random
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from critic import Plan, Proposal, Run, digest
from tests.support.generate import alphabet
from tests.support.generate.alphabet import ABSENT, PAIRS, REFS, Table
from tests.support.generate.repair import repaired
from tests.support.model.facts import Json

Pick = Callable[[Sequence[Any]], Any]
"""Draws one of the options: the only source of chance."""

# Slow machines draw slowly, and a whole proposal is a large draw: neither is a fault of a test.
PATIENT = settings(
    deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)

STYLES = ("repaired", "near", "wild")


def record(pick: Pick, table: Table) -> Json:
    """One option for each field of the table."""
    drawn = {name: pick(options) for name, options in table.items()}
    return {name: value for name, value in drawn.items() if value is not ABSENT}


# --- proposals --------------------------------------------------------------------------------


def wild_proposal(pick: Pick) -> Json:
    tools = [
        {"adapter_id": pair[0], "capability_id": pair[1], **record(pick, alphabet.TOOL)}
        for pair in pick((PAIRS, PAIRS[:2], PAIRS[1:3]))
    ]
    items = [{"id": ref, **record(pick, alphabet.ITEM)} for ref in pick((REFS, REFS[:2], REFS[1:]))]
    steps: list[Json] = []
    for _ in range(pick((1, 2, 2, 3, 3, 4, 0, 13))):
        steps.append(a_step(pick, steps))
    return {
        "ctx": a_context(pick),
        "compiled": {"manifests": {"tool_manifest": tools, "evidence_manifest": items}},
        "spec": {"id": "d", **record(pick, alphabet.SPEC)},
        "plan": {"steps": steps, **record(pick, alphabet.PLAN)},
    }


def a_step(pick: Pick, earlier: list[Json]) -> Json:
    kind = pick(("tool", "tool", "tool", "reason", "twin"))
    if kind == "twin" and earlier:
        return twin(pick(earlier))
    if kind == "reason":
        return {"kind": "reason", **record(pick, alphabet.STEP)}
    pair, args = pick(PAIRS), record(pick, alphabet.ARGS)
    named = {"kind": "tool", "adapter_id": pair[0], "capability_id": pair[1], "args": args}
    return {**named, **record(pick, alphabet.STEP)}


def twin(step: Json) -> Json:
    """The same step under no id, its whole numbers of the other type."""
    kept = {name: value for name, value in step.items() if name != "id"}
    if "args" in step:
        kept["args"] = {name: retyped(value) for name, value in step["args"].items()}
    return kept


def retyped(value: Any) -> Any:
    """The equal number of the other type, where there is one."""
    if type(value) is int:
        return float(value)
    return int(value) if type(value) is float and value.is_integer() and value < 1e15 else value


def a_context(pick: Pick) -> Json:
    context = record(pick, alphabet.CTX)
    if pick((True, True, False)):
        context["run_budget"] = record(pick, alphabet.BUDGET)
    if pick((False, False, False, True)):
        context["spent"] = record(pick, alphabet.SPENT)
    approvals = pick((ABSENT, 0, 1, 1, 2))
    if approvals is not ABSENT:
        context["approvals"] = [record(pick, alphabet.APPROVAL) for _ in range(approvals)]
    return context


def settled(proposal: Json) -> Json:
    """The proposal with every approval's `right` replaced by the digest of the plan."""
    approvals = proposal["ctx"].get("approvals")
    if not approvals:
        return proposal
    right = digest(Plan(**proposal["plan"]))
    spelling = {"right": right, "sha256:right": "sha256:" + right, "RIGHT": right.upper()}
    signed = [
        {**one, "plan_digest": spelling.get(one["plan_digest"], one["plan_digest"])}
        for one in approvals
    ]
    return {**proposal, "ctx": {**proposal["ctx"], "approvals": signed}}


def missed(pick: Pick, proposal: Json) -> Json:
    """The proposal with one field, somewhere, drawn again."""
    manifests, plan = proposal["compiled"]["manifests"], proposal["plan"]
    steps = plan["steps"]
    places: list[tuple[Json, Table]] = [
        (proposal["ctx"], alphabet.CTX),
        (proposal["ctx"].setdefault("run_budget", {}), alphabet.BUDGET),
        (proposal["ctx"].setdefault("spent", {}), alphabet.SPENT),
        (proposal["spec"], alphabet.SPEC),
        (plan, alphabet.PLAN),
        *((one, alphabet.APPROVAL) for one in proposal["ctx"].get("approvals", [])),
        *((tool, alphabet.TOOL) for tool in manifests["tool_manifest"]),
        *((item, alphabet.ITEM) for item in manifests["evidence_manifest"]),
        *((step, alphabet.STEP) for step in steps),
        *((step["args"], alphabet.ARGS) for step in steps if step["kind"] == "tool"),
    ]
    redraw(pick, *pick(places))
    if steps and pick((False, False, False, True)):
        plan["steps"] = [*steps, twin(pick(steps))]
    return proposal


def redraw(pick: Pick, place: Json, table: Table) -> None:
    name = pick(tuple(table))
    value = pick(table[name])
    place.pop(name, None)
    if value is not ABSENT:
        place[name] = value


def make_proposal(pick: Pick) -> Json:
    style = pick(STYLES)
    proposal = wild_proposal(pick)
    if style == "wild":
        return settled(proposal)
    proposal = repaired(proposal, settled)
    for _ in range(pick((1, 1, 2)) if style == "near" else 0):
        proposal = missed(pick, proposal)
    return settled(proposal)


# --- runs -------------------------------------------------------------------------------------


def make_run(pick: Pick) -> Json:
    """A run of a generated proposal: faithful, nearly so, or anything at all."""
    proposal = make_proposal(pick)
    style = pick(STYLES)
    calls = faithful_calls(proposal) if style != "wild" else []
    for _ in range({"repaired": 0, "near": pick((1, 1, 2, 3)), "wild": pick((0, 1, 3))}[style]):
        calls = disturbed(pick, proposal, calls)
    run: Json = {"proposal": proposal, "calls": calls, "outputs": record(pick, alphabet.OUTPUTS)}
    if style == "wild":
        return {**run, **record(pick, alphabet.RUN)}
    context = proposal["ctx"]
    ids = {"run_id": context.get("run_id", "r"), "trace_id": context["trace_id"]}
    fitting: Json = dict.fromkeys(proposal["spec"]["required_outputs"], 1)
    outputs = {**run["outputs"], **fitting} if pick((True, True, False)) else fitting
    return {**run, **record(pick, alphabet.RUN), **ids, "outputs": outputs}


def faithful_calls(proposal: Json) -> list[Json]:
    """One completed call for each tool step, in order."""
    return [
        {
            "step": index,
            "adapter_id": step["adapter_id"],
            "capability_id": step["capability_id"],
            "args": step["args"],
            "status": "completed",
            "tokens": 1,
        }
        for index, step in enumerate(proposal["plan"]["steps"])
        if step["kind"] == "tool"
    ]


def a_call(pick: Pick, proposal: Json) -> Json:
    pair = pick(PAIRS)
    named = {"adapter_id": pair[0], "capability_id": pair[1]}
    args = record(pick, alphabet.ARGS)
    return {"step": pick((0, 1, 2, 5)), **named, "args": args, **record(pick, alphabet.CALL)}


def disturbed(pick: Pick, proposal: Json, calls: list[Json]) -> list[Json]:
    """The calls with one of them added, dropped, repeated, moved or changed."""
    how = pick(("retry", "redraw", "again", "retype", "drop", "swap", "args", "pair", "add"))
    if not calls or how == "add":
        return [*calls, a_call(pick, proposal)]
    place = pick(tuple(range(len(calls))))
    before, call, after = calls[:place], dict(calls[place]), calls[place + 1 :]
    if how == "drop":
        return before + after
    if how == "swap":
        return [call, *before, *after]
    if how in ("retry", "again"):
        first = {**call, "status": pick(("failed", "timed_out", "unknown"))}
        second = {**call, "attempt": pick((2, 2, 3, 1))}
        keyed = {"idempotency_key": "i1"} if pick((True, False)) else {}
        return [*before, {**first, **keyed}, *pick(([], after)), {**second, **keyed}]
    if how == "retype":
        call["args"] = {name: retyped(value) for name, value in call["args"].items()}
    if how == "args":
        call["args"] = dict(call["args"])
        redraw(pick, call["args"], alphabet.ARGS)
    if how == "pair":
        call["adapter_id"], call["capability_id"] = pick(PAIRS)
    if how == "redraw":
        redraw(pick, call, alphabet.CALL)
    return [*before, call, *after]


# --- sources of chance ------------------------------------------------------------------------


@cache
def _below(count: int) -> st.SearchStrategy[int]:
    return st.integers(0, count - 1)


def _drawing(draw: st.DrawFn) -> Pick:
    return lambda options: options[draw(_below(len(options)))]


@st.composite
def proposals(draw: st.DrawFn) -> Proposal:
    return Proposal(**make_proposal(_drawing(draw)))


@st.composite
def steps(draw: st.DrawFn) -> Json:
    """The wire form of a single step."""
    return a_step(_drawing(draw), [])


@st.composite
def runs(draw: st.DrawFn) -> Run:
    return Run(**make_run(_drawing(draw)))


def chance(seed: int) -> Random:
    return Random(seed)  # noqa: S311 - chance, not a secret


def seeded_proposal(seed: int) -> Proposal:
    """The proposal of that seed, without Hypothesis: for loops that count what they meet."""
    return Proposal(**make_proposal(chance(seed).choice))


def seeded_run(seed: int) -> Run:
    return Run(**make_run(chance(seed).choice))
