"""The code loop: the actor works, the gate and the critic judge, until one of them ends it.

Rule 1: success takes a `done` of the critic, an actor that exited with 0, a gate that refuses
        nothing, and files that are still those which were judged.
Rule 2: a reply that is no decision is asked for once more; then the session has failed.
Rule 3: whatever ends the loop, what was done until then and the end are on record, unless it was
        the record that could not be written.
"""

import asyncio
import time
from collections.abc import Awaitable, Iterator, Sequence
from typing import Final, Literal, Protocol, TypeVar, assert_never

from evals.escaping import escape_name
from harness.codeloop.agents import agent_start
from harness.codeloop.change import Change
from harness.codeloop.decision import (
    Continue,
    Done,
    Error,
    MalformedReply,
    is_echo,
    parse_decision,
)
from harness.codeloop.gate import (
    ProtectedPaths,
    judge_change,
    judge_repository,
    run_commands,
)
from harness.codeloop.git import GitFailed
from harness.codeloop.prompt import (
    actor_prompt,
    critic_prompt,
    extent,
    how_it_ended,
    refusal_feedback,
)
from harness.codeloop.record import Diff, Ran, Refusal, SessionEnd
from harness.codeloop.scribe import Clock, Job, Record, SessionRecorder, Turn, outcome_of, ran_of
from harness.codeloop.workspace import Workspace
from harness.errors import HarnessError
from harness.process import CommandNotStarted, CommandResult, run_command
from harness.runtime.revise import (
    Cancelled,
    Drafted,
    Failed,
    JudgedDraft,
    Judgement,
    Malformed,
    Revision,
    Ruling,
)

CodeLoopPhase = Literal["actor", "gate", "diff", "critic"]
CodeLoopEvent = TypeVar("CodeLoopEvent")


class Watch(Protocol):
    """Whoever looks on."""

    def begin(self, number: int, phase: CodeLoopPhase) -> None:
        """A phase of an iteration begins."""

    def end(self, said: str) -> None:
        """It is over, with this to say: text of agents among it, not safe to print."""


class CodeLoop:
    """One session from its start to its end."""

    def __init__(
        self, job: Job, workspace: Workspace, record: Record, clock: Clock, watch: Watch
    ) -> None:
        self._job, self._workspace, self._watch = job, workspace, watch
        self._scribe: Final = SessionRecorder(job, record, clock)
        self._protected: Final = ProtectedPaths(job.gate.protected, workspace)
        self._revision: Revision[Turn, str] = Revision(job.max_iterations)

    async def run(self) -> SessionEnd:
        """Run to the end. A cancellation ends what runs, and the session is ended in order.

        Raises:
            OSError: the record cannot be written.
        """
        began = time.monotonic()
        self._scribe.start(self._workspace.base)
        turn = Turn(1)
        try:
            while self._revision.state != "stopped":
                if self._revision.state == "drafting":
                    turn = Turn(self._revision.round + 1)
                    self._revision.feed(await _or_failed(self._draft(turn)))
                    continue
                event = await _or_failed(self._judge(turn))
                self._revision.feed(event)
                if isinstance(event, JudgedDraft):
                    self._scribe.keep(turn)
        except asyncio.CancelledError:
            self._revision.feed(Cancelled())
        if turn.number > len(self._scribe.past):
            self._scribe.keep(turn)  # as far as it came
        return self._end(turn, round((time.monotonic() - began) * 1000))

    def _end(self, turn: Turn, duration_ms: int) -> SessionEnd:
        reason = self._revision.stop_reason
        outcome = outcome_of(reason) if reason else "failed"
        done = turn.decision if isinstance(turn.decision, Done) else None
        approved = done if outcome == "success" else None
        return self._scribe.end(outcome, duration_ms, approved, self._revision.detail)

    # --- the actor ----------------------------------------------------------------------------

    async def _draft(self, turn: Turn) -> Drafted[Turn] | Failed:
        past = self._scribe.past
        prompt = actor_prompt(self._job.task, past[-1].feedback if past else None)
        self._watch.begin(turn.number, "actor")
        try:
            turn.actor = ran_of(await self._call(self._job.actor, prompt))
        except CommandNotStarted as error:
            return Failed(f"actor: {error}")
        self._watch.end(how_it_ended(turn.actor))
        await self._check_commands(turn)
        await self._capture(turn)
        # The number keeps a change that came before from ending the loop: it runs to its limit.
        return Drafted(turn, f"{turn.number}:{turn.change.tree if turn.change else ''}")

    async def _check_commands(self, turn: Turn) -> None:
        if not self._job.gate.commands:
            return
        self._watch.begin(turn.number, "gate")
        await asyncio.to_thread(self._workspace.begin_checks)
        turn.refusals += await run_commands(self._job.gate, self._job.folder)
        self._watch.end(_told(turn.refusals) or "all checks passed")

    async def _capture(self, turn: Turn) -> None:
        """Last before the judgement, so that what is judged is what all of the above left."""
        self._watch.begin(turn.number, "diff")
        try:
            turn.change = change = await asyncio.to_thread(self._workspace.capture)
            found = await asyncio.to_thread(judge_change, self._job.gate, self._protected, change)
        except GitFailed as error:
            turn.refusals += (Refusal(kind="capture_failed", reason=str(error)),)
            self._watch.end(_told(turn.refusals[-1:]))
            return
        turn.refusals += found
        self._watch.end("; ".join(filter(None, [extent(change.diff), _told(found)])))

    # --- the critic ---------------------------------------------------------------------------

    async def _judge(self, turn: Turn) -> JudgedDraft[str] | Malformed | Failed:
        if turn.refusals or turn.actor is None or turn.change is None:
            return _refused(turn)
        self._watch.begin(turn.number, "critic")
        try:
            turn.decision = await self._ask(turn, turn.actor, turn.change)
        except CommandNotStarted as error:
            return Failed(f"critic: {error}")
        except MalformedReply as error:
            turn.critic[-1] = turn.critic[-1].model_copy(update={"fault": str(error)})
            self._watch.end(f"malformed reply: {error}")
            return Malformed(f"the critic gave no decision when asked twice: {error}")
        if isinstance(turn.decision, Done):
            turn.refusals = await self._objections(turn.actor, turn.change)
        self._watch.end("; ".join(filter(None, [_gist(turn.decision), _told(turn.refusals)])))
        if turn.refusals:
            return _refused(turn)
        if isinstance(turn.decision, Done):
            return _judged(turn, "approved")
        turn.feedback = _feedback(turn.decision)
        return _judged(turn, "refused")

    async def _ask(self, turn: Turn, actor: Ran, change: Change) -> Done | Continue | Error:
        fault = turn.critic[-1].fault if turn.critic else None
        prompt = critic_prompt(
            task=self._job.task,
            limit=self._job.max_iterations,
            number=turn.number,
            actor=actor,
            diff=change.diff,
            notes=change.notes(),
            history=self._scribe.past,
            fault=fault,
        )
        result = await self._call(self._job.critic, prompt)
        turn.critic.append(ran_of(result))
        if result.exit_code != 0:
            raise MalformedReply(f"the critic {how_it_ended(turn.critic[-1])}")
        if result.truncated:
            raise MalformedReply("the reply is too long to be a decision")
        decision = parse_decision(result.stdout)
        # The prompt is among it: it holds the form to answer in, and shows long texts cut.
        heard = [prompt, *_written(actor, change.diff)]
        for past in self._scribe.past:
            heard += [past.feedback or "", *_written(past.actor, past.diff)]
        if isinstance(decision, Done) and is_echo(result.stdout, heard):
            raise MalformedReply("the reply repeats word for word what the actor wrote")
        return decision

    async def _objections(self, actor: Ran, change: Change) -> tuple[Refusal, ...]:
        """Facts that stand against a `done`."""
        found = []
        if actor.exit_code != 0:
            why = f"the actor {how_it_ended(actor)}: find out why, and end with 0"
            found.append(Refusal(kind="actor_failed", reason=why))
        try:
            found += judge_repository(await asyncio.to_thread(self._workspace.git_changes))
            if await asyncio.to_thread(self._workspace.tree) != change.tree:
                why = "files changed while they were judged: what is there now was not judged"
                found.append(Refusal(kind="changed_while_judged", reason=why))
        except GitFailed as error:
            found.append(Refusal(kind="capture_failed", reason=str(error)))
        return tuple(found)

    async def _call(self, words: Sequence[str], prompt: str) -> CommandResult:
        with agent_start(words, prompt, self._job.folder) as start:
            return await run_command(
                words,
                prompt=start.prompt,
                cwd=start.folder,
                timeout=self._job.timeout,
                environment=start.environment,
            )


