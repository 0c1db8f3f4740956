"""The code loop: the actor works, the gate and the critic judge, until one of them ends it.

Rule 1: success takes a `done` of the critic, an actor that exited with 0, a gate that refuses
        nothing, and files that are still the ones that were judged.
Rule 2: a reply that is not a decision is asked for once more; then the session has failed.
Rule 3: however the loop ends, what happened until then and the end are on record, unless the
        record itself could not be written.
"""

import asyncio
import time
from collections.abc import Awaitable, Sequence
from typing import Final, TypeVar

from evals.escaping import escape_line
from harness.errors import HarnessError
from harness.loops.code.agent_output import failure_text, last_words, read_reply
from harness.loops.code.agent_runner import AgentNotStarted, AgentRunner
from harness.loops.code.check_gate import (
    ProtectedPaths,
    judge_change,
    judge_repository,
    run_commands,
)
from harness.loops.code.code_events import (
    ChangeRefused,
    CriticReplied,
    DecisionMade,
    DiffCaptured,
    GateCommandEnded,
    ProgressEmitter,
    SessionEnded,
    SessionStarted,
)
from harness.loops.code.critic_decision import Continue, Done, Error, MalformedReply
from harness.loops.code.git import GitFailed
from harness.loops.code.prompt import actor_prompt, critic_prompt, refusal_feedback
from harness.loops.code.review import decision_in, feedback_text, texts_of_actor
from harness.loops.code.session_change import Change
from harness.loops.code.session_lines import (
    EXIT_CODES,
    AgentRun,
    Diff,
    GateRules,
    Iteration,
    Refusal,
    SessionEnd,
    SessionOutcome,
)
from harness.loops.code.session_recorder import (
    CodeLoopJob,
    SessionRecorder,
    Turn,
    judged_iterations,
    outcome_of,
)
from harness.loops.code.workspace import Workspace
from harness.loops.revise import (
    Cancelled,
    Drafted,
    Failed,
    JudgedDraft,
    Judgement,
    JudgementKind,
    Malformed,
    OverBudget,
    Revision,
)

_StepResult = TypeVar("_StepResult")


