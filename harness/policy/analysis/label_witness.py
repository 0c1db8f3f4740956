"""Show the effect of a wrong label: a session that the right label would have stopped.

A wrong label without an effect is a note. If it lets the text of others choose the target of a call
with nobody asked, that call has an error too.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Final, NamedTuple

from critic import MODE_RANK, ToolResult
from critic.session import Action
from evals.escaping import escape_name, pointer
from evals.pointers import segments
from harness.policy.analysis.lint_finding import Findings, LintFinding
from harness.policy.analysis.policy_facts import AIMED_ROLES, PolicyFacts, ToolFacts
from harness.policy.analysis.trial_session import (
    Choice,
    backing_choices,
    choice_events,
    choices_of,
    judge_choice,
)
from harness.policy.envelopes import Policy

_STRICTNESS: Final[dict[Action | None, int]] = {"allow": 0, "ask": 1, "refuse": 2, None: 3}
_OF_LABELS: Final = frozenset(
    {"web_is_trusted", "web_not_said", "author_above_guess", "trusted_result"}
)
_WITNESSED: Final = _OF_LABELS | {"free_text_as_field", "evidence_from_untrusted"}
_MOST_JUDGED: Final = 120
"""How many sessions are judged for all findings of one policy: half a second."""
_MOST_OF_ONE: Final = 40
_MOST_VALUES: Final = 4
"""How many values are tried in one argument."""


class _Case(NamedTuple):
    """A finding to test: does this source choose anything that the corrected policy stops?"""

    source: ToolFacts
    sinks: list[ToolFacts]
    corrected: Policy


class _Shown(NamedTuple):
    """A session that passes under the policy but not under the corrected one."""

    choice: Choice
    action: Action


def show_witnesses(facts: PolicyFacts, findings: Iterable[LintFinding]) -> Findings:
    """Yield the findings. Those about sources have a session, or are notes without one."""
    left = _MOST_JUDGED
    for finding in findings:
        if finding.rule not in _WITNESSED or facts.provenance is None or left <= 0:
            yield finding
            continue
        shown, tried = _find_witness(facts, finding, min(left, _MOST_OF_ONE))
        left -= tried
        if shown is None:
            yield finding._replace(is_latent=tried < _MOST_OF_ONE)
            continue
        events = choice_events(facts.policy, shown.choice)
        yield _with_witness(finding, shown)._replace(witness=events)
        if (
            shown.action == "allow"
            and shown.choice.sink.roles.get(shown.choice.name) in AIMED_ROLES
        ):
            yield _reached_target(shown)._replace(witness=events)


def _with_witness(finding: LintFinding, shown: _Shown) -> LintFinding:
    sink, name = shown.choice.sink.tool.called, shown.choice.name
    what = f'choose "{escape_name(name)}" of {sink}' if name else f"decide whether {sink} passes"
    asked = "with nobody asked" if shown.action == "allow" else "and a person is asked anyway"
    text, fix = finding.message.rsplit(": ", 1)
    return finding._replace(message=f"{text}; so others {what}, {asked}: {fix}")


def _reached_target(shown: _Shown) -> LintFinding:
    sink, name = shown.choice.sink, shown.choice.name
    source = shown.choice.before[0].tool.tool.called
    message = (
        f'the author of a result of {source} chooses "{escape_name(name)}", and nobody is asked: '
        f"correct the label of {source}"
    )
    return sink.report_finding("public_reaches_target", pointer("arg_roles", name), message)


def _find_witness(facts: PolicyFacts, finding: LintFinding, most: int) -> tuple[_Shown | None, int]:
    """Return a session that shows the effect of a finding, if any, and how many were judged."""
    tried = 0
    best: _Shown | None = None
    for case, choice in islice(_choices(facts, finding), most // 2):
        tried += 1
        action = judge_choice(facts.policy, choice)
        if action not in ("allow", "ask"):
            continue
        tried += 1
        stopped = judge_choice(case.corrected, choice)
        if _STRICTNESS[stopped] > _STRICTNESS[action]:
            best = best or _Shown(choice, action)
            if action == "allow":
                return _Shown(choice, action), tried
    return best, tried


def _choices(facts: PolicyFacts, finding: LintFinding) -> Iterator[tuple[_Case, Choice]]:
    for case in _cases(facts, finding):
        for sink in case.sinks:
            if finding.rule == "evidence_from_untrusted":
                yield from ((case, one) for one in backing_choices(facts, case.source, sink))
                continue
            for name in _by_worth(sink):
                tried = islice(choices_of(facts, case.source, sink, name), _MOST_VALUES)
                yield from ((case, one) for one in tried)


def _by_worth(sink: ToolFacts) -> list[str]:
    """Return the arguments of a tool, targets first."""
    return sorted(sink.roles, key=lambda name: sink.roles[name] not in AIMED_ROLES)


def _cases(facts: PolicyFacts, finding: LintFinding) -> Iterator[_Case]:
    place = segments(finding.path)
    if finding.rule in _OF_LABELS:
        source = facts.tools[int(place[1])]
        yield _Case(source, _sinks(facts), _relabel_source(facts.policy, source, finding.rule))
    elif finding.rule == "evidence_from_untrusted":
        sink = facts.tools[int(place[1])]
        for name, source in facts.sources_of(sink.needed_classes):
            if not source.is_believed or name in facts.classes:
                yield _Case(source, [sink], _with_tool(facts.policy, source, yields=None))
    else:
        table = facts.policy.class_[int(place[1])].name if place[0] == "class" else None
        for source in facts.tools:
            is_record = source.tool.result is not None and source.tool.result.format == "json"
            if is_record and table in (None, source.tool.yields):
                yield _Case(source, _sinks(facts), _without_field(facts.policy, place))


def _sinks(facts: PolicyFacts) -> list[ToolFacts]:
    """Return the tools with effects, those without a question first."""
    asked = facts.policy.spec.approval_required_from
    limit = len(MODE_RANK) if asked is None else MODE_RANK[asked]
    return sorted(
        facts.effects,
        key=lambda one: (one.rank >= limit, AIMED_ROLES.isdisjoint(one.roles.values())),
    )


def _relabel_source(policy: Policy, source: ToolFacts, rule: str) -> Policy:
    """Return the policy with the results of a tool as anybody's text, or as a web page."""
    form = source.tool.result.format if source.tool.result else None
    if source.is_web or rule in ("web_is_trusted", "web_not_said"):
        return _with_tool(policy, source, result=ToolResult(author="public", web=True, format=form))
    return _with_tool(policy, source, result=ToolResult(author="public", format=form))


def _with_tool(policy: Policy, of: ToolFacts, **fields: Any) -> Policy:
    """Return the policy with other fields of one tool; None leaves one out."""
    tools = list(policy.tool)
    at = int(segments(of.path)[1])
    kept = {name: getattr(of.tool, name) for name in of.tool.model_fields_set - fields.keys()}
    more = {name: value for name, value in fields.items() if value is not None}
    tools[at] = type(of.tool)(**kept, **more)
    return policy.model_copy(update={"tool": tuple(tools)})


def _without_field(policy: Policy, place: tuple[str, ...]) -> Policy:
    """Return the policy without a field of a class, or of every record."""
    if place[0] == "record_fields":
        kept = [one for at, one in enumerate(policy.record_fields or ()) if at != int(place[1])]
        return policy.model_copy(update={"record_fields": tuple(kept)})
    classes = list(policy.class_)
    table = classes[int(place[1])]
    fields = {name: who for name, who in (table.fields or {}).items() if name != place[3]}
    classes[int(place[1])] = table.model_copy(update={"fields": fields})
    return policy.model_copy(update={"class_": tuple(classes)})
