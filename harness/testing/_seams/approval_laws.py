"""The laws of calls that a person is asked about. Each docstring is the law."""

from harness.integrations.seam.guarded import AskedCall, CallReply
from harness.testing._seams.scene import policy_of_scene
from harness.testing._seams.stage import ALL_RAN, NO, WHOLE_BATCH, YES, Played, Stage

_BOTH_YES = {"*": YES}
_BOTH_NO = {"*": NO}


def nothing_runs_before_the_answer(stage: Stage) -> None:
    """The whole batch waits for the answer; a yes runs all of it, once, and the agent goes on."""
    played = stage.play_asking(_BOTH_YES)
    _require_asked(stage, played, 1)
    before = played.scene.journal[: _first_line(played, "asked")]
    stage.require(not any(line.startswith("ran") for line in before), "it ran unasked", played)
    stage.require_ran(played, *ALL_RAN, why="a yes runs the whole batch, each call once")
    stage.require_told(played, "done", "c2")
    stage.went_on(played)


def a_no_runs_nothing(stage: Stage) -> None:
    """A no runs nothing, and the model is told."""
    played = stage.play_asking(_BOTH_NO)
    _require_asked(stage, played, 1)
    stage.require_ran(played, why="a call ran that a person said no to")


def a_no_holds(stage: Stage) -> None:
    """What a person said no to is refused when it is asked for again, and nobody is asked."""
    played = stage.play_asking(_BOTH_NO, WHOLE_BATCH, _rename_calls(WHOLE_BATCH))
    _require_asked(stage, played, 1)
    stage.require_ran(played, why="a call ran that a person said no to")


def silence_runs_nothing(stage: Stage) -> None:
    """Nothing runs while nobody answers."""
    played = stage.play_asking(None)
    _require_asked(stage, played, 1)
    stage.require_ran(played, why="it ran without an answer")


def headless_runs_nothing(stage: Stage) -> None:
    """With `on_ask = "refuse"` nobody is asked, and nothing runs."""
    policy = policy_of_scene("destructive", asks=True, on_ask="refuse")
    played = stage.play_asking(_BOTH_YES, policy=policy)
    _require_asked(stage, played, 0)
    stage.require_ran(played, why="it ran though nobody was there to be asked")
    stage.require_told(played, "nobody can be asked now", "c1", "c2")


def one_yes_and_one_no_run_one(stage: Stage) -> None:
    """Where a person approves one call and denies the other, the one that is approved runs."""
    played = stage.play_asking({"c1": YES, "c2": NO})
    stage.require_ran(
        played, "lookup 1", why="only the call that was approved may run, and it has to"
    )
    played = stage.play_asking({"c1": NO, "c2": YES})
    stage.require_ran(played, "issue_refund 1 5", why="only the call that was approved may run")
    other = AskedCall("c3", "issue_refund", {"order_id": "2", "cents": 7})
    played = stage.play_asking({"c2": YES, "c3": NO}, (*WHOLE_BATCH[1:], other))
    stage.require_ran(
        played, "issue_refund 1 5", why="of two that were asked about, one was approved"
    )
    played = stage.play_asking(
        {"c1": YES, "c2": NO, "c9": NO}, WHOLE_BATCH, (WHOLE_BATCH[1]._replace(id="c9"),)
    )
    _require_asked(stage, played, 1)


def the_same_batch_twice_asks_twice(stage: Stage) -> None:
    """A yes is to one occurrence: the same calls, asked for again, ask again."""
    played = stage.play_asking(_BOTH_YES, WHOLE_BATCH, _rename_calls(WHOLE_BATCH))
    _require_asked(stage, played, 2)
    stage.require_ran(played, *ALL_RAN, *ALL_RAN, why="both were approved")


def another_digest_runs_nothing(stage: Stage) -> None:
    """An answer that names another plan runs nothing."""
    stage.require_ran(
        stage.play_asking(_BOTH_YES, foreign_digest="0" * 64),
        why="an answer to another plan was taken for this one",
    )


def edited_arguments_are_ruled_on(stage: Stage) -> None:
    """A call that a person edited is ruled on anew: refused where the policy forbids it."""
    replies = {"c1": YES, "c2": CallReply(yes=True, args={"order_id": "1", "cents": 99_999})}
    stage.require_ran(stage.play_asking(replies), why="a person's edit went around the policy")
    replies = {"c1": YES, "c2": CallReply(yes=True, args={"order_id": "1", "cents": 3})}
    played = stage.play_asking(replies)
    stage.require_ran(
        played, "lookup 1", "issue_refund 1 3", why="the person approved it as edited"
    )


def an_answer_in_another_process_counts(stage: Stage) -> None:
    """The session goes on where its state is handed to, and nowhere else."""
    played = stage.play_asking(_BOTH_YES, travels=True)
    stage.require_ran(played, *ALL_RAN, why="the answer came in another process, with the state")
    played = stage.play_asking({"c1": YES, "c2": NO}, travels=True)
    stage.require_ran(played, "lookup 1", why="only the call that was approved may run")
    played = stage.play_asking(_BOTH_YES, travels=True, loses_state=True)
    stage.require(
        "issue_refund 1 5" not in played.scene.ran,
        "it ran without the state of the question",
        played,
    )


def rewritten_arguments_are_not_approved(stage: Stage) -> None:
    """What a person approved does not run with arguments that other code put in their place."""
    worse = {"order_id": "1", "cents": 99_999}
    played = stage.play_asking(_BOTH_YES, rewrites={"c2": worse})
    stage.require("issue_refund 1 99999" not in played.scene.ran, "rewritten args ran", played)
    other = {"order_id": "2", "cents": 5}
    played = stage.play_asking({"c1": YES, "c2": YES, "*": NO}, rewrites={"c2": other})
    stage.require("issue_refund 2 5" not in played.scene.ran, "rewritten args ran", played)


def _require_asked(stage: Stage, played: Played, times: int) -> None:
    asked = sum(line.startswith("asked") for line in played.scene.journal)
    stage.require(asked == times, f"it asked {asked} times, not {times}", played)


def _first_line(played: Played, word: str) -> int:
    return [line.startswith(word) for line in played.scene.journal].index(True)


def _rename_calls(calls: tuple[AskedCall, ...]) -> tuple[AskedCall, ...]:
    return tuple(call._replace(id=f"{call.id}-again") for call in calls)
