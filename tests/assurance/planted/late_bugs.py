"""Bugs of late plans: a step is opened too soon, twice, by too little, or not at all."""

from typing import Final

from tests.assurance.planted.bug import Bug, slip

_OPENINGS: Final = "critic/late/openings.py"
_RUN: Final = "critic/late/opened_run.py"
_VALUES: Final = "critic/late/settled_values.py"
_DESK: Final = "harness/runtime/opening_desk.py"
_POLICY: Final = "evals/policy.py"
_CALLS: Final = "harness/guard/call_openings.py"
_BATCH: Final = "critic/session/call_batch.py"
_JUDGING: Final = "critic/session/batch_judging.py"

LATE_BUGS: Final[tuple[Bug, ...]] = (
    slip(
        "late-value-of-a-failed-call",
        _VALUES,
        "what a call returned that failed is taken",
        'if call.status != "completed":',
        'if call.status == "unknown":',
    ),
    slip(
        "reader-of-anybody-early",
        "critic/session/call_results.py",
        "what a reader returns contests a value that is asked for early, and not a late one",
        'author = "public" if is_of_others else name_author(tool, is_anyones=is_anyones)',
        'author = name_author(tool, is_anyones=is_anyones) or "public"',
    ),
    slip(
        "reader-contests-what-is-late",
        "critic/late/settled_context.py",
        "what a reader returns contests a late value, and not one that is asked for early",
        'name_author(tool, is_anyones=is_anyones), ""',
        'name_author(tool, is_anyones=is_anyones) or "public", ""',
    ),
    slip(
        "late-turn-beyond-the-budget",
        "critic/session/waiting_calls.py",
        "a call waits on where another turn has spent what is left",
        "return has_seen and has_made and ledger.tokens <= known",
        "return has_seen and has_made",
    ),
    slip(
        "late-plan-by-any-permit",
        "harness/runtime/executors.py",
        "a late plan runs by what is no permit, or by the permit of another plan",
        "return read_late_plan(permit, proposal) if late else redeem(permit, proposal)",
        "return proposal.plan if late else redeem(permit, proposal)",
    ),
    slip(
        "step-by-what-equals-its-number",
        _OPENINGS,
        "a step is opened by true, which equals its number",
        "        if type(step) is not int:\n",
        "        if not isinstance(step, int):\n",
    ),
    slip(
        "late-null-taken",
        _VALUES,
        "null at the place is a value",
        "if len(found) == 1 and found[0] is not None:",
        "if len(found) == 1:",
    ),
    slip(
        "late-output-of-any-schema",
        _VALUES,
        "what a call returned is taken, whatever it has to be",
        "or not compile_schema(schema).is_valid(output)):",
        "or not compile_schema(schema)):",
    ),
    slip(
        "late-values-up-to-the-first",
        _VALUES,
        "a step is opened without the values that are not there",
        "faults = [one for one in taken if isinstance(one, Found)]",
        "faults = [one for one in taken[:1] if isinstance(one, Found)]",
    ),
    slip(
        "late-approval-of-args",
        _OPENINGS,
        "an approval of who saw only args covers a value",
        "late.cover_late(step)",
        "late.cover(step)",
    ),
    slip(
        "opened-twice",
        _OPENINGS,
        "a step is opened again after it was",
        "if step in self._by_step:",
        "if step in ():",
    ),
    slip(
        "opened-before-its-sources",
        _OPENINGS,
        "a step is opened while what it waits for runs",
        "or not self._outputs.has_ended(source):",
        "or source < 0:",
    ),
    slip(
        "opened-by-its-record",
        _RUN,
        "a run that says that an opening passed is believed",
        "if judged.verdict.ok and opening.verdict.ok and not is_refused:",
        "if opening.verdict.ok and not is_refused:",
    ),
    slip(
        "opened-after-a-refusal",
        _RUN,
        "what comes after a refused opening counts as opened",
        "if judged.verdict.ok and opening.verdict.ok and not is_refused:",
        "if judged.verdict.ok and opening.verdict.ok:",
    ),
    slip(
        "late-args-of-the-executor",
        _POLICY,
        "a call of a late plan may have any arguments",
        "if canonical_json(call.args) != opening.args:",
        "if canonical_json(call.args) == b'':",
    ),
    slip(
        "late-call-unopened",
        _POLICY,
        "a call of a late plan need not have been opened",
        'return "is of a late plan, and was not opened"',
        "return None",
    ),
    slip(
        "desk-goes-on-after-a-refusal",
        _DESK,
        "after a refused opening other steps are opened",
        'self._ended = f"the opening of step {step} was refused"',
        "self._ended = None",
    ),
    slip(
        "desk-takes-other-args",
        _DESK,
        "a call with other arguments than it was opened with goes unnoticed",
        "if canonical_json(call.args) != self._bodies[call.step]:",
        "if call.step not in self._bodies:",
    ),
    slip(
        "desk-asks-about-anything",
        _DESK,
        "a person is asked about what no yes would clear",
        "or settled is None or not refused.approvable:",
        "or settled is None:",
    ),
    slip(
        "refused-opening-goes-on",
        _CALLS,
        "a turn goes on after the opening of a call was refused",
        "    elif not course.settings.shadow:\n",
        "    elif course.settings.shadow:\n",
    ),
    slip(
        "no-forgotten-at-an-opening",
        _CALLS,
        "what a person said no to is made once it is a late value",
        "if has_values and course.is_denied(call):",
        "if has_values and course.settings.shadow and course.is_denied(call):",
    ),
    slip(
        "late-batch-ends-early",
        _BATCH,
        "a batch is scored while calls of it wait to be opened",
        "return len(self.ended) == len(self._to_end) and not self.waiting",
        "return len(self.ended) == len(self._to_end)",
    ),
    slip(
        "plan-of-other-args",
        "critic/session/waiting_calls.py",
        "any arguments carry out a plan",
        "if planned is not None and same_args(planned) == sent:",
        "if planned is not None and sent:",
    ),
    slip(
        "word-to-come-not-seen",
        _JUDGING,
        "a late turn is judged as if nothing will be returned",
        "trail = trail.branch(batch.rules.described_with(classes)).plus(items)",
        "trail = trail.branch(batch.rules.described_with(classes))",
    ),
    slip(
        "word-to-come-of-its-tool",
        _JUDGING,
        "a public field of a record to come is its tool's",
        "trail.branch(batch.rules.described_with(classes))",
        "trail.branch()",
    ),
    slip(
        "late-score-of-pins",
        "critic/session/session.py",
        "the openings of a late turn are judged again without what its session saw",
        "score_after(running.run_of(proposal), batch.before)",
        "score_after(running.run_of(proposal))",
    ),
    slip(
        "plan-after-its-yes",
        "critic/session/waiting_calls.py",
        "a plan is carried out after the yes to it has expired",
        "for one in chain(ctx.approvals or (), *said)]",
        "for one in chain(*said)]",
    ),
    slip(
        "plan-after-its-evidence",
        "critic/session/waiting_calls.py",
        "a plan is carried out after the evidence that allowed it has expired",
        "session.trail.expiries.items() if ref in seen]",
        "session.trail.expiries.items() if ref in ()]",
    ),
    slip(
        "count-after-its-yes",
        "harness/guard/call_openings.py",
        "a yes to the question about an opened call does not begin the count of questions anew",
        "_open(replace(course, asked=0), asked, as_of, (approval,))",
        "_open(course, asked, as_of, (approval,))",
    ),
    slip(
        "rest-not-carried",
        "harness/guard/guard_state.py",
        "of the calls after the one that is asked about, another process opens only the first",
        "for one in opening.rest)",
        "for one in opening.rest[:1])",
    ),
    slip(
        "opened-ask-is-true",
        "harness/guard/rulings.py",
        "an opened call that a person is asked about counts as allowed",
        ('return self.action == "allow"\n\n\nclass EventFault'),
        ('return self.action != "refuse"\n\n\nclass EventFault'),
    ),
    slip(
        "opening-refused-without-a-halt",
        "harness/guard/call_openings.py",
        "a session goes on after a refused opening that should halt it",
        'has_halted = stopped.course.settings.on_refusal == "halt"',
        "has_halted = stopped.course.has_halted",
    ),
    slip(
        "yes-to-an-expired-opening",
        "harness/guard/call_openings.py",
        "a yes to an opened call counts after the question has expired",
        "if event.yes and not is_unexpired(question.expires_at, as_of):",
        "if event.yes and not is_unexpired(None, as_of):",
    ),
    slip(
        "carried-out-under-an-awaited-id",
        "harness/guard/event_dispatch.py",
        "a call that carries out a plan may have the id of one whose result is awaited",
        "    course.require_new_ids(event)\n",
        "",
    ),
    slip(
        "expiry-by-a-word-not-on-record",
        "harness/guard/event_dispatch.py",
        "a question that expires when the user speaks or a result comes ends without a record",
        "return lapsed.course.hear(event, as_of).after(lapsed)",
        "return lapsed.course.hear(event, as_of)",
    ),
)
