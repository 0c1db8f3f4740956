"""The laws of calls that nobody is asked about. Each docstring is the law."""

from collections.abc import Sequence
from typing import Any

from critic import Refused, ToolCall
from harness.guard import Guard
from harness.integrations.seam.guarded import AskedCall
from harness.testing._seams.scene import JournalLog, policy_of_scene
from harness.testing._seams.stage import ALL_RAN, LOOKUP, REFUND, WHOLE_BATCH, Played, Stage

_UNREADABLE = (
    '{"order_id": "1", ',
    '{"order_id": "1", "cents": 5, "cents": 6}',
    '["1", 5]',
    '{"order_id": "1", "cents": 1152921504606846976}',
    '{"order_id": "1", "cents": NaN}',
)


class _BrokenGuard(Guard):
    """A guard that raises, which the real one never does."""

    def handle(self, _event: Any, *, note: str | None = None) -> Any:  # noqa: ARG002
        """Raise."""
        raise RuntimeError("the guard is broken")


class _BrokenClock:
    """A clock that raises."""

    def now(self) -> Any:
        """Raise."""
        raise OSError("no time")


def an_allowed_batch_runs_once(stage: Stage) -> None:
    """What is allowed runs once, the model reads the results, and the guard is told them."""
    played = stage.play()
    stage.require_ran(played, *ALL_RAN, why="an allowed batch has to run, each call once")
    stage.require_told(played, "paid", "c1")
    stage.require_told(played, "done", "c2")
    stage.went_on(played)
    outputs = {call.output for call in _calls_of_last_run(played) if call.output}
    stage.require(outputs == {"paid", "done"}, "the guard was not told the results", played)


def a_refused_batch_runs_nothing(stage: Stage) -> None:
    """Where one call is refused nothing runs; each call is told why, and the agent goes on."""
    for text in ("", "one moment"):
        played = stage.play(policy=policy_of_scene("local_write"), text=text)
        stage.require_ran(played, why="a refused batch ran")
        stage.require_told(played, "issue_refund not run: it is not allowed here", "c1", "c2")
        stage.went_on(played)


def a_halt_ends_the_run(stage: Stage) -> None:
    """With `on_refusal = "halt"` nothing runs, and the run ends with the verdict."""
    played = stage.play(policy=policy_of_scene("local_write", on_refusal="halt"))
    stage.require_ran(played, why="a refused batch ran")
    stage.require(played.trace.said is None, "the agent went on", played)
    ruling = getattr(played.trace.ended, "ruling", None)
    verdict = getattr(getattr(ruling, "ruling", None), "verdict", None)
    stage.require(isinstance(verdict, Refused), "the exception has no verdict", played)


def a_broken_guard_runs_nothing(stage: Stage) -> None:
    """Where the guard, its log or its clock raises, nothing runs."""
    for how in (
        {"guard": _BrokenGuard},
        {"log": lambda journal: JournalLog(journal, fails=True)},
        {"clock": _BrokenClock()},
    ):
        for shadow in (False, True):
            policy = policy_of_scene("destructive", shadow=shadow)
            stage.require_ran(stage.play(policy=policy, **how), why=f"it ran with {[*how]} broken")


def a_broken_integration_runs_nothing(stage: Stage) -> None:
    """Where the integration itself raises, at the plan seam or the call seam, nothing runs."""
    for method in ("began", "rule", "start"):
        with stage.break_seam(method):
            stage.require_ran(stage.play(), why=f"it ran though {method} raised")


def a_shadow_runs_and_hides_nothing(stage: Stage) -> None:
    """A shadow runs everything, tells no refusal, hides no tool, and records the verdict."""
    for mode, asks in (("local_write", False), ("destructive", True)):
        played = stage.play(policy=policy_of_scene(mode, asks=asks, shadow=True))
        stage.require_ran(played, *ALL_RAN, why="a shadow stopped a call")
        stage.require_told(played, "done", "c2")
        stage.went_on(played)
        verdicts = [decision.report.verify for decision in played.log.decisions[:1]]
        recorded = any(isinstance(verdict, Refused) for verdict in verdicts)
        stage.require(recorded, "no refusal is recorded", played)
        hidden = {"lookup", "issue_refund", "drop_table"} - played.trace.shown
        stage.require(not hidden, f"the model was not shown {sorted(hidden)}", played)


