"""Bugs of what-if: a loosening that is not told, or edits that open more than they say."""

from typing import Final

from tests.assurance.planted.bug import Bug, slip

_CANDIDATES: Final = "harness/what_if/proposing/edit_candidates.py"
_CHANGE: Final = "harness/what_if/recorded_change.py"
_FACTS: Final = "harness/what_if/columns/column_facts.py"
_JUDGING: Final = "harness/what_if/columns/column_judging.py"
_KERNEL: Final = "harness/what_if/columns/kernel.py"
_LOGGED: Final = "harness/what_if/proposing/logged_policy.py"
_MATRIX: Final = "harness/what_if/matrix.py"
_OPENED: Final = "harness/what_if/opened_answers.py"
_PATCH: Final = "harness/what_if/proposing/policy_patch.py"
_PROPOSALS: Final = "harness/what_if/proposing/edit_proposals.py"
_REJUDGING: Final = "harness/what_if/rejudging.py"
_ROWS: Final = "harness/what_if/columns/plan_rows.py"
_SEARCH: Final = "harness/what_if/proposing/edit_search.py"
_SESSIONS: Final = "harness/what_if/proposing/logged_sessions.py"
_SHIFTS: Final = "harness/what_if/turn_shifts.py"
_TIMES: Final = "harness/what_if/proposing/logged_times.py"
_TURNS: Final = "harness/what_if/changed_turns.py"

