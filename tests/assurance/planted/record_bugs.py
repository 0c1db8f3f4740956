"""Bugs of records: what a record, its fate, its hash or its index tells falsely."""

from typing import Final

from tests.assurance.planted.bug import Bug, slip

_ACTIONS: Final = "harness/record/actions.py"
_APPROVALS: Final = "harness/record/approvals.py"
_CLOSED: Final = "harness/record/closed_words.py"
_DECISION: Final = "harness/record/decision.py"
_DRAFTS: Final = "harness/record/drafts.py"
_FACTS: Final = "harness/record/record_facts.py"
_FATES: Final = "harness/record/fates.py"
_INPUTS: Final = "harness/record/inputs.py"
_INTEGRITY: Final = "harness/record/integrity.py"
_KINDS: Final = "harness/record/record_kinds.py"
_PARTS: Final = "harness/record/parts.py"
_ROTATION: Final = "harness/record/rotation.py"
_ROW: Final = "harness/record/index_row.py"

RECORD_BUGS: Final[tuple[Bug, ...]] = (
    slip(
        "strayed-under-a-ruling",
        _FATES,
        "a call that the plan does not have is covered by the ruling on the plan",
        "return bool(unruled or facts & RecordFacts.STRAYED)",
        "return bool(unruled or (facts & RecordFacts.STRAYED and not facts & _ALLOWED))",
    ),
    slip(
        "unknown-is-not-run",
        _FATES,
        "a turn that was settled as unknown counts as one in which nothing ran",
        "_RAN: Final = RecordFacts.RAN | RecordFacts.UNKNOWN",
        "_RAN: Final = RecordFacts.RAN",
    ),
    slip(
        "settlement-outlives-its-end",
        _FATES,
        "what was settled as unknown stays unknown after its end is on record",
        "return facts & ~UNTIL_ENDED",
        "return facts & ~RecordFacts.BEGAN",
    ),
    slip(
        "planned-by-another-adapter",
        _FACTS,
        "a call of a tool with the same name of another adapter counts as planned",
        'names = ("adapter_id", "capability_id")',
        'names = ("capability_id",)',
    ),
    slip(
        "planned-as-python-compares",
        _FACTS,
        "a call with true counts as the planned one with 1",
        "return canonical_json(sent) == canonical_json(planned)",
        "return bool(sent == planned)",
    ),
    slip(
        "one-call-completed",
        _FACTS,
        "a turn of which one call failed counts as one that ran",
        'if any(member_of(call, "status") != "completed" for call in calls):',
        'if calls and all(member_of(call, "status") != "completed" for call in calls):',
    ),
    slip(
        "refused-opening-opens",
        _FACTS,
        "a call of a step whose opening was refused counts as opened",
        'if is_shadow or member_of(member_of(one, "verdict"), "ok") is True',
        "if True",
    ),
    slip(
        "yes-to-another-plan",
        _FACTS,
        "an approval of another plan of the run counts as a yes to this one",
        'isinstance(one, str) and one.removeprefix("sha256:") == plan_digest for one in digests',
        "isinstance(one, str) and plan_digest is not None for one in digests",
    ),
    slip(
        "lapsed-is-refused",
        _FACTS,
        "a question that nobody answered is told as a refusal by the critic",
        "if answer & (RecordFacts.NO | RecordFacts.LAPSED):",
        "if answer & RecordFacts.NO:",
    ),
    slip(
        "account-number-in-a-path",
        _CLOSED,
        "a long number that a planner chose stays in the path of a violation",
        "_LONGEST_INDEX: Final = 6 ",
        "_LONGEST_INDEX: Final = 60 ",
    ),
    slip(
        "reasons-that-stay",
        _CLOSED,
        "the reason of a settlement stays in the record as it is hashed",
        '("because", "error", "report", "where")\n"""The members of a record that have texts."""',
        '("error", "report", "where")\n"""The members of a record that have texts."""',
    ),
    slip(
        "readable-beside-its-texts",
        _INTEGRITY,
        "a record whose run is gone as well as its texts passes for a readable one",
        "            and {*self.redacted} <= {self.gone.get(TEXT_MEMBER)}\n",
        "            and (not self.redacted or TEXT_MEMBER in self.gone)\n",
    ),
    slip(
        "stored-under-another-hash",
        _INTEGRITY,
        "a record passes that is stored under the hash of another one",
        "    if raw.hash != document.own_hash:\n",
        "    if not is_digest(raw.hash):\n",
    ),
    slip(
        "appended-after-the-end",
        _INTEGRITY,
        "records pass that were appended after a log was handed over",
        'if before.is_end and document.kind != "redacted":',
        'if before.is_end and document.kind == "handed_over":',
    ),
    slip(
        "head-of-an-unreadable-record",
        _INTEGRITY,
        "a head is not compared with a record that cannot be hashed",
        "if expected is not None and raw.seq == expected.seq and own_hash != expected.hash:",
        "if expected is not None and document.own_hash and own_hash != expected.hash"
        " and raw.seq == expected.seq:",
    ),
    slip(
        "claims-of-a-close",
        _INTEGRITY,
        "what the close of a session claimed could be claimed again",
        '_CLAIMING: Final = frozenset({"decision", "closed", "reopened", "taken_over"})',
        '_CLAIMING: Final = frozenset({"decision", "reopened", "taken_over"})',
    ),
    slip(
        "no-by-nobody",
        _ACTIONS,
        "a no is recorded without who gave it",
        'if (self.approver is None) != (self.answer == "lapsed"):',
        'if self.approver is None and self.answer == "yes":',
    ),
    slip(
        "shadow-of-a-yes",
        _ACTIONS,
        "a plan that verify passes is recorded as one that would have been stopped",
        'or (action == "shadow" and not is_refused):',
        'or (action == "shadow" and verdict is None):',
    ),
    slip(
        "second-approval-unused",
        _APPROVALS,
        "of two approvals that a plan needs only the first is used up",
        "for name in used)",
        "for name in [*used][:1])",
    ),
    slip(
        "approval-of-another-plan-taken-away",
        _APPROVALS,
        "an approval of another plan goes with one of the same id",
        "and not (one.approval_id in ids and one.plan_digest.removeprefix(_PREFIX) == plan_digest)",
        "and not (one.approval_id in ids and plan_digest)",
    ),
    slip(
        "claims-beyond-the-sessions",
        _ROTATION,
        "of many claims only as many go along as there are records of sessions",
        "[*zip_longest(_parts(claims), _parts(sessions), fillvalue=())]",
        "[*zip(_parts(claims), _parts(sessions))]",
    ),
    slip(
        "close-claims-nothing",
        _ROTATION,
        "one session may be closed twice",
        'return _draft("closed", build(_Close, given).wire(), self.claims)',
        'return _draft("closed", build(_Close, given).wire(), ())',
    ),
    slip(
        "held-input-handed-out",
        _INPUTS,
        "what an executor changes in a part that it was given is what is recorded",
        "        return self._parse_body(type(self.envelope))",
        "        return self.envelope",
    ),
    slip(
        "reference-within-a-text",
        _PARTS,
        "a reference counts in the middle of a text",
        "in_place = body[at - 1 : at] in _BEFORE and body[end : end + 1] in _AFTER",
        "in_place = body[at - 1 : at] in _BEFORE or body[end : end + 1] in _AFTER",
    ),
    slip(
        "group-is-redacted",
        _PARTS,
        "elements that are kept as parts of their own count as taken out",
        "    return body == reference(digest)",
        "    return body.startswith(_MARK)",
    ),
    slip(
        "escaped-name-is-another",
        _ROW,
        "a name and the spelling of its escape are one name to a search",
        """and '"' not in text and "\\\\" not in text:""",
        """and '"' not in text:""",
    ),
    slip(
        "first-opening-told",
        _ROW,
        "of a plan that was refused on its way the first opening is listed",
        '[*elements_of(member_of(run, "openings"))][-1:]',
        '[*elements_of(member_of(run, "openings"))][:1]',
    ),
    slip(
        "reason-with-markup",
        _DRAFTS,
        "a reason is recorded with the signs of markup as they are",
        'and not set(text) & set("<>&',
        'and not set(text) & set("&',
    ),
    slip(
        "end-claimed-by-anybody",
        _DRAFTS,
        "a decision claims the end of the execution of another one",
        '("approval ", "begun ", HANDED_OVER)',
        '("approval ", HANDED_OVER)',
    ),
    slip(
        "refused-opening-unsaid",
        _DECISION,
        "a report need not say that the last opening of its run was refused",
        'if (self.report.refused_at == "open") != (opening is not None):',
        'if self.report.refused_at == "open" and opening is None:',
    ),
    slip(
        "begun-in-the-log-before",
        _KINDS,
        "an execution that is open over a second rotation can be ended twice",
        "first = self.begun.begun or self.begun.hash",
        "first = self.begun.hash",
    ),
    slip(
        "end-of-a-log-claimed",
        _DRAFTS,
        "a decision claims the end of its log, and nothing can be appended any more",
        'RESERVED_CLAIMS: Final = ("approval ", "begun ", HANDED_OVER)',
        'RESERVED_CLAIMS: Final = ("approval ", "begun ")',
    ),
    slip(
        "digest-with-more-behind-it",
        _INTEGRITY,
        "what only begins with a digest names a record or an input",
        "_DIGEST.fullmatch(value) is not None",
        "_DIGEST.match(value) is not None",
    ),
    slip(
        "run-of-an-equal-proposal",
        _DECISION,
        "a run is taken for one of the proposal where Python takes true for 1",
        "return left is right or canonical_bytes(left) == canonical_bytes(right)",
        "return left == right",
    ),
    slip(
        "run-shared-by-copies",
        _DECISION,
        "a run that is changed in a copy of a decision is changed in the decision",
        '"run": None if self.run is None else revalidate_envelope(self.run),',
        '"run": self.run,',
    ),
    slip(
        "attempts-shared-by-copies",
        _DECISION,
        "an attempt that is changed in a copy of a decision is changed in the decision",
        '"attempts": tuple(map(revalidate_envelope, self.attempts)),',
        '"attempts": self.attempts,',
    ),
    slip(
        "spec-handed-out",
        _INPUTS,
        "whoever is handed the inputs can change the contract that is held",
        "            self.spec.handed_out(),\n",
        "            self.spec.envelope,\n",
    ),
    slip(
        "digest-goes-on",
        _INPUTS,
        "a context says of its second proposal a digest that has the first one in it",
        "    whole = begun.copy()",
        "    whole = begun",
    ),
    slip(
        "hash-handed-out",
        _INPUTS,
        "whoever goes on from the hash of a context changes it for the next one",
        "        return self._hash.copy()",
        "        return self._hash",
    ),
    slip(
        "taken-from-the-front",
        _FACTS,
        "of two values in one array only the last is known as taken",
        "    for take in reversed(takes):",
        "    for take in takes:",
    ),
    slip(
        "redacted-calls-not-made",
        _FACTS,
        "where the calls were taken out of the log, nothing ran",
        "    if not isinstance(calls, list | tuple):  # they were redacted\n        "
        "return RecordFacts.RAN",
        "    if not isinstance(calls, list | tuple):  # they were redacted\n        "
        "return _NO_RULING",
    ),
    slip(
        "approval-with-a-prefix-unseen",
        _FACTS,
        "a turn after a yes counts as one without, by the spelling of a digest",
        'isinstance(one, str) and one.removeprefix("sha256:") == plan_digest for one in digests',
        "isinstance(one, str) and one == plan_digest for one in digests",
    ),
    slip(
        "late-by-evidence-alone",
        _FACTS,
        "a call whose opening was refused is of the plan, as it takes no value",
        'is_late = any(member_of(one, "takes") or member_of(one, "evidence_steps") for one '
        "in steps)",
        'is_late = any(member_of(one, "takes") for one in steps)',
    ),
    slip(
        "any-element-is-the-last",
        _FACTS,
        "what stands behind a taken value may be another than planned",
        "elif type(parent) is list and array_index(last) == len(parent) - 1:",
        "elif type(parent) is list and parent:",
    ),
    slip(
        "step-from-the-end",
        _FACTS,
        "a call of step -1 is one of the last step",
        "step = steps[at] if type(at) is int and 0 <= at < len(steps) else None",
        "step = steps[at] if type(at) is int and at < len(steps) else None",
    ),
    slip(
        "effects-never-called",
        _FACTS,
        "outside a session, effects of a command that were not called are not missed",
        'in_session = ctx is None or member_of(ctx, "session") is not None',
        "in_session = True",
    ),
    slip(
        "facts-from-before-a-redaction",
        _ROW,
        "a copy says of a turn what another record of the log said of it",
        "facts = row.facts | (kept.facts & OF_INPUTS if type(kept.facts) is int else 0)",
        "facts = row.facts | (kept.facts if type(kept.facts) is int else 0)",
    ),
    slip(
        "session-back-after-a-redaction",
        _ROW,
        "the name of a session that was taken out stays in the index of the copy",
        "session = kept.session if row.session is None and kept.session == row.trace else "
        "row.session",
        "session = kept.session if row.session is None else row.session",
    ),
    slip(
        "turn-lost-by-a-redaction",
        _ROW,
        "the records of a turn are no turn any more once their context is gone",
        "turn = _count(kept.turn) if row.turn is None else row.turn",
        "turn = row.turn",
    ),
    slip(
        "nothing-taken-is-unknown",
        _ROW,
        "a run that cost nothing costs what its calls say",
        "        if whole is None:\n            known",
        "        if not whole:\n            known",
    ),
    slip(
        "calls-one-after-another",
        _ROW,
        "calls at once count as if each waited for the one before",
        '("wall_ms", "duration_ms", max)',
        '("wall_ms", "duration_ms", sum)',
    ),
    slip(
        "listed-by-a-score",
        _ROW,
        "a plan that an opening refused is listed by an evaluator that failed",
        'if member_of(report, "refused_at") == "score":',
        'if member_of(report, "score") is not None:',
    ),
    slip(
        "listed-by-the-last-evaluator",
        _ROW,
        "a run that two evaluators refused is listed by the second",
        '(one for one in HARD_EVALUATORS if member_of(of[one], "status") == "fail"), None',
        '(one for one in reversed(HARD_EVALUATORS) if member_of(of[one], "status") == '
        '"fail"), None',
    ),
    slip(
        "late-shadow-contradicts",
        _ACTIONS,
        "a late plan that is not enforced cannot be recorded after a refused opening",
        "is_refused = not verdict.ok or opening is not None",
        "is_refused = not verdict.ok",
    ),
)
"""Most of them tell something else than happened, or let a thing be used twice."""
