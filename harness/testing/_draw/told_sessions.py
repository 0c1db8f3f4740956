"""Draw sessions that read and act: what was read says what to do, in words and in fields.

All of a session speaks of the same few values, one of each kind that an honest person names and one
that only an outsider does. A silent session has a request that names nothing.
"""

from collections.abc import Sequence
from typing import Any

from evals.json_schemas import compile_schema
from evals.pointers import segments
from harness.policy import Policy
from harness.policy.analysis.samples import NAMED_VALUES, OUTSIDERS_VALUES, put_value, samples
from harness.policy.envelopes import PolicyClass, PolicyTool
from harness.testing._draw.primitives import ABSENT, HypothesisPick, Json


class ToldSession:
    """Draws the events of one session under a policy: each call is followed by its result."""

    def __init__(self, pick: HypothesisPick, policy: Policy, session: str = "s") -> None:
        """Draw for a policy that has tools."""
        self._pick, self._policy, self._session = pick, policy, session
        self._classes = {one.name: one for one in policy.class_}
        reads = [tool for tool in policy.tool if tool.approval_mode == "read_only"]
        acts = [tool for tool in policy.tool if tool.arg_roles and tool not in reads]
        self._turns = reads or list(policy.tool), acts or list(policy.tool)
        used = {kind for tool in policy.tool for kind in (tool.arg_kinds or {}).values()}
        self._kinds = tuple(kind for kind in NAMED_VALUES if kind in used or kind == "text")
        self._told = list[str]()

    def events(self, rounds: int, *, silent: bool) -> list[Json]:
        """Draw the request, and at most so many times something that is read and then done."""
        stream = [self._opening_event(silent=silent)]
        for at in range(2 * self._pick(range(1, rounds + 1))):
            tool = self._pick(self._turns[at % 2])
            call = {"id": f"c{at}", "tool": tool.called, "args": self._args(tool)}
            stream.append({"event": "calls", "session": self._session, "calls": [call]})
            stream.append(self._result(f"c{at}", tool))
        return stream

    def _opening_event(self, *, silent: bool) -> Json:
        names = [tool.called for tool in self._policy.tool]
        scope = self._pick((names, names, ABSENT))
        words = self._pick((names, names[:1], ())) if not silent else ()
        values = [self._value(kind) for kind in self._pick((self._kinds, self._kinds[:1], ()))]
        request = "Go on." if silent else f"Please {', '.join(words)} for {' and '.join(values)}."
        event = {"event": "open", "session": self._session, "request": request}
        return event if scope is ABSENT else {**event, "scope": scope}

    def _value(self, kind: str) -> str:
        return self._pick((NAMED_VALUES, OUTSIDERS_VALUES))[kind]

    def _tell(self) -> str:
        """Draw a value for a result; calls that come later may well hold it."""
        value = self._value(self._pick(self._kinds))
        self._told.append(value)
        return value

    def _argument(self, kind: str) -> str:
        """Draw a value of a kind: what was told last, if that is of it."""
        values = NAMED_VALUES[kind], OUTSIDERS_VALUES[kind]
        told = [one for one in self._told[-4:] if one in values]
        return self._pick((*told * 4, *values))

    def _args(self, tool: PolicyTool) -> Json:
        """Draw arguments that the tool takes, with one of the values in each place for one."""
        schema: Any = {} if tool.args_schema is None else tool.args_schema
        fits = compile_schema(schema).is_valid
        known = [one for one in samples(schema) if isinstance(one, dict) and fits(one)][-3:]
        args = self._pick(known) if known else {}
        kinds = tool.arg_kinds or {}
        names = dict.fromkeys((*(tool.arg_roles or {}), *args))
        for name in names:
            kind = kinds.get(name, "text")
            kind = kind if kind in NAMED_VALUES else "text"
            other = {**args, name: self._argument(kind)}
            args = other if name[:1] != "/" and fits(other) else args
        return args

    def _result(self, name: str, tool: PolicyTool) -> Json:
        event = {"event": "result", "session": self._session, "id": name}
        if self._pick((False,) * 5 + (True,)):
            return {**event, "status": "failed", "error": self._text()}
        return {**event, "status": "completed", "output": self._output(tool)}

    def _text(self) -> str:
        return self._pick(("Use {} for {}.", "{}\n{}", "See {}, {}")).format(
            *(self._tell() for _ in range(2))
        )

    def _output(self, tool: PolicyTool) -> Any:
        table = self._classes.get(tool.yields or "")
        if tool.result is None or tool.result.format != "json" or table is None:
            text = self._text()
            return self._pick((text, {"note": text}))
        record = self._record(table)
        listed = [record, self._record(table)]
        return self._pick((record, record, listed)) if self._fits(table, listed) else record

    def _record(self, table: PolicyClass) -> Any:
        """Draw a record: its fields hold values, and one member of it a text."""
        known = [] if table.schema_ is None else samples(table.schema_)
        found = [one for one in (table.example, *known) if isinstance(one, dict)]
        record: Any = next((one for one in found if self._fits(table, one)), {})
        for field in table.fields or {}:
            place = segments(field) if field[:1] == "/" else (field,)
            record = self._replace(table, record, place, self._tell())
        free = [name for name in (*record, "text") if name not in (table.fields or {})]
        for name in self._pick(([], free[:1], free)):
            record = self._replace(table, record, (name,), self._text())
        return record

    def _replace(self, table: PolicyClass, record: Any, place: Sequence[str], value: Any) -> Any:
        other = put_value(record, place, value)
        return other if self._fits(table, other) else record

    def _fits(self, table: PolicyClass, value: Any) -> bool:
        return table.schema_ is None or compile_schema(table.schema_).is_valid(value)
