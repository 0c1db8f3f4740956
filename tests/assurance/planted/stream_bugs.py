"""Bugs that need a second session, call, id or moment: the laws of guards are to notice them."""

from typing import Final

from tests.assurance.planted.bug import Bug, slip

_GUARD: Final = "harness/guard/guard.py"
_OPEN: Final = "harness/guard/open_sessions.py"
_COURSE: Final = "harness/guard/course.py"
_SESSION: Final = "critic/session/session.py"
_LEDGER: Final = "critic/session/ledger.py"

STREAM_BUGS: Final[tuple[Bug, ...]] = (
    slip(
        "opened-beyond-its-record",
        "harness/guard/recording.py",
        "a call is opened in a turn whose results no record can hold",
        "if self._log is not None and isinstance(told.event, ResultEvent):",
        "if self._log is None and isinstance(told.event, ResultEvent):",
    ),
    slip(
        "sent-beyond-its-record",
        "harness/runtime/opening_desk.py",
        "a loop goes on after results that no record can hold",
        "if self._returned > MOST_RETURNED:",
        "if len(canonical_json(call.output)) > 2 * MOST_RETURNED:",
    ),
    slip(
        "called-without-a-permit",
        "harness/runtime/opening_desk.py",
        "a step is called twice with one permit, and its second result is taken from",
        "if self._made[call.step] > len(self._issued.get(call.step, ())):",
        "if not self._issued.get(call.step, ()):",
    ),
    slip(
        "first-answer-goes-along",
        "harness/guard/guard_state.py",
        "of several answers to openings, one goes along with the session",
        "for turn, answer in running) or None",
        "for turn, answer in [*running][:1]) or None",
    ),
    slip(
        "last-result-counts",
        "harness/runtime/opening_desk.py",
        "only the last result counts for what a record holds",
        "self._returned += len",
        "self._returned = len",
    ),
    slip(
        "first-turn-recordable",
        "harness/guard/recording.py",
        "only the first turn that runs is asked whether its record is too large",
        "for running in course.session.running.values():",
        "for running in [*course.session.running.values()][:1]:",
    ),
    slip(
        "yes-that-opened-nothing",
        "harness/record/record_facts.py",
        "a yes after which a call was still refused is one of its turn",
        '"approvals"))) for one in passed)',
        '"approvals"))) for one in openings)',
    ),
    slip(
        "answer-of-another-turn",
        "harness/guard/course.py",
        "the answer to an opening is recorded with another turn",
        "answer = self.answered.get(ended.running.turn)",
        "answer = next(iter(self.answered.values()), None)",
    ),
    slip(
        "no-to-the-first-call",
        "harness/guard/course.py",
        "a no to a call is one to the first call of its turn",
        "self.denial_key(self.session.running[turn].calls[step])",
        "self.denial_key(self.session.running[turn].calls[0])",
    ),
    slip(
        "open-at-the-close",
        "harness/guard/course.py",
        "a question about an opening that is open at the close has no end",
        'course = self.after_answer(turn, RecordedAnswer(answer="lapsed"))',
        "course = self",
    ),
    slip(
        "permit-of-an-id-used-again",
        "harness/guard/open_sessions.py",
        "a permit is good for as long as any call with its id is awaited",
        "if course.has_halted or place != self._places[call]:",
        "if course.has_halted or place is None:",
    ),
    slip(
        "no-of-the-agent-forgotten",
        _COURSE,
        "a no that the agent asked for is not kept for the session",
        "denied = self.denied if event.denied_by is None else self._denied_with(event.id)",
        "denied = self.denied",
    ),
    slip(
        "no-to-an-opening-unrecorded",
        _COURSE,
        "what was said to the question about an opening is in no record",
        "return ToRecord(ended.batch, ended.verdict, action, answer, ended)",
        "return ToRecord(ended.batch, ended.verdict, action, None, ended)",
    ),
    slip(
        "time-of-another-session",
        _GUARD,
        "the time that one session named stands for all of them",
        "time = time_after(event, entry.course.time, now, self._max_skew)",
        "first = next(iter(self._entries.values()))\n"
        "        time = time_after(event, first.course.time, now, self._max_skew)",
    ),
    slip(
        "session-id-cut",
        _SESSION,
        "the facts of a session name it by the beginning of its id only",
        "session=self.ledger.facts(self.id, turn),",
        "session=self.ledger.facts(self.id[:200], turn),",
    ),
    slip(
        "trace-in-lower-case",
        _SESSION,
        "sessions whose ids differ in case have one trace",
        "            return self.id\n        return _MADE",
        "            return self.id.lower()\n        return _MADE",
    ),
    slip(
        "result-taken-twice",
        _SESSION,
        "a call that ended may end again",
        "open_calls=_drop_entry(self.open_calls, call_id),",
        "open_calls=self.open_calls,",
    ),
    slip(
        "permit-outlives-result",
        _OPEN,
        "a permit is good after its call has a result",
        "        if isinstance(event, ResultEvent):\n            self._withdraw(event.id)\n",
        "",
    ),
    slip(
        "permit-outlives-halt",
        _OPEN,
        "a session that halted leaves its permits standing",
        "        if answered.course.has_halted:\n            self._withdraw_all()\n",
        "",
    ),
    slip(
        "question-stays-open",
        _COURSE,
        "a question stays open after a later turn that asks nothing",
        "            question=question,\n            asked=self.asked + asks,",
        "            question=question or self.question,\n            asked=self.asked + asks,",
    ),
    slip(
        "allowed-call-counts-as-another",
        _COURSE,
        "a client that tells of each call what was sent has the allowed call on record as another",
        "if is_allowed and canonical_json(sent.args) == canonical_json(allowed.args):",
        "if is_allowed and sent.args is allowed.args:",
    ),
    slip(
        "unruled-call-completes",
        _COURSE,
        "what a call returned that nobody had allowed is evidence of its class",
        'status = "unknown" if result.status == "completed" else result.status',
        "status = result.status",
    ),
    slip(
        "repeated-unknown-call-is-another",
        _COURSE,
        "a tool that the policy lacks is another one where it is told as what was sent",
        'pair = rules.pair_of(sent.tool if is_named else "unnamed")',
        'pair = rules.pair_of(sent.tool) if sent.tool in rules.tools else ("unknown", sent.tool)',
    ),
    slip(
        "answer-at-its-expiry",
        _COURSE,
        "an answer counts at the very moment at which it expires",
        "event.expires_at <= as_of",
        "event.expires_at < as_of",
    ),
    slip(
        "named-time-forgotten",
        "harness/guard/session_time.py",
        "the time that an event named is nothing to the next one",
        "if self.told is not None and self.read is not None:",
        "if self.told is None and self.read is not None:",
    ),
    slip(
        "fresh-a-second-longer",
        "critic/session/call_results.py",
        "results are fresh for a second longer than the policy says",
        "timedelta(seconds=min(seconds, left))",
        "timedelta(seconds=min(seconds + 1, left))",
    ),
    slip(
        "turn-counted-as-a-step",
        _LEDGER,
        "a turn of several calls spends one step",
        "steps=_bound_count(self.steps + len(batch.calls))",
        "steps=_bound_count(self.steps + 1)",
    ),
)