async def _or_failed(step: Awaitable[CodeLoopEvent]) -> CodeLoopEvent | Failed:
    """Return the result of a step, or a failure: no error leaves a session without its end."""
    try:
        return await step
    except (OSError, HarnessError) as error:
        return Failed(escape_name(str(error)))
    except Exception as error:  # an error of this program
        return Failed(f"internal error: {type(error).__name__}: {escape_name(str(error))}")


def _refused(turn: Turn) -> JudgedDraft[str]:
    turn.feedback = refusal_feedback(turn.refusals)
    return _judged(turn, "refused")


def _judged(turn: Turn, ruling: Ruling) -> JudgedDraft[str]:
    # Of two refused attempts the later is the better: it is what the files are.
    return JudgedDraft(Judgement(ruling, (turn.number,), turn.feedback or ""))


def _told(refusals: Sequence[Refusal]) -> str:
    return "; ".join(f"refused: {refusal.kind}: {refusal.reason}" for refusal in refusals)


def _gist(decision: Done | Continue | Error) -> str:
    match decision:
        case Done():
            return f"DONE ({decision.confidence:g}): {decision.summary}"
        case Continue():
            return f"CONTINUE: {decision.feedback}"
        case Error():
            return f"ERROR: {decision.analysis}"
        case _:
            assert_never(decision)


def _feedback(decision: Continue | Error) -> str:
    if isinstance(decision, Error):
        return f"{decision.analysis}\n\nHow to recover: {decision.recovery}"
    return "\n".join([decision.feedback, *(f"- {issue}" for issue in decision.remaining_issues)])


def _written(actor: Ran, diff: Diff | None) -> Iterator[str]:
    """What an actor printed, and the lines of its diff: both sides together, and each alone."""
    yield from (actor.stdout, actor.stderr)
    lines = ((diff and diff.content()) or b"").decode("utf-8", "replace").split("\n")
    for signs in ("", "+", "-"):
        side = (line for line in lines if not signs or line[:1] in ("", " ", signs))
        yield "\n".join(line[1:] for line in side)
