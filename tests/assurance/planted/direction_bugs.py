"""Bugs by which a comparison says that nothing is worse where something is."""

from typing import Final

from tests.assurance.planted.bug import Bug, slip

_EFFECTS: Final = "harness/policy/analysis/policy_effects.py"
_READING: Final = "harness/audit/gate/run_reading.py"

DIRECTION_BUGS: Final[tuple[Bug, ...]] = (
    slip(
        "open-run-left-out",
        _READING,
        "an execution that never ended is left out of a release quietly",
        "isinstance(recorded.record, BegunRecord) and not recorded.problems.reasons:",
        "isinstance(recorded.record, BegunRecord):",
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
        _EFFECTS,
        "policies that take other fields of records for facts are equal",
        "set(old.record_fields or ()) != set(new.record_fields or ())",
        "bool(old.record_fields) != bool(new.record_fields)",
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
