"""Bugs of replay: what it passes that does not follow, or blames that does."""

from typing import Final

from tests.assurance.planted.bug import Bug, slip

_ACTION: Final = "harness/replay/action_check.py"
_ACTS: Final = "harness/replay/known_acts.py"
_BEGUN: Final = "harness/replay/begun.py"
_COMMANDS: Final = "harness/replay/command_check.py"
_DIFF: Final = "harness/replay/json_diff.py"
_FACTS: Final = "harness/replay/session_facts.py"
_GROWN: Final = "harness/replay/grown_contexts.py"
_INDEX: Final = "harness/replay/index_check.py"
_LIVES: Final = "harness/replay/session_lives.py"
_LOG: Final = "harness/replay/log_check.py"
_NOTES: Final = "harness/replay/record_notes.py"
_OPENINGS: Final = "harness/replay/openings_check.py"
_PAGE: Final = "harness/replay/log_page.py"
_PARCELS: Final = "harness/replay/parcels.py"
_OTHERS: Final = "harness/replay/other_calls.py"
_READING: Final = "harness/replay/session_reading.py"
_RECHECK: Final = "harness/replay/recheck.py"
_REOPENED: Final = "harness/replay/reopened_check.py"
_STRETCHES: Final = "harness/replay/stretches.py"

