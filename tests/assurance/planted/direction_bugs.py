"""Bugs by which a comparison says that nothing is worse where something is."""

from typing import Final

from tests.assurance.planted.bug import Bug, slip

_EFFECTS: Final = "harness/policy/analysis/policy_effects.py"
_READING: Final = "harness/audit/gate/run_reading.py"

DIRECTION_BUGS: Final[tuple[Bug, ...]] = (
    slip(
        "damaged-record-counted",
        _READING,
        "a damaged record is counted in a release like a sound one",
        "elif said is None or one.is_damaged:",
        "elif said is None:",
    ),
    slip(
        "turn-judged-by-record",
        _READING,
        "a turn of a guard is judged again with each of its records",
        "turn = TurnKey(proposal.ctx.trace_id, _number_of(proposal), record.inputs.plan)",
        "turn = TurnKey(proposal.ctx.trace_id, record.seq, record.inputs.plan)",
    ),
    slip(
        "part-of-a-cost-compared",
        _READING,
        "the costs of some calls are taken for those of all",
        "return own or all(",
        "return own or any(",
    ),
    slip(
        "ran-although-refused-passes",
        "harness/audit/gate/release_decision.py",
        "a turn that ran although refused does not block where the baseline has one",
        "if not found[1]:",
        "if len(found[1]) <= len(found[0]):",
    ),
    slip(
        "one-looser-plan-passes",
        "harness/commands/what_if/what_if_command.py",
        "a single plan that becomes looser does not fail the command",
        "matrix.looser > 0",
        "matrix.looser > 1",
    ),
    slip(
        "damage-excused-in-what-if",
        "harness/commands/what_if/what_if_command.py",
        "a record that was tampered with does not fail the command where others may be unjudged",
        "is_sound = bool(check) and not matrix.damaged",
        "is_sound = bool(check)",
    ),
    slip(
        "turn-counted-by-record",
        "harness/what_if/matrix.py",
        "a turn is counted again with each of its records",
        "self._turns.get(plan.turn_id)",
        "self._turns.get(-plan.seq)",
    ),
    slip(
        "loosening-hidden-in-a-turn",
        "harness/what_if/plan_answers.py",
        "a loosening is hidden by another change in its turn",
        '("unchanged", "other", "tighter", "looser")',
        '("unchanged", "other", "looser", "tighter")',
    ),
    slip(
        "other-record-fields-equal",
        "harness/policy/analysis/result_effects.py",
        "policies that take other fields of records for facts are equal",
        "if keys[0] != keys[1]:",
        "if bool(keys[0]) != bool(keys[1]):",
    ),
    slip(
        "follows-not-compared",
        _EFFECTS,
        "a tool that may follow from another one is the same as one that may not",
        "followed = set(map(_pair_of, before.follows or ())), set(map(_pair_of, "
        "after.follows or ()))",
        "followed = (set(map(_pair_of, before.follows or ())),) * 2",
    ),
)
