"""Reflexion: plan loops whose planner is told what was refused or failed in earlier decisions."""

from collections.abc import Callable, Iterable
from typing import Unpack

from critic import CompiledContext, DecisionSpec, RunContext
from harness.loops.feedback import DEFAULT_MOST_FEEDBACK, FeedbackEntry, top_feedback
from harness.loops.plan_loop import PlanLoop
from harness.loops.plan_types import PlanLoopOptions, RevisingPlanner
from harness.loops.verifying_planner import VerifyingPlanner


class Reflexion(VerifyingPlanner):
    """A `VerifyingPlanner` that gives its planner the top of the feedback, anew for each decision.

    `loop` gives a plan loop to stream; as a `Planner`, it goes into `run_canonical_loop`. Only the
    planner sees the feedback: no verdict depends on it.
    """

    def __init__(
        self,
        planner: RevisingPlanner,
        recall: Callable[[], Iterable[FeedbackEntry]],
        *,
        most: int = DEFAULT_MOST_FEEDBACK,
        **options: Unpack[PlanLoopOptions],
    ) -> None:
        """Wrap a planner; `options` are those of the plan loop.

        `recall` gives the entries, such as those of a log. It is called before each loop, in the
        thread of the event loop, and may raise: then there is no plan.

        Raises:
            ValueError: `most` is not a whole number of at least 0.
            TypeError: the options have feedback, which `recall` gives.
        """
        if "feedback" in options:
            raise TypeError("feedback is what recall gives: leave the option out")
        top_feedback((), most)  # refuses now what it would refuse later
        super().__init__(planner, **options)
        self._recall = recall
        self._most = most

    def loop(self, ctx: RunContext, compiled: CompiledContext, spec: DecisionSpec) -> PlanLoop:
        """Return a plan loop for these inputs, with the feedback as it is now.

        Raises:
            Exception: what `recall` raised.
        """
        feedback = top_feedback(self._recall(), self._most)
        options: PlanLoopOptions = {**self._options, "feedback": feedback}
        return PlanLoop(ctx=ctx, compiled=compiled, spec=spec, planner=self._planner, **options)
