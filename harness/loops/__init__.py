"""Loops that revise: a plan until it verifies, a text until a critic approves."""

from typing import TYPE_CHECKING

from evals.front import lazy_front

if TYPE_CHECKING:
    from harness.loops.actor_critic import (
        DEFAULT_CRITIQUE_TEMPLATE,
        DEFAULT_REFINE_TEMPLATE,
        ActorCritic,
    )
    from harness.loops.critique import Critique, parse_critique, parse_score
    from harness.loops.feedback import (
        FeedbackEntry,
        derive_feedback,
        feedback_line,
        top_feedback,
    )
    from harness.loops.feedback_reading import read_feedback
    from harness.loops.plan_loop import PlanLoop, revise_plan
    from harness.loops.plan_types import (
        Advisor,
        PlanAttempt,
        PlanCritique,
        PlanEvent,
        PlanLoopOptions,
        PlannerReply,
        PlanRevision,
        RevisingPlanner,
        RevisionRequest,
    )
    from harness.loops.reflexion import Reflexion
    from harness.loops.self_refine import (
        DEFAULT_CRITIC_PROMPT,
        DEFAULT_REFINER_PROMPT,
        SelfRefine,
    )
    from harness.loops.supervisor import DEFAULT_SUPERVISE_TEMPLATE, Assignment, Supervisor
    from harness.loops.verifying_planner import NotApproved, VerifyingPlanner

__all__ = [
    "DEFAULT_CRITIC_PROMPT",
    "DEFAULT_CRITIQUE_TEMPLATE",
    "DEFAULT_REFINER_PROMPT",
    "DEFAULT_REFINE_TEMPLATE",
    "DEFAULT_SUPERVISE_TEMPLATE",
    "ActorCritic",
    "Advisor",
    "Assignment",
    "Critique",
    "FeedbackEntry",
    "NotApproved",
    "PlanAttempt",
    "PlanCritique",
    "PlanEvent",
    "PlanLoop",
    "PlanLoopOptions",
    "PlanRevision",
    "PlannerReply",
    "Reflexion",
    "RevisingPlanner",
    "RevisionRequest",
    "SelfRefine",
    "Supervisor",
    "VerifyingPlanner",
    "derive_feedback",
    "feedback_line",
    "parse_critique",
    "parse_score",
    "read_feedback",
    "revise_plan",
    "top_feedback",
]

if not TYPE_CHECKING:  # so that a misspelt name stays an error to a type checker
    __getattr__ = lazy_front(
        __name__,
        {
            "harness.loops.actor_critic": (
                "ActorCritic DEFAULT_CRITIQUE_TEMPLATE DEFAULT_REFINE_TEMPLATE"
            ),
            "harness.loops.critique": "Critique parse_critique parse_score",
            "harness.loops.feedback": "FeedbackEntry derive_feedback feedback_line top_feedback",
            "harness.loops.feedback_reading": "read_feedback",
            "harness.loops.reflexion": "Reflexion",
            "harness.loops.plan_loop": "PlanLoop revise_plan",
            "harness.loops.plan_types": (
                "Advisor PlanAttempt PlanCritique PlanEvent PlanLoopOptions PlanRevision "
                "PlannerReply RevisingPlanner RevisionRequest"
            ),
            "harness.loops.self_refine": "DEFAULT_CRITIC_PROMPT DEFAULT_REFINER_PROMPT SelfRefine",
            "harness.loops.supervisor": "Assignment DEFAULT_SUPERVISE_TEMPLATE Supervisor",
            "harness.loops.verifying_planner": "NotApproved VerifyingPlanner",
        },
    )


def __dir__() -> list[str]:
    return sorted(__all__)