class CodeLoop:
    """One session, from its first line to its last.

    Attributes:
        job: what the session is to do.
        session: the id of the session.
        iterations: all iterations on record, also while it runs.
    """

    def __init__(
        self,
        job: CodeLoopJob,
        workspace: Workspace,
        recorder: SessionRecorder,
        events: ProgressEmitter,
    ) -> None:
        """Work on `job` in `workspace`; iterations that `recorder` knows count towards the limit.

        Raises:
            ValueError: the recorded iterations used up the limit.
        """
        self.job: Final = job
        self.session: Final[str] = recorder.session
        self.iterations: Final[Sequence[Iteration]] = recorder.past
        self._workspace = workspace
        self._recorder, self._events = recorder, events
        self._protected: Final = ProtectedPaths(job.gate.protected, workspace)
        self._agents: Final = AgentRunner(job, events)
        left = job.max_iterations - judged_iterations(recorder.past)
        self._revision: Revision[Turn, str] = Revision(left)
        self._last_number: Final = len(recorder.past) + left
        self._turn = Turn(len(recorder.past) + 1)
        self._capturing: asyncio.Future[Change] | None = None
        self._began = 0.0

    async def run(self) -> SessionEnd:
        """Run the session to its end. A cancellation stops what runs and ends the session.

        Raises:
            OSError: the record cannot be written.
        """
        self._began = time.monotonic()
        self._recorder.begin()
        self._events.emit(
            SessionStarted,
            session=self.session,
            task=self.job.task,
            recorded_iterations=len(self._recorder.past),
            last_iteration=self._last_number,
        )
        try:
            await self._run_to_a_stop()
            if self._is_unrecorded():
                await self._keep_unfinished()
        except OSError:
            raise
        except Exception as error:  # of this program: the session still gets its end
            problem = f"internal error: {type(error).__name__}: {escape_line(str(error))}"
            return self._end_early("failed", problem)
        except BaseException:
            self._end_early("user_interrupted", "")
            raise
        reason = self._revision.stop_reason
        return self._end_session(outcome_of(reason) if reason else "failed", self._revision.detail)

    async def _run_to_a_stop(self) -> None:
        limit = self.job.time_limit
        try:
            async with asyncio.timeout(limit):
                await self._iterate()
        except TimeoutError:
            self._stop(OverBudget(f"the time limit of {limit or 0:g} s is over"))
        except asyncio.CancelledError:
            self._stop(Cancelled())

    def _stop(self, event: OverBudget | Cancelled) -> None:
        if self._revision.state != "stopped":  # a stop in the last instant comes too late
            self._revision.feed(event)

    async def _iterate(self) -> None:
        while self._revision.state != "stopped":
            if self._revision.state == "drafting":
                self._turn = Turn(len(self._recorder.past) + 1)
                self._revision.feed(await _or_failed(self._draft(self._turn)))
                continue
            event = await _or_failed(self._judge(self._turn))
            self._revision.feed(event)
            if isinstance(event, JudgedDraft):
                self._recorder.keep(self._turn)

    # --- the end ------------------------------------------------------------------------------

    def _is_unrecorded(self) -> bool:
        return self._turn.number > len(self._recorder.past)

    async def _keep_unfinished(self) -> None:
        """Record the last iteration as far as it came, with the files as the actor left them."""
        turn = self._turn
        turn.interrupted = self._revision.stop_reason in ("cancelled", "budget")
        if turn.interrupted and turn.actor is not None and turn.change is None:
            try:
                turn.change = await self._capture_change()
            except Exception as error:  # the output of the actor is recorded all the same
                reason = escape_line(str(error))
                turn.refusals += (Refusal(kind="capture_failed", reason=reason),)
            except asyncio.CancelledError:
                pass  # stopped a second time: the rest is recorded without the diff
        self._recorder.keep(turn)

    def _end_early(self, outcome: SessionOutcome, problem: str) -> SessionEnd:
        if self._is_unrecorded():
            self._turn.interrupted = True
            self._recorder.keep(self._turn)
        return self._end_session(outcome, problem)

    def _end_session(self, outcome: SessionOutcome, reason: str) -> SessionEnd:
        decision = self._turn.decision
        approval = decision if outcome == "success" and isinstance(decision, Done) else None
        duration_ms = round((time.monotonic() - self._began) * 1000)
        end = self._recorder.end(outcome, duration_ms, approval, reason)
        status = EXIT_CODES[outcome]
        self._events.emit(SessionEnded, session=self.session, exit_code=status, end=end)
        return end

    # --- the actor ----------------------------------------------------------------------------

    async def _draft(self, turn: Turn) -> Drafted[Turn] | Failed:
        past = reversed(self._recorder.past)
        feedback = next((entry.feedback for entry in past if entry.feedback is not None), None)
        try:
            await self._agents.run("actor", actor_prompt(self.job.task, feedback), turn)
        except AgentNotStarted as error:
            return Failed(str(error))
        await self._check_commands(turn)
        await self._capture(turn)
        # The number makes every draft a new one: a loop without changes runs to its limit.
        return Drafted(turn, f"{turn.number}:{turn.change.tree if turn.change else ''}")

    async def _check_commands(self, turn: Turn) -> None:
        if self.job.gate.commands:
            await asyncio.to_thread(self._workspace.begin_checks)
        for words in self.job.gate.commands:
            began = time.monotonic()
            rules = GateRules(commands=(words,), timeout=self.job.gate.timeout)
            refusals = await run_commands(rules, self.job.folder)
            self._events.emit(
                GateCommandEnded,
                iteration=turn.number,
                command=words,
                passed=not refusals,
                duration_ms=round((time.monotonic() - began) * 1000),
                refusals=refusals,
            )
            turn.refusals += refusals

    async def _capture(self, turn: Turn) -> None:
        """Capture the change. It is the last step before the critic, so nothing escapes it."""
        refusals: tuple[Refusal, ...] = ()
        try:
            turn.change = change = await self._capture_change()
            self._tell_diff(turn, change.diff)
            refusals = await asyncio.to_thread(judge_change, self.job.gate, self._protected, change)
        except GitFailed as error:
            refusals = (Refusal(kind="capture_failed", reason=str(error)),)
        turn.refusals += refusals
        if turn.refusals:
            self._events.emit(ChangeRefused, iteration=turn.number, refusals=turn.refusals)

    async def _capture_change(self) -> Change:
        """Return the change. Only one capture runs at a time, also after a cancellation."""
        if self._capturing is None or self._capturing.done():
            self._capturing = asyncio.ensure_future(asyncio.to_thread(self._workspace.capture))
        return await asyncio.shield(self._capturing)

    def _tell_diff(self, turn: Turn, diff: Diff) -> None:
        self._events.emit(
            DiffCaptured,
            iteration=turn.number,
            files=len(diff.files),
            lines=diff.lines,
            size=diff.size,
            sha256=diff.sha256,
        )

    # --- the critic ---------------------------------------------------------------------------

    async def _judge(self, turn: Turn) -> JudgedDraft[str] | Malformed | Failed:
        if turn.refusals or turn.actor is None or turn.change is None:
            return _refuse_turn(turn)
        try:
            decision = await self._ask(turn, turn.actor, turn.change)
        except AgentNotStarted as error:
            return Failed(str(error))
        except MalformedReply as error:
            return self._malformed_reply(turn, error)
        turn.decision = decision
        self._events.emit(DecisionMade, iteration=turn.number, decision=decision)
        if not isinstance(decision, Done):
            turn.feedback = feedback_text(decision)
            return _judge_turn(turn, "refused")
        turn.refusals = await self._objections(turn.actor, turn.change)
        if not turn.refusals:
            return _judge_turn(turn, "approved")
        self._events.emit(ChangeRefused, iteration=turn.number, refusals=turn.refusals)
        return _refuse_turn(turn)

    def _malformed_reply(self, turn: Turn, error: MalformedReply) -> Malformed:
        run = turn.critic[-1]
        turn.critic[-1] = run.model_copy(update={"fault": str(error)})
        # For a person. A prompt must not hold these words: the actor may have written them.
        words = f": {last_words(run)}" if run.exit_code != 0 and last_words(run) else ""
        return Malformed(f"the critic gave no decision when asked twice: {error}{words}")

    async def _ask(self, turn: Turn, actor: AgentRun, change: Change) -> Done | Continue | Error:
        past = self._recorder.past
        prompt = critic_prompt(
            task=self.job.task,
            limit=self._last_number,
            number=turn.number,
            actor=actor,
            diff=change.diff,
            notes=change.notes(),
            history=past,
            problem=turn.critic[-1].fault if turn.critic else None,
        )
        run = await self._agents.run("critic", prompt, turn)
        # The prompt is included: it shows the form of an answer, and long texts only in part.
        shown = [prompt, *texts_of_actor(actor, change.diff)]
        for earlier in past:
            shown += [earlier.feedback or "", *texts_of_actor(earlier.actor, earlier.diff)]
        reply = read_reply(run.stdout).text
        try:
            decision = decision_in(run, reply, shown)
        except MalformedReply as error:
            self._tell_reply(turn, reply, str(error))
            raise
        self._tell_reply(turn, reply, None)
        return decision

    def _tell_reply(self, turn: Turn, reply: str, problem: str | None) -> None:
        self._events.emit(CriticReplied, iteration=turn.number, reply=reply, problem=problem)

    async def _objections(self, actor: AgentRun, change: Change) -> tuple[Refusal, ...]:
        """Return the facts that overrule a `done`."""
        refusals = []
        if actor.exit_code != 0:
            reason = f"the actor {failure_text(actor)}: find out why, and exit with 0"
            refusals.append(Refusal(kind="actor_failed", reason=reason))
        try:
            refusals += judge_repository(await asyncio.to_thread(self._workspace.git_changes))
            if await asyncio.to_thread(self._workspace.tree) != change.tree:
                reason = "files changed during the review: the files as they are were not judged"
                refusals.append(Refusal(kind="changed_while_judged", reason=reason))
        except GitFailed as error:
            refusals.append(Refusal(kind="capture_failed", reason=str(error)))
        return tuple(refusals)


async def _or_failed(step: Awaitable[_StepResult]) -> _StepResult | Failed:
    """Return the result of a step; a failure if this machine or this program let it down."""
    try:
        return await step
    except (OSError, HarnessError) as error:
        return Failed(escape_line(str(error)))
    except Exception as error:  # a failing guard must end the session, on record
        return Failed(f"internal error: {type(error).__name__}: {escape_line(str(error))}")


def _refuse_turn(turn: Turn) -> JudgedDraft[str]:
    turn.feedback = refusal_feedback(turn.refusals)
    return _judge_turn(turn, "refused")


def _judge_turn(turn: Turn, ruling: JudgementKind) -> JudgedDraft[str]:
    # Of two refused attempts the later one ranks higher: it is what the files contain.
    return JudgedDraft(Judgement(ruling, (turn.number,), turn.feedback or ""))
