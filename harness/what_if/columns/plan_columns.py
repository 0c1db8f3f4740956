"""The columns of plans in a Parquet file, what they hold, and how their format is told.

Rule 1: what many plans share stands in the file once: a step, a context, a spec is a text of JSON
        in the dictionary of its column, and a row names it by a number.
Rule 2: what the order of the steps decides does not hang on a policy: it is a column.
Rule 3: a row is a plan that can be rebuilt, or says why its record cannot be judged.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

PLANS_FORMAT: Final = "2"
"""The version of these columns and of their meaning."""

FORMAT_KEY: Final = "plan-critic.plans"
RULES_KEY: Final = "plan-critic.rules"
CHECK_KEY: Final = "plan-critic.check"
LAST_KEY: Final = "plan-critic.last"
HEAD_KEY: Final = "plan-critic.head"
"""The keys in the metadata of the file: the version, the digest of the rules that gave `answer`,
what was wrong with the log as a whole, and the number of its last record; the last is left out of
an export of some records only."""

ColumnKind = Literal["int64", "bool", "string", "strings", "text", "texts", "numbers"]
"""What a column holds. A `text` is one of few: it is kept in a dictionary."""

COLUMNS: Final[Mapping[str, ColumnKind]] = MappingProxyType(
    {
        "attempt": "int64",
        "turn_id": "int64",
        "upto": "int64",
        "not_judged": "text",
        "why": "strings",
        "decision_key": "text",
        "answer": "text",
        "drifted": "bool",
        "of_guard": "bool",
        "trace_id": "string",
        "run_id": "string",
        "tenant_id": "string",
        "user_id": "string",
        "as_of": "string",
        "as_of_us": "int64",
        "spent_steps": "int64",
        "spent_tokens": "int64",
        "ctx": "text",
        "compiled": "text",
        "spec": "text",
        "plan_id": "string",
        "plan_trace_id": "string",
        "declared_outputs": "text",
        "plan_steps": "texts",
        "repeated_calls": "numbers",
        "out_of_order": "bool",
        "other_trace": "bool",
    }
)
"""The columns of a `PlanRow`, in its order."""


class PlanRow(NamedTuple):
    """One plan of a record, or why there is none. What is None is not there.

    Attributes:
        attempt: the index in the plans that were tried before; None for the row of the decision.
        turn_id: a number of its turn, which all plans of its records have; None without a plan.
        upto: the last of the missing records that the row stands for.
        not_judged: the status of a record that cannot be judged; `why` has the reasons.
        decision_key: the id of the spec.
        answer: what today's rules say to the plan, as a table of answers names it.
        drifted: it was recorded under other rules, which gave another verdict.
        of_guard: it is a turn of a guarded session.
        as_of_us: `as_of` in microseconds since 1970.
        ctx: the context without what has a column of its own.
        plan_steps: the steps, each as JSON.
        repeated_calls: the positions of steps that call what an earlier step called, with its args.
        out_of_order: an id is there twice, or a step depends on what is not an earlier step.
        other_trace: the plan names another trace than the context.
    """

    attempt: int | None = None
    turn_id: int | None = None
    upto: int | None = None
    not_judged: str | None = None
    why: tuple[str, ...] = ()
    decision_key: str | None = None
    answer: str | None = None
    drifted: bool = False
    of_guard: bool = False
    trace_id: str | None = None
    run_id: str | None = None
    tenant_id: str | None = None
    user_id: str | None = None
    as_of: str | None = None
    as_of_us: int | None = None
    spent_steps: int | None = None
    spent_tokens: int | None = None
    ctx: str | None = None
    compiled: str | None = None
    spec: str | None = None
    plan_id: str | None = None
    plan_trace_id: str | None = None
    declared_outputs: str | None = None
    plan_steps: tuple[str, ...] = ()
    repeated_calls: tuple[int, ...] = ()
    out_of_order: bool = False
    other_trace: bool = False