REPLAY_BUGS: Final[tuple[Bug, ...]] = (
    slip(
        "unscored-without-an-error",
        _RECHECK,
        "a run whose score was left out is the same",
        "    return record.error is not None and record.report.score is None",
        "    return record.report.score is None",
    ),
    slip(
        "evaluator-not-recorded",
        _RECHECK,
        "an evaluator that the record does not name is no drift",
        "    for name in sorted({*recorded, *here}):",
        "    for name in sorted(recorded):",
    ),
    slip(
        "end-forgotten-in-a-link",
        _RECHECK,
        "what follows the end of a log is the same",
        "return Link(document.raw.seq, document.hashes, before.decided_at, document.is_end)",
        "return Link(document.raw.seq, document.hashes, before.decided_at)",
    ),
    slip(
        "yes-of-another-person",
        _ACTION,
        "an answer names another person than its approval",
        'one.plan_digest.removeprefix("sha256:") == plan_digest and one.approver == '
        "answer.approver",
        'one.plan_digest.removeprefix("sha256:") == plan_digest and one.approver',
    ),
    slip(
        "answer-in-the-canonical-loop",
        _ACTION,
        "the canonical loop has an answer of a person",
        'elif answer is None and action == ("allow" if verdict.ok else "refuse"):',
        'elif action == ("allow" if verdict.ok else "refuse"):',
    ),
    slip(
        "other-approvals-used",
        _BEGUN,
        "an execution relies on as many approvals as it needs, which are others",
        "elif (record.approvals or ()) != needed:",
        "elif len(record.approvals or ()) != len(needed):",
    ),
    slip(
        "ended-in-another-context",
        _BEGUN,
        "an execution is ended by a decision on the same plan in another context",
        "    elif begun.digests != document.digests:\n",
        '    elif begun.digests.get("plan") != document.digests.get("plan"):\n',
    ),
    slip(
        "shadow-ended-as-allowed",
        _BEGUN,
        "an execution that was not allowed is ended by a decision that allows it",
        '    elif not _goes_on(begun.value.get("action"), document.value):\n',
        '    elif "action" not in document.value:\n',
    ),
    slip(
        "ended-by-itself",
        _BEGUN,
        "a record counts as the end of its own execution",
        "if ended is not None and ended <= document.raw.seq:",
        "if ended is not None and ended < document.raw.seq:",
    ),
    slip(
        "reopened-at-another-turn",
        _REOPENED,
        "a session goes on from another turn than it was closed after",
        '    elif named != {"trace_id": record.trace_id, "turns": record.turns}:\n',
        '    elif named["trace_id"] != record.trace_id:\n',
    ),
    slip(
        "as-many-steps-of-commands",
        _COMMANDS,
        "what the shell commands of a plan do is not compared with its steps",
        "    if [step for step in steps if step.of is not None] != derived:\n",
        "    if len([step for step in steps if step.of is not None]) != len(derived):\n",
    ),
    slip(
        "opening-that-does-not-follow",
        _OPENINGS,
        "openings that do not follow from the calls of a run are the same",
        "    if opened.fault is not None and not lost:\n",
        "    if opened.fault is not None and lost:\n",
    ),
    slip(
        "grown-under-another-digest",
        _GROWN,
        "a context that goes on from an earlier one is not compared with its digest",
        "if found is not None and found.digest == digest:",
        "if found is not None and found.digest:",
    ),
    slip(
        "grown-by-another-spelling",
        _GROWN,
        "items pass that are not spelled as they have to be",
        "    return items if canonical_bytes(alone) == document else None",
        "    return items if canonical_bytes(alone) else None",
    ),
    slip(
        "true-in-a-known-array",
        _ACTS,
        "a context is read as the one before it where Python calls them equal",
        "        if spelled != data:\n            ctx = parse",
        "        if not spelled:\n            ctx = parse",
    ),
    slip(
        "index-of-another-type",
        _INDEX,
        "a number of another type in the index is sound",
        "elif row != stored or [*map(type, row)] != [*map(type, stored)]:",
        "elif row != stored:",
    ),
    slip(
        "missing-input-of-a-shown-record",
        _INDEX,
        "a record is shown whose input is missing, and nothing is said",
        "yield from filter(None, (read.tampered, read.incomplete))",
        "yield from filter(None, (read.tampered,))",
    ),
    slip(
        "longer-array-is-equal",
        _DIFF,
        "elements that only one of two arrays has are not told",
        "range(max(len(recorded), len(derived)))",
        "range(min(len(recorded), len(derived)))",
    ),
    slip(
        "claim-of-no-record",
        _LOG,
        "claims that no record made are not told",
        '*_list_left("claim", "made", self._unmade), ',
        "",
    ),
    slip(
        "verdict-of-another-context",
        _PAGE,
        "a verdict is kept for all tools and evidence under which its plan is judged",
        "        key = tuple(digests[name] for name in _MODELS)\n",
        '        key = tuple(digests[name] for name in ("ctx", "plan"))\n',
    ),
    slip(
        "lost-before-the-damage",
        _PARCELS,
        "what can be read of a log before its damage is not told",
        "    except HarnessError:\n        if some:\n            yield some\n        raise",
        "    except HarnessError:\n        raise",
    ),
    slip(
        "cut-log-in-stretches",
        _STRETCHES,
        "a log that was cut before the head is the same where it is replayed by several processes",
        "    if expected is not None:\n        yield from cut_off(last, expected)",
        "    if expected is not None and last.seq > expected.seq:\n"
        "        yield from cut_off(last, expected)",
    ),
    slip(
        "end-before-a-stretch",
        _STRETCHES,
        "what follows the end of a log is the same where a stretch begins there",
        "    return Link(last.raw.seq, last.hashes, decided, last.is_end)",
        "    return Link(last.raw.seq, last.hashes, decided)",
    ),
    slip(
        "answer-on-other-facts",
        _FACTS,
        "an answer may say anything of its session",
        "if asked is not None and asked.seen is not None and asked.seen == turn.seen:",
        "if asked is not None and asked.seen is not None:",
    ),
    slip(
        "evidence-exchanged",
        _FACTS,
        "a later turn has other evidence in the place of what was seen",
        "if before and hash_evidence(ruled.evidence[: before.items]) != before.evidence:",
        "if before and len(ruled.evidence) < before.items:",
    ),
    slip(
        "first-life-lives-on",
        _FACTS,
        "a session that was opened again may say less than it carries",
        "            trace.lives = [Life.after(entry.said)]\n",
        "            trace.lives = [*trace.lives, Life.after(entry.said)]\n",
    ),
    slip(
        "taken-over-again-and-again",
        _FACTS,
        "a session that came from another log may begin anywhere for ever",
        "            self._taken.remove(key)\n",
        "",
    ),
    slip(
        "sent-in-any-order",
        _FACTS,
        "what a session sent may stand in any order",
        "if seqs != sorted(seqs) or (differs and not ran.any_awaited):",
        "if differs and not ran.any_awaited:",
    ),
    slip(
        "sent-at-any-time",
        _LIVES,
        "a session may say that it had seen all before it sent something",
        "orjson.dumps((one.seq, one.values), option=orjson.OPT_SORT_KEYS)",
        "orjson.dumps(one.values, option=orjson.OPT_SORT_KEYS)",
    ),
    slip(
        "made-of-any-kind",
        _LIVES,
        "a session may say that it made a thing of another kind",
        "return orjson.dumps((one.kind, one.value), option=orjson.OPT_SORT_KEYS)",
        "return orjson.dumps(one.value, option=orjson.OPT_SORT_KEYS)",
    ),
    slip(
        "unknown-end-is-unspent",
        _LIVES,
        "a destructive call of which nobody knows the end need not be spent",
        'counts = status not in (None, "failed") if certain else status != "failed"',
        'counts = status == "completed" if certain else status != "failed"',
    ),
    slip(
        "spent-in-an-earlier-life",
        _LIVES,
        "a session that was opened again may make its destructive calls once more",
        "            ran.spent.update(calls)\n",
        "",
    ),
    slip(
        "late-end-not-added",
        _LIVES,
        "what ended long after its turn is not among what the session did",
        "        if self._early is not None and turn.number < self._early[0]:\n",
        "        if self._early is not None and turn.number > self._early[0]:\n",
    ),
    slip(
        "changed-call-is-the-allowed-one",
        _OTHERS,
        "what a call sent that was changed after its ruling need not be told",
        "if is_of_step and canonical_json(call.args) == canonical_json(step.args):",
        "if is_of_step and call.args.keys() == step.args.keys():",
    ),
    slip(
        "guard-by-half",
        _READING,
        "any proposal with a plan of that name counts as one of a guard",
        "return all(one is not None and _SHA256.fullmatch(one) for one in ids)",
        "return any(one is not None and _SHA256.fullmatch(one) for one in ids)",
    ),
    slip(
        "claim-kept-for-another",
        _NOTES,
        "a claim that is kept for another record is sound",
        "        elif seq != document.raw.seq:\n",
        "        elif seq < 1:\n",
    ),
    slip(
        "any-end-after-a-refused-opening",
        _BEGUN,
        "an execution that was not enforced ends as one that was allowed",
        'return action == begun or (is_open and (begun, action) == ("allow", "shadow"))',
        "return action == begun or is_open",
    ),
    slip(
        "time-within-the-lead",
        _STRETCHES,
        "a time that is earlier than that of a decision far before is not noted",
        "decided = last_decided(reversed(documents)) or _decided_before(log, replayer, "
        "lead[0].seq)",
        "decided = last_decided(reversed(documents))",
    ),
    slip(
        "gap-is-no-finding",
        "harness/replay/engine.py",
        "what-if and gate say nothing of records that are missing",
        "                yield Rechecked(AnswerAlone(gap), before, missing)\n",
        "                yield Rechecked(AnswerAlone(gap), before)\n",
    ),
    slip(
        "sent-before-a-close",
        _RECHECK,
        "another life of a session may forget what the first one sent",
        "known = (None, ()) if carried is None else (carried.spent, carried.sent or ())",
        "known = (None, ()) if carried is None else (carried.spent, ())",
    ),
    slip(
        "nothing-sent-is-unknown",
        _RECHECK,
        "a session that sent nothing may carry that it did",
        "facts = (None, None) if carried is None else (carried.spent, carried.sent or ())",
        "facts = (None, None) if carried is None else (carried.spent, carried.sent)",
    ),
    slip(
        "missing-is-redacted",
        _RECHECK,
        "a record that lacks an input excuses the facts after it as redacted",
        "return SessionEntry(trace, 0, (), LostEntry(bool(problems.redacted)))",
        "return SessionEntry(trace, 0, (), LostEntry(bool(problems.redacted or "
        "problems.incomplete)))",
    ),
    slip(
        "beginning-without-inputs",
        _RECHECK,
        "a beginning whose inputs are gone is of no session",
        "    if isinstance(record, BegunRecord):\n        trace = record.trace_id\n    elif",
        "    if isinstance(record, BegunRecord):\n        return None\n    elif",
    ),
    slip(
        "rules-unknown-here",
        _RECHECK,
        "where the digest of the rules is not known, any other is the same",
        'elif (rules := document.value.get("rules_digest")) and rules != rules_digest():',
        'elif (rules := document.value.get("rules_digest")) and rules_digest() and rules != '
        "rules_digest():",
    ),
    slip(
        "part-beside-a-whole",
        _RECHECK,
        "a redacted part is not said where a whole member was taken out too",
        "        if one not in document.gone.values()\n",
        "        if not document.gone\n",
    ),
    slip(
        "first-session-that-came",
        _RECHECK,
        "of the sessions of another log one alone may go on",
        'return SessionEntry("", 0, (), TakenEntry(frozenset(record.sessions or ())))',
        'return SessionEntry("", 0, (), TakenEntry(frozenset((record.sessions or ())[:1])))',
    ),
    slip(
        "input-by-its-digest-alone",
        _PAGE,
        "a plan is read as a contract, since it was read before",
        "        key = name, digest\n",
        '        key = "", digest\n',
    ),
    slip(
        "broken-is-redacted",
        _PAGE,
        "bytes that were put in the place of an input count as redacted",
        "    if whole.redacted:\n        parts",
        "    if whole.redacted or whole.broken:\n        parts",
    ),
    slip(
        "missing-outweighs-altered",
        _PAGE,
        "an altered part is not said where another is missing",
        "    if altered := _altered_parts(digest, bodies):\n        "
        'parts = ", ".join(altered)\n        '
        'return StoredInput(tampered=f"input {name} is not what was recorded: altered part '
        '{parts}")\n    '
        "if whole.missing:",
        "    if whole.missing:",
    ),
    slip(
        "yes-in-the-index-alone",
        _INDEX,
        "the index may say a yes, or a stray call, that no record says",
        "known = KNOWN_ALONE.items() if unknown else ()",
        "known = KNOWN_ALONE.items()",
    ),
    slip(
        "one-input-excuses-all",
        _INDEX,
        "where the context is gone, the index may say other tools",
        "unknown = frozenset[str]().union(*(_COLUMNS_OF[name] for name in gone))",
        "unknown = frozenset[str]().union(*_COLUMNS_OF.values()) if [*gone] else frozenset[str]()",
    ),
    slip(
        "ended-by-the-last-turn",
        _LIVES,
        "only the last turn decides whether all have ended",
        "self.all_ended = self.all_ended and turn.has_ended",
        "self.all_ended = turn.has_ended",
    ),
    slip(
        "late-by-the-last-turn",
        _LIVES,
        "only the last turn decides whether any was late",
        "self.any_late = self.any_late or turn.late",
        "self.any_late = turn.late",
    ),
    slip(
        "awaited-by-the-last-turn",
        _LIVES,
        "only the last turn decides whether results are awaited",
        "self.any_awaited = self.any_awaited or not turn.has_ended",
        "self.any_awaited = not turn.has_ended",
    ),
    slip(
        "refused-shadow-not-counted",
        _LIVES,
        "calls of a refused turn that ran are not counted once it is long ago",
        "                if settled.runs:\n",
        "                if settled.runs and settled.verified:\n",
    ),
    slip(
        "long-ago-again",
        _LIVES,
        "a turn that was added up is ruled on again, and counts twice",
        "return number > self._folded_to and (follows or is_first_here)",
        "return follows or is_first_here",
    ),
    slip(
        "running-turn-settled",
        _LIVES,
        "the results of a refused turn that runs are not waited for",
        "return len(self.ended) >= len(self.tools) if self.runs else not self.verified",
        "return len(self.ended) >= len(self.tools) if self.runs else True",
    ),
    slip(
        "settled-by-one-call",
        _LIVES,
        "a turn is settled once one of its calls has ended",
        "return len(self.ended) >= len(self.tools) if self.runs else not self.verified",
        "return bool(self.ended) if self.runs else not self.verified",
    ),
    slip(
        "late-result-not-added",
        _LIVES,
        "what a turn of long ago returned is not counted",
        "if self._early is not None and turn.number < self._early[0]:",
        "if self._early is not None and turn.number + 1 < self._early[0]:",
    ),
    slip(
        "tools-shared-by-sums",
        _LIVES,
        "what one question adds to the tools that ran is there for the next",
        "            tools={*self.tools},\n",
        "",
    ),
    slip(
        "sent-shared-by-sums",
        _LIVES,
        "what one question adds to what was sent is there for the next",
        "            sent={**self.sent},\n",
        "",
    ),
    slip(
        "spent-shared-by-sums",
        _LIVES,
        "what one question adds to what may be spent is there for the next",
        "            possible_spent={*self.possible_spent},\n",
        "",
    ),
    slip(
        "spent-calls-unproved",
        _FACTS,
        "a session may say that it spent calls that nothing shows",
        "if spent.steps > ran.steps or ran.any_awaited:",
        "if spent.steps >= ran.steps:",
    ),
    slip(
        "sent-as-a-set",
        _FACTS,
        "a value that was sent twice is said once",
        "if not (is_same or Counter(kept) <= Counter(keys)):",
        "if not (is_same or {*kept} <= {*keys}):",
    ),
    slip(
        "approved-as-a-set",
        _FACTS,
        "what a person approved may be said in any order",
        "    if keys != (kept or None):",
        "    if {*(keys or ())} != {*kept}:",
    ),
    slip(
        "approved-while-awaited",
        _FACTS,
        "an approval that nothing shows is blamed while results are awaited",
        "elif kept != given and not ran.any_awaited:",
        "elif kept != given and not ran.waiting:",
    ),
    slip(
        "other-call-with-an-equal-value",
        _OTHERS,
        "a call with true in the place of 1 is taken for the allowed one",
        "canonical_json(call.args) == canonical_json(step.args)",
        "call.args == step.args",
    ),
    slip(
        "read-in-another-place",
        _OTHERS,
        "what a read sent that was not planned is not known to be sent",
        'only_reads = is_of_step and mode == "read_only" and call.step not in commands',
        'only_reads = mode == "read_only" and call.step not in commands',
    ),
)
"""Most of them call something the same that does not follow from what is recorded."""
