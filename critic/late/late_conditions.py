"""The conditions of a late plan that passes: what the openings of its steps have to judge.

They come by step, then in the order of the checks, then by their place in the step.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from critic.late.late_steps import LatePlan, LateStep, Waiting
from critic.prepared import PreparedPlan
from evals.escaping import escape_name
from evals.kinds import MODE_RANK
from evals.plan_verdicts import Condition, ConditionKind
from evals.pointers import array_index, segments

_READ_ONLY: Final = MODE_RANK["read_only"]
_NETWORK: Final = MODE_RANK["network"]
_DESTRUCTIVE: Final = MODE_RANK["destructive"]

_MOVED: Final = "; the place counts elements: whoever adds one before it chooses the value"

_Noted = tuple[ConditionKind, str, str]


def conditions_of(case: PreparedPlan, late: LatePlan) -> list[Condition]:
    """Return the conditions of a plan that passes."""
    repeats = _Repeats(case, late)
    found: list[Condition] = []
    for index, _, _ in case.steps:
        step = late.steps.get(index)
        noted = [*_of_step(case, late, step)] if step is not None else []
        noted[_before_binding(noted) : _before_binding(noted)] = [
            ("evidence", "", f"evidence of class {name} is there")
            for name in late.first_promised.get(index, ())
        ]
        if repeats.may_repeat(index):
            noted.append(("repeat", "", "the call repeats no destructive one"))
        found += [
            Condition(kind=kind, step=index, path=path, reason=f"step {index}: {reason}")
            for kind, path, reason in noted
        ]
    return found


def _before_binding(noted: list[_Noted]) -> int:
    ends = ("binding", "provenance", "repeat")
    return next((at for at, one in enumerate(noted) if one[0] in ends), len(noted))


def _of_step(case: PreparedPlan, late: LatePlan, step: LateStep) -> Iterator[_Noted]:
    for value in step.values:
        take = value.take
        place = escape_name(take.at) if take.at else "the output"
        reason = f"step {take.step} completes, and {place} is one value for {escape_name(take.arg)}"
        reason += _MOVED if any(map(_is_number, segments(take.at))) else ""
        yield "value", f"/takes/{value.position}", reason
    if step.values and step.tool.args_schema is not None:
        yield "args_schema", "", "the args match the args_schema"
    if step.values and step.tool.rank >= _NETWORK and case.spec.confined_evidence:
        yield "confinement", "", "the args hold no confined content"
    yield from _approvals(case, late, step)
    waiting = late.evidence[step.index].waiting
    yield from (_note_condition(one) for one in waiting if one.kind == "evidence")
    # A group has no place of its own, and comes first.
    bindings = [one for one in waiting if one.kind == "binding"]
    yield from (_note_condition(one) for one in sorted(bindings, key=lambda one: one.path != ""))
    yield from _origins(case, late, step)


def _is_number(segment: str) -> bool:
    return array_index(segment) is not None


def _note_condition(waiting: Waiting) -> _Noted:
    return waiting.kind, waiting.path, waiting.reason


def _approvals(case: PreparedPlan, late: LatePlan, step: LateStep) -> Iterator[_Noted]:
    if _waits_for_approval(case, step):
        yield "approval", "", f"a person approves the {step.tool.mode} call with its values"
    for value in step.values:
        if (step.index, value.position) in late.asking:
            reason = f"a person approves the value of {escape_name(value.take.arg)}"
            yield "approval", f"/takes/{value.position}", reason


def _waits_for_approval(case: PreparedPlan, step: LateStep) -> bool:
    """Return whether a person approves a step once its values are there, for its mode."""
    tier = case.spec.approval_required_from
    is_of_tier = tier is not None and step.tool.rank >= MODE_RANK[tier]
    return is_of_tier and case.waits_for_values(step.index)


def _origins(case: PreparedPlan, late: LatePlan, step: LateStep) -> Iterator[_Noted]:
    """Yield the late values that provenance judges, and whose places it allows."""
    tool = step.tool.capability
    if case.spec.provenance is None or tool is None or step.tool.rank <= _READ_ONLY:
        return
    from critic.provenance import tool_roles  # noqa: PLC0415 - slow to load, often unused
    from critic.provenance.late_roles import roles_at  # noqa: PLC0415 - the same

    tree = tool_roles(tool)
    for value in step.values:
        is_asked = (step.index, value.position) in late.asking
        if not is_asked and roles_at(tree, value.path).every:
            reason = f"{escape_name(value.take.arg)} comes from where its role allows"
            yield "provenance", f"/takes/{value.position}", reason


def _pair(fields: Mapping[str, Any]) -> tuple[str, str]:
    return fields["adapter_id"], fields["capability_id"]


class _Repeats:
    """Tells which destructive calls may turn out to repeat another one."""

    def __init__(self, case: PreparedPlan, late: LatePlan) -> None:
        self._case, self._late = case, late
        destructive = [one for one in case.steps if one[1].rank == _DESTRUCTIVE]
        self._calls = Counter(_pair(fields) for _, _, fields in destructive)
        self._late_calls = Counter(
            _pair(fields) for index, _, fields in destructive if late.has_takes(index)
        )
        spent = (case.ctx.spent.calls if case.ctx.spent else None) or ()
        self._made = {(call.adapter_id, call.capability_id) for call in spent}

    def may_repeat(self, index: int) -> bool:
        _, tool, fields = self._case.steps[index]
        if tool.rank != _DESTRUCTIVE:
            return False
        pair, is_late = _pair(fields), self._late.has_takes(index)
        if is_late and pair in self._made:
            return True
        return self._calls[pair] > 1 and self._late_calls[pair] > 0
