"""The values of a late step, out of what its sources returned.

Rule 1: only a completed call has values, the last attempt of its step, and only where its output
        keeps the schema that the tool promises.
Rule 2: a take reaches exactly one value, which is not null.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any, Final, NamedTuple

from critic.checks.grounds import Lack, ValueMissing
from critic.checks.violation import Found, Wording
from critic.late.argument_places import put_at_path
from critic.late.late_steps import LatePlan, LateValue
from critic.session.call_batch import CallResult
from critic.session.call_results import read_promised
from critic.session.session_rules import SessionTool
from evals.capability import ToolCapability
from evals.escaping import escape_name
from evals.json_schemas import compile_schema
from evals.json_value import MAX_DEPTH, detach_json
from evals.pointers import values_at
from evals.run import ToolCall

_MISSING: Final = object()


class SettledArgs(NamedTuple):
    """The arguments of a step with all values in them, or why they are not there."""

    args: Mapping[str, Any]
    faults: Sequence[Found] = ()


class Fault(NamedTuple):
    """Why a value is not there: the kind, and the words behind what it is said of."""

    lacks: Lack
    why: str


_NO_TOOL: Final = Fault("no_tool", "calls what is not in the surface")
_NOTHING: Final = Fault("nothing", "nothing")
_NULL: Final = Fault("null", "null")
_SEVERAL: Final = Fault("several", "more than one value")


class SourceOutputs:
    """What the steps of a plan returned, by the last call of each that ended."""

    def __init__(self, late: LatePlan) -> None:
        self._late = late
        self._last: dict[int, ToolCall] = {}
        self._read: dict[int, tuple[Any, Fault | None]] = {}

    def add(self, call: ToolCall) -> None:
        """Note a call that ended."""
        self._last[call.step] = call
        self._read.pop(call.step, None)

    def has_ended(self, source: int) -> bool:
        """Return whether any call of a step ended."""
        return source in self._last

    def fault(self, source: int) -> Fault | None:
        """Return why nothing can be taken from a step that ended, or None."""
        return self._output(source)[1]

    def output(self, source: int) -> Any:
        """Return what a step returned, read as JSON where its tool promises that."""
        return self._output(source)[0]

    def _output(self, source: int) -> tuple[Any, Fault | None]:
        if source not in self._read:
            self._read[source] = self._read_output(source)
        return self._read[source]

    def _read_output(self, source: int) -> tuple[Any, Fault | None]:
        call = self._last[source]
        if call.status != "completed":
            return _MISSING, Fault("failed", f"did not complete ({call.status})")
        output = read_output(self._late.tool_of(source), call)
        schema = self._late.output_schema(source)
        if schema is not None and (output is None or not compile_schema(schema).is_valid(output)):
            fault = Fault("unlike_schema", "returned what its output_schema does not accept")
            return _MISSING, fault
        return (_MISSING if output is None else output), None


def read_output(tool: ToolCapability, call: ToolCall) -> Any:
    """Return what a completed call returned, read as JSON where its tool promises that."""
    value = read_promised(SessionTool.of(tool), CallResult("completed", call.output))
    return call.output if value is None else value


def settle_args(
    late: LatePlan, outputs: SourceOutputs, index: int, before: Sequence[int]
) -> SettledArgs:
    """Return the arguments of a step with its values.

    Args:
        before: the tool steps that come before it for sure. Each has ended.
    """
    fields, step = late.all[index][2], late.steps.get(index)
    args: dict[str, Any] = detach_json(fields["args"])
    values = step.values if step is not None else []
    taken = [_take_value(index, value, outputs) for value in values]
    faults = [one for one in taken if isinstance(one, Found)]
    if not faults:
        for value, one in zip(values, taken, strict=True):
            put_at_path(args, value.path, detach_json(one))
    for position, source in step.left_out if step is not None else ():
        path = f"/steps/{index}/takes/{position}"
        words = partial(_source_fault, index, path, source, _NO_TOOL)
        faults.append(Found("evidence", "missing_evidence", index, words))
    sources = {value.source for value in values}
    for source in before:
        if source not in sources and (fault := outputs.fault(source)) is not None:
            words = partial(_source_fault, index, f"/steps/{index}", source, fault)
            faults.append(Found("evidence", "missing_evidence", index, words))
    if not faults and _is_too_deep(args):
        words = partial(_too_deep, index)
        faults.append(Found("surface", "violates_decision_spec", index, words))
    return SettledArgs(args, faults)


def _take_value(index: int, value: LateValue, outputs: SourceOutputs) -> Any:
    """Return the value that a take reaches, or why it is not there."""
    path = f"/steps/{index}/takes/{value.position}"
    if (fault := outputs.fault(value.source)) is not None:
        words = partial(_source_fault, index, path, value.source, fault)
        return Found("evidence", "missing_evidence", index, words)
    output = outputs.output(value.source)
    at = value.take.at
    held = [] if output is _MISSING else islice(values_at(output, at, wildcard=True), 2)
    found = [*held]
    if len(found) == 1 and found[0] is not None:
        return found[0]
    fault = _NULL if len(found) == 1 else _SEVERAL if found else _NOTHING
    return Found("evidence", "missing_evidence", index, partial(_no_value, value, path, fault))


def _is_too_deep(value: Any, level: int = 1) -> bool:
    if level > MAX_DEPTH:
        return True
    inner = value.values() if type(value) is dict else value if type(value) is list else ()
    return any(_is_too_deep(one, level + 1) for one in inner)


def _source_fault(index: int, path: str, source: int, fault: Fault) -> Wording:
    reason = f"step {index} waits for step {source}, which {fault.why}"
    return Wording(reason, path, ValueMissing(fault.lacks))


def _no_value(value: LateValue, path: str, fault: Fault) -> Wording:
    take = value.take
    place = escape_name(take.at) if take.at else "the output"
    index = path.split("/")[2]
    reason = f"step {index} takes {escape_name(take.arg)} from step {take.step}, where {place} is"
    return Wording(f"{reason} {fault.why}", path, ValueMissing(fault.lacks))


def _too_deep(index: int) -> Wording:
    reason = f"step {index} args nest deeper than {MAX_DEPTH} levels with their values"
    return Wording(reason, f"/steps/{index}/args", ValueMissing("too_deep"))