def an_unknown_tool_runs_nothing(stage: Stage) -> None:
    """A call of a tool that the policy, or the framework, does not know is not made."""
    for tool in ("drop_table", "no_such_tool", "drop table"):
        unknown = AskedCall("c2", tool, {"name": "orders"})
        played = stage.play((LOOKUP, unknown))
        stage.require({*played.scene.ran} <= {"lookup 1"}, f"a call of {tool} was made", played)


def unreadable_arguments_run_nothing(stage: Stage) -> None:
    """Arguments that are not one strict JSON object refuse the batch."""
    for args in _UNREADABLE:
        unreadable = AskedCall("c2", "issue_refund", args)
        stage.require_ran(
            stage.play((LOOKUP, unreadable)), why=f"a batch with the arguments {args} ran"
        )


def huge_numbers_run_nothing(stage: Stage) -> None:
    """An integer that JSON readers round refuses the batch."""
    huge = AskedCall("c2", "issue_refund", {"order_id": "1", "cents": 2**60})
    stage.require_ran(stage.play((LOOKUP, huge)), why="a batch with 2^60 ran")


def two_calls_with_one_id_run_nothing(stage: Stage) -> None:
    """Calls of a turn that cannot be told apart refuse it."""
    for second in (LOOKUP, REFUND._replace(id="c1")):
        stage.require_ran(stage.play((LOOKUP, second)), why="two calls with one id ran")


def rewritten_arguments_are_refused(stage: Stage) -> None:
    """Arguments that other code changed after the check are ruled on as they are now."""
    worse = {"order_id": "1", "cents": 99_999}
    played = stage.play(rewrites={"c2": worse})
    stage.require("issue_refund 1 99999" not in played.scene.ran, "rewritten args ran", played)


def spent_steps_count_across_turns(stage: Stage) -> None:
    """What ran in one turn is spent in the next."""
    budget = {"max_steps": 3, "bucket_tokens": 1000}
    policy = policy_of_scene("destructive", budget=budget)
    turns = [_rename_calls(turn) for turn in range(3)]
    played = stage.play(*turns, policy=policy)
    stage.require_ran(
        played, *ALL_RAN, why="two turns of two calls each ran with a budget of three steps"
    )


def the_ruling_is_recorded_before_a_tool_starts(stage: Stage) -> None:
    """The log has the ruling before the first tool begins."""
    journal = stage.play()
    first = journal.scene.journal[:1]
    stage.require(first == ["recorded"], "a tool began before its ruling was recorded", journal)


def a_failed_call_is_told(stage: Stage) -> None:
    """A tool that raises is not recorded as completed, and nothing else runs in its place."""
    played = stage.play((LOOKUP,), failing=True)
    stage.require_ran(played, "lookup 1", why="it ran again")
    statuses = [call.status for call in _calls_of_last_run(played)]
    stage.require(bool(statuses), "the guard was not told that the call ended", played)
    stage.require("completed" not in statuses, "the failure is recorded as success", played)


def a_sub_agent_is_guarded(stage: Stage) -> None:
    """What a sub-agent asks for is ruled on like the calls of the agent that runs it."""
    played = stage.play(has_sub_agent=True, policy=policy_of_scene("local_write"))
    stage.require_ran(played, why="a refused batch of a sub-agent ran")
    played = stage.play(has_sub_agent=True)
    stage.require_ran(played, *ALL_RAN, why="an allowed batch of a sub-agent has to run")
    stage.went_on(played)
    budget = {"max_steps": 2, "bucket_tokens": 1000}
    spent = policy_of_scene("destructive", budget=budget)
    played = stage.play(has_sub_agent=True, policy=spent)
    stage.require_ran(played, why="a sub-agent did not spend from the budget of the session")


def _calls_of_last_run(played: Played) -> Sequence[ToolCall]:
    runs = [decision.run for decision in played.log.decisions[-1:]]
    return [call for run in runs if run is not None for call in run.calls]


def _rename_calls(turn: int) -> tuple[AskedCall, ...]:
    return tuple(call._replace(id=f"{call.id}-{turn}") for call in WHOLE_BATCH)
