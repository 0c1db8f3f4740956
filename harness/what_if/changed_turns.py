"""Make of a recorded turn of a guarded session what it would be under other rules. Pure.

Rule 1: the session is taken as it happened up to the turn: what ran, what was seen, what was spent.
Rule 2: what the guard does for the agent is done again: tools are looked up by name, and evidence
        is pinned for what the rules demand.
Rule 3: where the record does not say what the rules would have made of it, nothing is assumed.
Rule 4: what was seen is labelled as it was then, or anew where that is asked for: by the tool that
        returned it, which its record names.
"""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from critic import CompiledContext, DecisionSpec, EvidenceItem, Plan, Proposal, RunContext
from critic.session import RESERVED_IDS, SessionRules
from critic.session.call_batch import Call, CallResult, CallTake
from critic.session.call_results import classify_output, name_author
from critic.session.proposing import facts_in, plan_of_batch
from critic.session.session_evidence import Trail
from critic.session.session_rules import CALL_ID, FAILED_CLASS, SessionTool
from evals.capability import Author, ToolName
from evals.context import SpentCall
from evals.escaping import escape_name
from evals.manifest import Source
from evals.plan import ToolStep, is_command_part, is_late_plan

_OF_NO_TOOL: Final = frozenset({FAILED_CLASS, "result"})
"""The classes of results that no policy changes."""
_CUT: Final = 80  # characters: a longer subject was cut, and so may be the name that it begins with


class Unjudgeable(NamedTuple):
    """Why the record of a turn does not say what it would be. One line, safe to print."""

    reason: str


class ChangedTurn(NamedTuple):
    """A turn under other rules."""

    ctx: RunContext
    compiled: CompiledContext
    spec: DecisionSpec
    plan: Plan


def turn_under(
    rules: SessionRules, recorded: Proposal, *, relabels: bool = False
) -> ChangedTurn | Unjudgeable:
    """Return a recorded turn as it would be under these rules, or why that is not known.

    Args:
        relabels: results have the class, the form and the author that the rules give them.
    """
    facts, manifest = recorded.ctx.session, recorded.compiled.manifests.evidence_manifest
    calls = list(_calls(rules, recorded))
    called = [step for step in recorded.plan.steps if not is_command_part(step)]
    if facts is None or len(calls) != len(called):
        return Unjudgeable("it is not the plan of a guard: a step is not a call")
    items: list[EvidenceItem] = [*rules.evidence]
    for item in manifest:
        if not item.id.startswith(RESERVED_IDS):
            continue  # the policy held it then
        changed = _relabel(rules, item) if relabels else _item_under(rules, item)
        if isinstance(changed, Unjudgeable):
            return changed
        items.append(changed)
    as_of = recorded.ctx.as_of
    made = plan_of_batch(
        rules, calls, Trail(items), as_of, session=str(facts.id), turn=int(facts.turn)
    )
    plan = Plan(steps=made.steps, declared_outputs=(), plan_id=recorded.plan.plan_id)
    is_late = is_late_plan(plan)
    compiled = rules.compiled_for((call.tool for call in calls), tuple(items), is_late=is_late)
    ctx = _with_effects(rules, _rename_tools(rules, recorded.ctx), calls, plan)
    spec = rules.late_spec if is_late else rules.batch_spec
    return ChangedTurn(ctx, compiled, spec, plan)


def _with_effects(
    rules: SessionRules, ctx: RunContext, calls: list[Call], plan: Plan
) -> RunContext:
    """Return a context whose scope has what the commands of its tools do."""
    scope = None
    if ctx.scope is not None:
        pairs = {(one.adapter_id, one.capability_id) for one in ctx.scope}
        scope = tuple(call.tool for call in calls if rules.pair_of(call.tool) in pairs)
    more = rules.scope_for(scope, [call.tool for call in calls], plan)
    names = (*dict.fromkeys((*(ctx.scope or ()), *(more or ()))),)
    return ctx.model_copy(update={"scope": names}) if names else ctx


def _calls(rules: SessionRules, recorded: Proposal) -> Iterator[Call]:
    """Yield the calls of a batch, by the names that the rules have for their tools."""
    known, steps = recorded.compiled.manifests.tools, recorded.plan.steps
    # Of a late plan each call has the id of its step; the id of none stands for a call left out.
    for at, step in enumerate(steps):
        if isinstance(step, ToolStep) and not is_command_part(step):
            pair = step.adapter_id, step.capability_id
            name = _name_of(rules, pair, was_known=pair in known)
            takes = tuple(CallTake(one.arg, one.step, one.at) for one in step.takes or ())
            told = (step.estimated_tokens, facts_in(step), takes, tuple(step.evidence_steps or ()))
            yield Call(step.id or str(at), name, step.args, *told)


def _name_of(rules: SessionRules, pair: tuple[str, str], *, was_known: bool = True) -> str:
    """Return the name that the rules have for a recorded tool.

    A tool that was unknown was recorded under the name that the agent gave. One that was known, and
    whose adapter is another now, is found by its capability, if no other tool has that one.
    """
    for name, tool in rules.tools.items():
        if tool.pair == pair and was_known:
            return name
    if pair[1] in rules.tools or not was_known:
        return pair[1]
    moved = [name for name, tool in rules.tools.items() if tool.pair[1] == pair[1]]
    return moved[0] if len(moved) == 1 else pair[1]


