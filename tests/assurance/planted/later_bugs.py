"""Bugs of openings that are read later, and of what came before them."""

from typing import Final

from tests.assurance.planted.bug import Bug, slip

_APPROVALS: Final = "critic/late/opening_approvals.py"
_CONDITIONS: Final = "critic/late/late_conditions.py"
_OPENINGS: Final = "critic/late/openings.py"
_RUN: Final = "critic/late/opened_run.py"
_SETTLED: Final = "critic/late/settled_plan.py"
_STEPS: Final = "critic/late/late_steps.py"
_VALUES: Final = "critic/late/settled_values.py"

LATER_BUGS: Final[tuple[Bug, ...]] = (
    slip(
        "command-opened-late",
        _OPENINGS,
        "a step of a plan with a shell command is opened once its values are there",
        "if self._has_commands:",
        "if False:",
    ),
    slip(
        "approval-of-an-earlier-time",
        _APPROVALS,
        "an approval that has ended clears an opening, as of the time of the plan",
        'update={"as_of": as_of, "approvals": given}',
        'update={"approvals": given}',
    ),
    slip(
        "digest-of-what-came-later",
        _SETTLED,
        "an opening that is read later has the digest of a longer plan",
        "if count < len(self.steps):",
        "if False:",
    ),
    slip(
        "proposal-of-what-came-later",
        _SETTLED,
        "an opening that is read later is of a plan with the steps after it",
        "plan = self._plan.with_last(self._count, self.sent)",
        "plan = self._plan.with_last(len(self._plan.steps), self.sent)",
    ),
    slip(
        "openings-that-were-not-made",
        _RUN,
        "a plan goes on from openings that it does not have",
        "return calls[:known] == self._calls and openings[:opened] == self._openings",
        "return calls[:known] == self._calls",
    ),
    slip(
        "cleared-opening-made-twice",
        _RUN,
        "a plan cannot go on once a person cleared one of its openings",
        "if opening.step in made and not is_cleared_by(opening, openings[at + 1 : at + 2]):",
        "if opening.step in made:",
    ),
    slip(
        "value-left-out-and-opened",
        _VALUES,
        "a step is opened without a value whose tool nobody knows",
        "for position, source in step.left_out if step is not None else ():",
        "for position, source in ():",
    ),
    slip(
        "depends-on-nothing",
        _STEPS,
        "a late step is opened before those that it depends on",
        "named = [one for one in named if one < step]",
        "named = []",
    ),
    slip(
        "repeat-of-an-earlier-run-untold",
        _CONDITIONS,
        "it is not told that a late destructive call may repeat an earlier one",
        "if is_late and pair in self._made:",
        "if False:",
    ),
)
