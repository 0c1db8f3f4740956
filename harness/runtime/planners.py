"""A planner that has its plan already: for files, transcripts and tests."""

from critic import CompiledContext, DecisionSpec, Plan, RunContext


class FixedPlanner:
    """Proposes the one plan it was given."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def plan(self, ctx: RunContext, compiled: CompiledContext, spec: DecisionSpec) -> Plan:
        """The plan, whatever it is asked for."""
        del ctx, compiled, spec
        return self._plan
