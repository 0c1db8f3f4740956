"""What-if says of each plan what the change does, there and back, and exits with what it said."""

import json
from pathlib import Path
from typing import Any

import pytest

from critic import MODE_RANK, Proposal, Refused, Verified, verify_proposal
from harness.log import SqlDecisionLog
from harness.replay.findings import findings
from harness.what_if.recorded_change import Alteration
from harness.what_if.rejudging import JudgedPlan, PlanFinder, what_if
from harness.wire import build
from tests.harness.console import Critic
from tests.harness.log.decisions import judged, proposal
from tests.support.effort import sampled
from tests.support.examples import good_proposal, refused_proposal

Json = dict[str, Any]

SETTINGS: list[Json] = [
    *({"safety_mode": mode} for mode in MODE_RANK),
    *({"run_budget": {"max_steps": steps, "bucket_tokens": 8000}} for steps in (0, 1, 2)),
    *({"run_budget": {"max_steps": 12, "bucket_tokens": tokens}} for tokens in (500, 700)),
]
PAIRS = [(one, other) for one in SETTINGS for other in SETTINGS if one.keys() == other.keys()]


def plans() -> list[Json]:
    """Return plans that pass, ask, and are refused, with and without a tool of each tier."""
    asking = good_proposal()
    asking["spec"]["approval_required_from"] = "destructive"
    reading = good_proposal()
    reading["plan"]["steps"] = reading["plan"]["steps"][:1]
    free = good_proposal()
    free["spec"] |= {"required_outputs": [], "output_schemas": {}}
    free["plan"] |= {"steps": free["plan"]["steps"][:1], "declared_outputs": []}
    made = [good_proposal(), refused_proposal(), asking, reading, free, proposal(1).wire()]
    for number, wire in enumerate(made):
        for part in ("ctx", "plan"):  # a turn of its own
            if "trace_id" in wire[part]:
                wire[part]["trace_id"] += f"_{number}"
    return made


def under(wire: Json, settings: Json) -> Proposal:
    return build(Proposal, {**wire, "ctx": {**wire["ctx"], **settings}})


def rank(verdict: Verified | Refused) -> int:
    return 2 if verdict.ok else int(isinstance(verdict, Refused) and verdict.approvable)


def direction(before: Verified | Refused, after: Verified | Refused) -> str:
    """Return what a change does, from both verdicts alone."""
    if rank(before) != rank(after):
        return "looser" if rank(after) > rank(before) else "tighter"
    kinds = [one.kind if isinstance(one, Refused) else "ok" for one in (before, after)]
    return "unchanged" if kinds[0] == kinds[1] else "other"


def recorded(path: Path, settings: Json) -> Path:
    with SqlDecisionLog.open(path) as log:
        log.append_all([judged(under(wire, settings)) for wire in plans()])
    return path


def changes(path: Path, settings: Json) -> list[str]:
    change = Alteration(
        safety_mode=settings.get("safety_mode"), budget=settings.get("run_budget", {})
    )
    with SqlDecisionLog.open_for_reading(path) as log:
        found = [*what_if(findings(log, PlanFinder(change)))]
    return [one.direction for one in found if isinstance(one, JudgedPlan)]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("pair", sampled(PAIRS, one_in=9))
def test_a_change_is_what_both_verdicts_say_and_the_reverse_of_the_way_back(
    pair: tuple[Json, Json], tmp_path: Path, critic: Critic
) -> None:
    before, after = pair
    expected = [
        direction(verify_proposal(under(wire, before)), verify_proposal(under(wire, after)))
        for wire in plans()
    ]
    there = changes(recorded(tmp_path / "there", before), after)
    assert there == expected
    back = changes(recorded(tmp_path / "back", after), before)
    names = {"looser": "tighter", "tighter": "looser"}
    assert back == [names.get(one, one) for one in there]
    option = ["--safety-mode", after.get("safety_mode", "")]
    if "run_budget" in after:
        limits = ",".join(f"{name}={value}" for name, value in after["run_budget"].items())
        option = ["--budget", limits]
    said = critic("what-if", tmp_path / "there", *option, "--counts", "--format", "json")
    assert said.status == ("looser" in expected)
    counted = json.loads(said.lines[-1])["what_if"]
    assert all(counted[name] == expected.count(name) for name in {*expected, "looser"})
    assert critic("what-if", tmp_path / "there", *option, "--allow-loosening").status == 0


def test_one_looser_plan_is_enough(tmp_path: Path, critic: Critic) -> None:
    good, *_, free, _ = plans()
    before, after = SETTINGS[0], SETTINGS[4]
    with SqlDecisionLog.open(tmp_path / "log") as log:
        log.append_all([judged(under(wire, before)) for wire in (free, good, free)])
    said = critic("what-if", tmp_path / "log", "--safety-mode", after["safety_mode"])
    assert "2 turns judged: 1 unchanged, 1 looser" in said.out
    assert said.status == 1


def test_every_direction_is_met() -> None:
    met = {
        direction(verify_proposal(under(wire, before)), verify_proposal(under(wire, after)))
        for before, after in PAIRS
        for wire in plans()
    }
    assert met == {"looser", "tighter", "other", "unchanged"}
