"""The columns of the tables of a log: turns, calls, effects, evidence and answers.

Rule 1: `seq`, the number of the first record of a turn, names the turn in every table.
Rule 2: a turn whose records became more is written again. Of the rows with one `seq`, those with
        the highest `upto` count, in each table.
Rule 3: no column has a text that a person or a tool wrote, but for the arguments of calls.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias

ColumnType = Literal["int", "bool", "text", "texts", "ints", "time", "numbers"]
"""What a column holds. `time` is UTC; `numbers` are numbers by JSON pointer."""

TableName = Literal["turns", "calls", "effects", "evidence", "answers"]
Row: TypeAlias = dict[str, Any]

_OF_TURN: Final[Mapping[str, ColumnType]] = {
    "seq": "int",
    "upto": "int",
    "trace": "text",
    "session": "text",
    "turn": "int",
    "tenant": "text",
    "user": "text",
    "ruled_at": "time",
    "fate": "text",
}
"""What every table says of the turn, so that most questions need no join."""

LOG_COLUMNS: Final[Mapping[TableName, Mapping[str, ColumnType]]] = MappingProxyType(
    {
        "turns": {
            **_OF_TURN,
            "ended_at": "time",
            "records": "ints",
            "plan": "text",
            "spec": "text",
            "mode": "text",
            "asked": "bool",
            "after_yes": "bool",
            "shadow": "bool",
            "stale": "bool",
            "settled": "text",
            "settled_by": "text",
            "kind": "text",
            "kinds": "texts",
            "checks": "texts",
            "tool": "text",
            "tools": "texts",
            "tier": "text",
            "tier_rank": "int",
            "steps": "int",
            "tokens": "int",
            "wall_ms": "int",
            "cost_micros": "int",
            "ruleset": "text",
            "taken_out": "texts",
        },
        "calls": {
            **_OF_TURN,
            "step": "int",
            "tool": "text",
            "tier": "text",
            "tier_rank": "int",
            "args": "text",
            "amounts": "numbers",
            "planned": "bool",
            "ran": "bool",
            "status": "text",
            "attempts": "int",
            "duration_ms": "int",
            "cost_micros": "int",
        },
        "effects": {
            **_OF_TURN,
            "step": "int",
            "part": "int",
            "effect": "text",
            "tier": "text",
            "tier_rank": "int",
            "args": "text",
            "ran": "bool",
        },
        "evidence": {
            **_OF_TURN,
            "item": "text",
            "class": "text",
            "author": "text",
            "use": "text",
            "steps": "ints",
            "expires_at": "time",
            "expired": "bool",
            "holds": "texts",
        },
        "answers": {
            **_OF_TURN,
            "record": "int",
            "answered_at": "time",
            "answer": "text",
            "approver": "text",
            "approval": "text",
            "used": "bool",
        },
    }
)
"""The columns of each table, in their order."""


def table_schema(name: TableName) -> Any:
    """Return the columns of a table as a schema of Arrow."""
    import pyarrow  # noqa: PLC0415 - large, and only for this

    types: dict[ColumnType, Any] = {
        "int": pyarrow.int64(),
        "bool": pyarrow.bool_(),
        "text": pyarrow.string(),
        "texts": pyarrow.list_(pyarrow.string()),
        "ints": pyarrow.list_(pyarrow.int64()),
        "time": pyarrow.timestamp("us"),
        "numbers": pyarrow.map_(pyarrow.string(), pyarrow.float64()),
    }
    return pyarrow.schema([(column, types[kind]) for column, kind in LOG_COLUMNS[name].items()])