def _rename_tools(rules: SessionRules, ctx: RunContext) -> RunContext:
    """Return a context whose tools have the ids that the rules have for them."""

    def ids(tool: ToolName | SpentCall) -> dict[str, str]:
        pair = tool.adapter_id, tool.capability_id
        name = _name_of(rules, pair)
        adapter_id, capability_id = rules.pair_of(name) if name in rules.tools else pair
        return {"adapter_id": adapter_id, "capability_id": capability_id}

    changed: dict[str, Any] = {}
    if ctx.scope is not None:
        changed["scope"] = tuple(ToolName(**ids(tool)) for tool in ctx.scope)
    if ctx.spent is not None and ctx.spent.calls is not None:
        calls = tuple(call.model_copy(update=ids(call)) for call in ctx.spent.calls)
        changed["spent"] = ctx.spent.model_copy(update={"calls": calls})
    if ctx.session is not None and ctx.session.ran is not None:
        ran = tuple(ToolName(**ids(tool)) for tool in ctx.session.ran)
        changed["session"] = ctx.session.model_copy(update={"ran": ran})
    return ctx.model_copy(update=changed)


def _item_under(rules: SessionRules, item: EvidenceItem) -> EvidenceItem | Unjudgeable:
    """Return an item of the record with the class that it would have, as its tool promises it."""
    kind = item.classification
    if not item.id.startswith(CALL_ID) or kind in _OF_NO_TOOL or not _reads_classes(rules):
        return item
    found = [_item_of(rules, tool, item) for tool in _tools_of(rules, kind)]
    if not found and kind.startswith("result:"):
        return item
    if found and all(one == found[0] for one in found):
        return found[0]
    named = f"evidence {escape_name(item.id)} is of class {escape_name(kind)}"
    if not found:
        return Unjudgeable(f"{named}, which no tool of the policy yields")
    return Unjudgeable(f"{named}, which tools of the policy yield in more than one form")


def _relabel(rules: SessionRules, item: EvidenceItem) -> EvidenceItem | Unjudgeable:
    """Return an item labelled as the rules label what its tool returns.

    When it arrived is not on record, so that it expires when it did. What is there as a value stays
    one, as above.
    """
    if not item.id.startswith(CALL_ID) or item.classification == FAILED_CLASS:
        return item
    named = _named_tools(rules, item)
    if item.source is None or item.subject is None or len(named) > 1:
        return Unjudgeable(f"evidence {escape_name(item.id)}: its tool is not on record")
    if not named:  # what a tool returned that the rules do not know, anybody may have written
        source = _written_by(item.source, "public", is_web=False)
        return item.model_copy(update={"classification": "result", "source": source})
    (tool,) = named
    promised = tool.capability.result
    result = CallResult("completed", item.content)
    content, classification, is_anyones = classify_output(tool, result, rules.tables)
    author = name_author(tool, is_anyones=is_anyones)
    is_web = promised is not None and bool(promised.web)
    written = None if author is None else _written_by(item.source, author, is_web=is_web)
    changed = {"content": content, "classification": classification, "source": written}
    return item.model_copy(update=changed)


def _written_by(source: Source, author: Author, *, is_web: bool) -> Source:
    kept = source.model_fields_set - {"author", "web"}
    fields: dict[str, Any] = {name: getattr(source, name) for name in kept}
    fields |= {"web": True} if is_web else {}
    return Source(author=author, **fields)


def _named_tools(rules: SessionRules, item: EvidenceItem) -> list[SessionTool]:
    """Return the tools of the rules that an item may be of: its subject begins with the name."""
    name, _, _ = (item.subject or "").partition(" ")
    if len(name) < _CUT:
        return [rules.tools[name]] if name in rules.tools else []
    return [tool for other, tool in rules.tools.items() if other.startswith(name)]


def _tools_of(rules: SessionRules, kind: str) -> list[SessionTool]:
    """Return the tools that may have returned what has a class: the one named in it, or all."""
    tools = rules.tools.values()
    named = [tool for tool in tools if tool.default_class == kind]
    return named or [tool for tool in tools if tool.result_class == kind]


def _item_of(rules: SessionRules, tool: SessionTool, item: EvidenceItem) -> EvidenceItem:
    """Return an item as if the tool had returned it. Who wrote it, as far as known, is on record.

    What is there as a value stays one: whether it was a text is not on record.
    """
    result = CallResult("completed", item.content)
    content, classification, is_anyones = classify_output(tool, result, rules.tables)
    changed = {"content": content, "classification": classification}
    if is_anyones and item.source is not None:
        changed["source"] = item.source.model_copy(update={"author": "public"})
    return item.model_copy(update=changed)


def _reads_classes(rules: SessionRules) -> bool:
    spec = rules.spec
    is_judged = spec.provenance is not None and rules.classes
    demands = rules.backing_classes or spec.required_evidence or spec.confined_evidence
    return bool(is_judged or demands)
