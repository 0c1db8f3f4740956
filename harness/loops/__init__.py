"""Loops that revise: a plan until it verifies, a text until a critic approves."""

from harness.loops.actor_critic import ActorCritic
from harness.loops.critique import Critique, parse_critique, parse_score
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
from harness.loops.self_refine import SelfRefine
from harness.loops.verifying_planner import NotApproved, VerifyingPlanner

__all__ = [
    "ActorCritic",
    "Advisor",
    "Critique",
    "NotApproved",
    "PlanAttempt",
    "PlanCritique",
    "PlanEvent",
    "PlanLoop",
    "PlanLoopOptions",
    "PlanRevision",
    "PlannerReply",
    "RevisingPlanner",
    "RevisionRequest",
    "SelfRefine",
    "VerifyingPlanner",
    "parse_critique",
    "parse_score",
    "revise_plan",
]