WHAT_IF_BUGS: Final[tuple[Bug, ...]] = (
    slip(
        "anyones-record-is-its-authors",
        _TURNS,
        "what anybody may have written is labelled anew as the words of its tool's author",
        "author = name_author(tool, is_anyones=is_anyones)",
        "author = name_author(tool, is_anyones=False)",
    ),
    slip(
        "relabelled-page-is-no-page",
        _TURNS,
        "a page of the web that is labelled anew is none any more",
        '    fields |= {"web": True} if is_web else {}\n',
        '    fields |= {"web": True} if is_web and "web" in kept else {}\n',
    ),
    slip(
        "first-of-several-forms",
        _TURNS,
        "a result that may have two forms under a policy is judged in the first",
        "    if found and all(one == found[0] for one in found):\n",
        "    if found:\n",
    ),
    slip(
        "renamed-call-made-again",
        _TURNS,
        "a destructive call of a tool that has another adapter now may be made once more",
        "        name = _name_of(rules, pair)\n        adapter_id",
        "        name = _name_of(rules, pair) * isinstance(tool, ToolName)\n        adapter_id",
    ),
    slip(
        "moved-to-the-first",
        _TURNS,
        "a tool that is gone is judged as the first of several of its name",
        "    return moved[0] if len(moved) == 1 else pair[1]",
        "    return moved[0] if moved else pair[1]",
    ),
    slip(
        "drift-of-the-last-plan",
        _MATRIX,
        "a turn that drifted is told as unchanged where its last plan did not",
        "tally = counted._replace(drifted=known.drifted | tally.drifted)",
        "tally = counted._replace(drifted=tally.drifted)",
    ),
    slip(
        "gap-counts-as-one",
        _MATRIX,
        "many missing records count as one that was not judged",
        "self.reasons[one.status] += one.last - one.seq + 1",
        "self.reasons[one.status] += 1",
    ),
    slip(
        "last-opening-answers",
        _OPENED,
        "a step that is refused on its way is told as allowed where a later one passes",
        "        if not one.ok and not is_cleared_by(openings[at], openings[at + 1 : at + 2]):\n",
        "        if not one.ok and at + 1 == len(openings):\n",
    ),
    slip(
        "openings-of-other-calls",
        _OPENED,
        "a plan is judged whose openings do not follow from its calls",
        "    return verdict if opened.fault is None else None",
        "    return verdict if opened.verdicts else None",
    ),
    slip(
        "approval-of-any-plan-carried",
        _CHANGE,
        "an approval of another plan holds for the one that is judged anew",
        "    if approval.plan_digest.removeprefix(_PREFIX) != plans[0]:\n",
        "    if not approval.plan_digest.removeprefix(_PREFIX):\n",
    ),
    slip(
        "approval-in-any-context-carried",
        _CHANGE,
        "an approval that did not hold in its context holds in the changed one",
        "    if approval.context_digest == contexts[0]:\n",
        "    if approval.context_digest is not None:\n",
    ),
    slip(
        "scope-of-the-policy-instead",
        _CHANGE,
        "a recorded scope gives way to the wider one of a policy",
        "if ctx.scope is None and change.policy.scope_names is not None:",
        "if change.policy.scope_names is not None:",
    ),
    slip(
        "context-of-the-first-record",
        _CHANGE,
        "all records are judged with the evidence of the first one",
        '        key = "" if self._change.evidence == "policy" else key\n',
        '        key = "" if self._change.evidence else key\n',
    ),
    slip(
        "spec-without-a-policy",
        _CHANGE,
        "a plan of a spec for which no policy was given is judged by another one",
        "        changed = self._changed.get(recorded.spec.id)\n",
        "        changed = self._changed.get(recorded.spec.id, [*self._changed.values()][0])\n",
    ),
    slip(
        "session-without-a-budget",
        _CHANGE,
        "a session has no limits under a policy that names none",
        "            budget = guard.budget or default\n",
        "            budget = guard.budget\n",
    ),
    slip(
        "unjudged-plan-left-out",
        _REJUDGING,
        "a plan that cannot be judged anew is not told",
        "        return [_failed_plan(recorded.seq, error)]",
        "        return [_failed_plan(recorded.seq, error)][1:]",
    ),
    slip(
        "unreadable-is-of-another-decision",
        _REJUDGING,
        "a record that cannot be read is left out as one of another decision",
        "if self._key is not None and found.decision_key not in (None, self._key):",
        "if self._key is not None and found.decision_key != self._key:",
    ),
    slip(
        "turns-of-one-plan-counted-once",
        _REJUDGING,
        "two turns of a session with the same plan are counted as one",
        "return int(sha256(canonical_json(list(key)))[:16], 16) >> 1",
        "return int(sha256(canonical_json([key.trace, key.plan]))[:16], 16) >> 1",
    ),
    slip(
        "damage-judged",
        _REJUDGING,
        "a damaged record is judged as a sound one",
        "        elif one.is_damaged:\n            yield _of_damage(one)\n        else:\n"
        "            yield from one.found",
        "        elif one.is_damaged and not one.found:\n            yield _of_damage(one)\n"
        "        else:\n            yield from one.found",
    ),
    slip(
        "drift-hidden-by-a-later-plan",
        _SHIFTS,
        "a turn that drifted is not shown where a later plan of it did not",
        "        turn.drifted |= plan.drifted\n",
        "        turn.drifted = plan.drifted\n",
    ),
    slip(
        "fresh-at-its-expiry",
        _FACTS,
        "evidence counts in a file of plans at the very moment at which it expires",
        "moment = self._expiries[expired - 1] if expired else self._expiries[0] - MICROSECOND",
        "moment = self._expiries[max(expired - 1, 0)] - MICROSECOND",
    ),
    slip(
        "yes-that-never-expires",
        _FACTS,
        "a yes of a session counts in a file of plans after it has expired",
        "moments = {*(one.expires_at for one in items), *(one.expires_at for one in approved)}",
        "moments = {*(one.expires_at for one in items)}",
    ),
    slip(
        "approval-of-a-shared-context",
        _FACTS,
        "the approval of one plan holds for all plans of its context in a file of plans",
        "        if recorded.ctx.approvals:\n",
        "        if recorded.ctx.approvals and recorded.spec.late:\n",
    ),
    slip(
        "expiry-searched-from-the-left",
        _JUDGING,
        "a plan at the very moment of an expiry is judged in the time before",
        'group.as_of_us[rows], side="right"',
        'group.as_of_us[rows], side="left"',
    ),
    slip(
        "no-time-is-the-first-time",
        _JUDGING,
        "a plan without a time is judged as if nothing had expired",
        "    over[~group.has_time[rows]] = -1\n",
        "    over[~group.has_time[rows]] = 0\n",
    ),
    slip(
        "asked-for-the-first-kind",
        _KERNEL,
        "a plan is asked about where a second finding is one that no approval clears",
        "asks = not any(situation & BITS_OF[kind][0] for kind in found)",
        "asks = not any(situation & BITS_OF[kind][0] for kind in found[:1])",
    ),
    slip(
        "spent-tokens-left-out",
        _KERNEL,
        "tokens that were spent before are not counted in a file of plans",
        "    tokens += plans.spent_tokens\n",
        "",
    ),
    slip(
        "repeated-by-another-adapter",
        _ROWS,
        "a call counts as repeated that another adapter made",
        "call = step.adapter_id, step.capability_id, canonical_json(step.args)",
        'call = "", step.capability_id, canonical_json(step.args)',
    ),
    slip(
        "tier-below-its-name",
        _CANDIDATES,
        "a tier is proposed that is below what the name of a tool says",
        "lower = MODES[least:rank][::-1]",
        "lower = MODES[min(least, 1) : rank][::-1]",
    ),
    slip(
        "fields-of-the-web",
        _CANDIDATES,
        "a field of a page of the web is proposed as a fact",
        "    for call in seen:\n        if _is_web(call.tool):\n            continue\n"
        "        for path, value in _leaves(call.output, keys=True):",
        "    for call in seen:\n        for path, value in _leaves(call.output, keys=True):",
    ),
    slip(
        "made-up-value-passes",
        _CANDIDATES,
        "an edit is proposed that lets a value pass which a model made up",
        '_INVENTING: Final = frozenset({"open", "role", "tier"})',
        '_INVENTING: Final = frozenset({"open", "tier"})',
    ),
    slip(
        "attacks-by-results-of-a-class",
        _PROPOSALS,
        "an attack that passes by the fields of a class which another tool yields is not told",
        "named | {name for name, one in tools.items() if one.yields in classes})",
        "named | {name for name in tools if name in classes})",
    ),
    slip(
        "further-by-fewer-turns",
        _SEARCH,
        "edits are proposed with which a task is refused at an earlier turn",
        'return now.outcome != "refused" or now.turns > before.turns',
        'return now.outcome != "refused" or now.turns != before.turns',
    ),
    slip(
        "scope-of-one-session",
        _LOGGED,
        "a scope that only some of the sessions had is taken for that of the policy",
        "        if scope is not None and not others:\n",
        "        if scope is not None:\n",
    ),
    slip(
        "task-id-writes-the-policy",
        _PATCH,
        "the id of a task writes lines into the policy",
        "    return escape_line(text)\n\n\ndef _insert_element",
        "    return text\n\n\ndef _insert_element",
    ),
    slip(
        "results-told-without-their-time",
        _TIMES,
        "what a slow tool found counts as expired, and edits are proposed for it",
        'one.event["as_of"], time = format_time(came), came',
        "time = came",
    ),
    slip(
        "judged-by-a-time-that-is-not-known",
        _TIMES,
        "edits are proposed where no record says whether something had expired",
        "return not any(one.first <= time < one.last for one in self._expiries)",
        "return not any(one.first < time < one.first for one in self._expiries)",
    ),
    slip(
        "enforced-sessions-counted-as-shadow",
        "harness/commands/shadow/shadow_command.py",
        "a shadow is said to stop few of many sessions, most of which were never in it",
        "{tool: traces - (enforced - let_through) for tool, traces in sessions.items()}",
        "{tool: traces - (let_through - traces) for tool, traces in sessions.items()}",
    ),
    slip(
        "shadow-uncounted-after-a-redaction",
        "harness/commands/shadow/shadow_command.py",
        "a shadow is not counted at all where one of its records was redacted",
        "        record = read_decision(log, seq)\n",
        "        record: Any = next(log.entries(seq), None)\n",
    ),
    slip(
        "lives-told-as-one",
        _SESSIONS,
        "a session that was opened again is told as one, without the words of its second life",
        "self._last_turn, self._awaits_opening = turns, True",
        "self._last_turn = turns",
    ),
    slip(
        "second-life-carries-nothing",
        "harness/what_if/proposing/task_judge.py",
        "what a session did before it was opened again does not bind it in a trial",
        "self._course = carry_over(opened, before.session.turn, carried_of(before))",
        "self._course = carry_over(opened, before.session.turn, carried_of(opened))",
    ),
    slip(
        "ended-by-the-first-attempt",
        _SESSIONS,
        "of a call that was attempted twice the first result counts",
        "        for call in {call.step: call for call in run.calls}.values():\n",
        "        for call in {call.step: call for call in [*run.calls][::-1]}.values():\n",
    ),
    slip(
        "first-of-as-notable-plans",
        _MATRIX,
        "a table counts a turn by another plan than the list that names it",
        "counted = tally if is_as_notable(plan.direction, direction) else known",
        "counted = tally if not is_as_notable(direction, plan.direction) else known",
    ),
    slip(
        "table-tells-no-question",
        _MATRIX,
        "a table does not tell whether a person is asked after a change",
        '{f"{side}_asks": True} if answer.asks else {}',
        '{f"{side}_asks": True} if answer.asks and side == "before" else {}',
    ),
    slip(
        "left-out-together-count-as-one",
        _MATRIX,
        "many records that were not asked for count as one",
        "one.records if isinstance(one, LeftOutTally) else 1",
        "1",
    ),
    slip(
        "mode-of-the-record",
        _CHANGE,
        "a policy is tried in the safety mode that was recorded",
        '            replaced["safety_mode"] = guard.safety_mode\n',
        "",
    ),
    slip(
        "tried-budget-over-the-recorded-one",
        _CHANGE,
        "a budget is tried with the other limits of the record, not of the policy",
        'limits = replaced.get("run_budget") or ctx.run_budget or RunBudget()',
        'limits = ctx.run_budget or replaced.get("run_budget") or RunBudget()',
    ),
    slip(
        "keys-of-records-left-out",
        _CHANGE,
        "a policy is tried without its fields of records",
        "        record_fields=policy.record_fields,\n",
        "",
    ),
)
"""Most of them tell less than a change opens."""
