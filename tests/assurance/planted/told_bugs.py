"""Bugs of what is told: to a record, to another process, and of a no."""

from typing import Final

from tests.assurance.planted.bug import Bug, slip

_COURSE: Final = "harness/guard/course.py"
_DISPATCH: Final = "harness/guard/event_dispatch.py"
_GUARD: Final = "harness/guard/guard.py"
_GUARDED: Final = "harness/integrations/seam/guarded.py"
_INPUTS: Final = "harness/guard/session_inputs.py"
_JOURNAL: Final = "harness/guard/session_journal.py"
_OPENINGS: Final = "harness/guard/call_openings.py"
_RECORDING: Final = "harness/guard/recording.py"
_REOPENING: Final = "harness/guard/reopening.py"
_STATE: Final = "harness/guard/guard_state.py"

TOLD_BUGS: Final[tuple[Bug, ...]] = (
    slip(
        "no-to-a-later-call-unseen",
        _COURSE,
        "of a batch, only a no to its first call counts",
        "for at, call in enumerate(batch.calls) if self.is_denied(call)]",
        "for at, call in enumerate(batch.calls[:1]) if self.is_denied(call)]",
    ),
    slip(
        "no-for-every-tool",
        _COURSE,
        "a no to one tool denies another one with the same arguments",
        "return canonical_json([call.tool, about])",
        "return canonical_json([about])",
    ),
    slip(
        "no-replaces-the-one-before",
        _COURSE,
        "the second no of a session forgets the first",
        "self, denied=self.denied | {self.denial_key(call) for call in question.doubted}",
        "self, denied=frozenset(self.denial_key(call) for call in question.doubted)",
    ),
    slip(
        "no-to-the-first-of-two",
        _COURSE,
        "of two calls that a person said no to, one may be asked about again",
        "{self.denial_key(call) for call in question.doubted}",
        "{self.denial_key(call) for call in question.doubted[:1]}",
    ),
    slip(
        "no-to-what-nobody-doubted",
        _COURSE,
        "a no to one call denies those beside it that need nobody",
        "{self.denial_key(call) for call in question.doubted}",
        "{self.denial_key(call) for call in question.batch.calls}",
    ),
    slip(
        "why-of-a-no-unrecorded",
        _COURSE,
        "a refusal because of an earlier no is recorded without its reason",
        'note = None if ruled.answer or action == "shadow" else ruled.note',
        "note = None if ruled.answer or begins or judged.ok else ruled.note",
    ),
    slip(
        "user-for-approver",
        _COURSE,
        "a yes is recorded as that of the user of the session",
        'said_yes = RecordedAnswer(answer="yes", approver=event.approver)',
        'said_yes = RecordedAnswer(answer="yes", approver=self.session.user_id or event.approver)',
    ),
    slip(
        "question-outlives-what-ran",
        _COURSE,
        "a question stays open while a call runs that nobody ruled on",
        "return Answered(replace(self, session=ran.session, question=None), None, records)",
        "return Answered(replace(self, session=ran.session), None, records)",
    ),
    slip(
        "ran-after-a-halt-unrecorded",
        _COURSE,
        "what ran after a halt, and nobody ruled on, is not recorded",
        "if event.sent is not None and event.id not in self.session.open_calls:",
        "if event.sent is not None and event.id not in self.session.open_calls and not "
        "self.has_halted:",
    ),
    slip(
        "true-for-one",
        _COURSE,
        "a call that was sent with true is recorded as the one with 1",
        "canonical_json(sent.args) == canonical_json(allowed.args)",
        "dict(sent.args) == dict(allowed.args)",
    ),
    slip(
        "went-on-is-an-allow",
        _COURSE,
        "what went on after a refused opening is recorded as allowed",
        "is_kept = ended.verdict.ok and not ended.running.has_gone_on",
        "is_kept = ended.verdict.ok",
    ),
    slip(
        "plan-goes-on-after-a-word",
        _COURSE,
        "a plan is carried out although its user said something since",
        "        later = self.end_plan()\n        course = replace(later.course",
        "        later = Answered(self)\n        course = replace(later.course",
    ),
    slip(
        "end-of-a-plan-unrecorded",
        _COURSE,
        "the end of a plan is not recorded where a word of the user ends it",
        "return later._replace(course=course)\n\n    def calls",
        "return Answered(course)\n\n    def calls",
    ),
    slip(
        "stopped-turn-unrecorded",
        _OPENINGS,
        "the end of a turn is not recorded where an opening was refused",
        "records=(*answered.records, *stopped.records))",
        "records=answered.records)",
    ),
    slip(
        "first-record-without-its-id",
        _RECORDING,
        "the first record of a session does not claim its id",
        "return None if taken else Marks(place, claims=(claim,))",
        "return None if taken else Marks(place)",
    ),
    slip(
        "note-of-a-reopening-lost",
        _RECORDING,
        "the note of who reopens a session is lost to other processes",
        "        place.note = note\n        body = state_body(course, {}, note)",
        "        body = state_body(course, {}, place.note)",
    ),
    slip(
        "note-of-a-reopening-unkept",
        _GUARD,
        "the note of who reopens a session is not handed on",
        "self._recorder.keep_reopening(course, closed, marks, note)",
        "self._recorder.keep_reopening(course, closed, marks, None)",
    ),
    slip(
        "state-gone-on-from-twice",
        _RECORDING,
        "a state goes on where another session went on from it",
        '        claim = f"{_REVISION}{session_key(session)} {state.revision}"\n        if '
        "isinstance(self._log, KeepsClaims) and require_stored(self._log.claims([claim])):\n    "
        "        return None\n",
        '        claim = f"{_REVISION}{session_key(session)} {state.revision}"\n',
    ),
    slip(
        "state-unclaimed",
        _RECORDING,
        "two sessions go on from one state, and each records",
        "return Marks(last=state.mark, claims=(claim,), begun=begun)",
        "return Marks(last=state.mark, begun=begun)",
    ),
    slip(
        "beginnings-left-behind",
        _RECORDING,
        "after a move, the end of a call names no beginning",
        "return Marks(last=state.mark, claims=(claim,), begun=begun)",
        "return Marks(last=state.mark, claims=(claim,))",
    ),
    slip(
        "place-left-behind",
        _RECORDING,
        "after a move, an approval has the name of another one",
        "return Marks(last=state.mark, claims=(claim,), begun=begun)",
        "return Marks(claims=(claim,), begun=begun)",
    ),
    slip(
        "result-lost-to-a-settlement",
        _RECORDING,
        "a result is not recorded because a person settled its call",
        "if one.ended and {call.status for call in one.ended.running.ended} <= _UNKNOWN",
        "if one.ended",
    ),
    slip(
        "others-lost-to-a-settlement",
        _RECORDING,
        "one settled call leaves the ends of all others unrecorded",
        "return [one for one in records if one.ended is None or one.batch.turn not in settled]",
        "return [one for one in records if not settled or one.ended is None]",
    ),
    slip(
        "each-decision-claims-the-step",
        _RECORDING,
        "a step that is claimed names its last decision",
        "own = () if decisions else claims",
        "own = claims",
    ),
    slip(
        "begun-by-the-oldest",
        _RECORDING,
        "the end of a call names the beginning of another one",
        "begun = None if entry.ended is None else marks.begun.get(entry.batch.turn)",
        "begun = None if entry.ended is None else next(iter(marks.begun.values()), None)",
    ),
    slip(
        "why-of-an-end-unrecorded",
        _RECORDING,
        "the run of a call that nobody ruled on is recorded without that",
        '"error": entry.note, "begun": begun}',
        '"error": None if entry.ended else entry.note, "begun": begun}',
    ),
    slip(
        "inputs-of-the-question-before",
        _RECORDING,
        "the end of a batch is recorded with the inputs of the question before it",
        "                marks.inputs[entry.batch.turn] = given\n",
        "                marks.inputs[entry.batch.turn] = inputs[0]\n",
    ),
    slip(
        "place-of-the-first-record",
        _JOURNAL,
        "an approval is named by the first record of its session",
        "            marks.last, marks.claims = row.seq, ()\n",
        "            marks.last, marks.claims = marks.last or row.seq, ()\n",
    ),
    slip(
        "claims-made-again",
        _JOURNAL,
        "a process that goes on with a session claims its id again",
        "            marks.last, marks.claims = row.seq, ()\n",
        "            marks.last = row.seq\n",
    ),
    slip(
        "end-without-a-beginning",
        _JOURNAL,
        "in another process, the end of a call names no beginning",
        "marks.note_ends(answered.records, row.begun)",
        "marks.note_ends(answered.records, None)",
    ),
    slip(
        "inputs-of-another-turn",
        _JOURNAL,
        "the end of a batch is recorded with the inputs of another turn",
        "return self.inputs.get(batch.turn) or BatchInputs(batch)",
        "return next(iter(self.inputs.values()), None) or BatchInputs(batch)",
    ),
    slip(
        "tools-lost-from-inputs",
        _INPUTS,
        "inputs are recorded without the texts of their tools",
        "evidence.pieces.update(tools.pieces)",
        "evidence.pieces.update({})",
    ),
    slip(
        "approval-without-its-place",
        _DISPATCH,
        "approvals of two lives have one name",
        "return course.answer(event, as_of, record)",
        "return course.answer(event, as_of)",
    ),
    slip(
        "one-no-survives-a-life",
        _REOPENING,
        "a session that is reopened remembers one no alone",
        "denied=tuple(denied) or None,",
        "denied=tuple(denied[:1]) or None,",
    ),
    slip(
        "policy-of-a-life-by-its-start",
        _REOPENING,
        "a session is reopened under a policy whose digest begins alike",
        "if carried.policy_digest != session.rules.digest:",
        "if carried.policy_digest[:12] != session.rules.digest[:12]:",
    ),
    slip(
        "life-without-a-place",
        _REOPENING,
        "a life without a turn is closed without a record",
        "return Marks(JournalPlace(key, number), closed.seq), closed",
        "return Marks(JournalPlace(key, number), None), closed",
    ),
    slip(
        "one-no-survives-a-move",
        _STATE,
        "a session that moves remembers one no alone",
        "denied=frozenset(key.encode() for key in state.denied),",
        "denied=frozenset(key.encode() for key in state.denied[:1]),",
    ),
    slip(
        "questions-anew-after-a-move",
        _STATE,
        "a session that moves asks as often as a new one",
        "        asked=state.asked,\n",
        "        asked=int(question is not None),\n",
    ),
    slip(
        "one-beginning-survives-a-move",
        _STATE,
        "a session that moves knows the last beginning alone",
        "begun=tuple(BegunState(turn=turn, hash=hash) for turn, hash in begun.items()),",
        "begun=tuple(BegunState(turn=turn, hash=hash) for turn, hash in [*begun.items()][-1:]),",
    ),
    slip(
        "beginnings-not-handed-over",
        _GUARD,
        "a session that moves knows no beginning",
        "dump_course(entry.course, entry.revision + 1, marks.last, marks.begun)",
        "dump_course(entry.course, entry.revision + 1, marks.last, {})",
    ),
    slip(
        "no-beside-a-yes-forgotten",
        _GUARDED,
        "a no beside a yes is not remembered",
        "        self._denied_alone([one.wire() for one in asked.calls if one.id in denied], "
        "approver)\n",
        "        del denied\n",
    ),
    slip(
        "first-of-several-nos",
        _GUARDED,
        "of several calls that are denied the first is remembered",
        "self._denied_alone([self._requested_call(call) for call in known], approver)",
        "self._denied_alone([self._requested_call(call) for call in known[:1]], approver)",
    ),
    slip(
        "denied-call-may-have-run",
        _GUARDED,
        "a call that nobody made is recorded as one that may have run",
        '"status": "failed", "error": SAID_NO',
        '"status": "unknown", "error": SAID_NO',
    ),
    slip(
        "waits-for-calls-of-others",
        _GUARDED,
        "an agent is told to wait for calls of another",
        "for one in calls if one.id.startswith(prefix)}",
        "for one in calls}",
    ),
    slip(
        "waits-for-no-agent",
        _GUARDED,
        "a call that runs no agent waits for one",
        "return call in self._agents and self.question is not None",
        "return self.question is not None",
    ),
    slip(
        "sub-agent-takes-no-turn",
        _GUARDED,
        "a sub-agent speaks while its caller is being answered",
        "    nested._lock = session._lock\n",
        "",
    ),
    slip(
        "wait-ends-while-others-run",
        _GUARDED,
        "a call gives up while the one that it waits for is made",
        "left = _PATIENCE_S if now != seen or status.awaited else left",
        "left = _PATIENCE_S if now != seen else left",
    ),
    slip(
        "no-without-its-person",
        _GUARDED,
        "a no is recorded without who said it",
        "            self._answer_question(again, approver, yes=False)",
        '            self._answer_question(again, "nobody", yes=False)',
    ),
)
