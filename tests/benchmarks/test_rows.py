"""The workloads match their labels in the table, and the figures what was measured."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from critic import CompiledContext, Plan, Refused, Verified, advise, verify
from evals.plan_verdicts import MOST_LISTED
from harness.log import SqlDecisionLog
from harness.wire import parse, verify_bytes
from tests.benchmarks import crafted, field, plans
from tests.benchmarks.crafted import CLASSES, TINY_STEPS, Crafted
from tests.benchmarks.doubled import DOUBLED, Doubled
from tests.benchmarks.refusals import INVALID, refuse
from tests.benchmarks.rows import CRAFTED, STEPS
from tests.benchmarks.sessions import SyntheticSession, guard_with
from tests.benchmarks.timing import Effort, Figure, Row, measure, of_thread, shared
from tests.benchmarks.whole import unpinned_plan

FIELDS = {
    *("kind", "adapter_id", "capability_id", "args", "id", "depends_on"),
    *("requires_evidence", "evidence_refs", "estimated_tokens"),
}


def judged(case: Crafted) -> Verified | Refused:
    ctx, compiled, spec, plan = case
    return verify(ctx, compiled, spec, parse(Plan, plan))


def violations(verdict: Verified | Refused) -> int:
    """Return how many violations there are, with those that are counted and not listed."""
    if verdict.ok:
        return 0
    listed = len(verdict.violations)
    if listed <= MOST_LISTED:
        return listed
    return MOST_LISTED + int(verdict.violations[-1].reason.split()[1].replace(",", ""))


def desk_verdict(steps: int, size: int, compiled: CompiledContext) -> Verified | Refused:
    plan = parse(Plan, plans.plan_bytes(steps, 3, size))
    return verify(plans.context(steps), compiled, plans.spec(steps), plan)


def test_the_plan_is_twelve_full_steps_of_some_350_bytes() -> None:
    wire = plans.plan_wire(STEPS, 3)
    assert STEPS == len(wire["steps"]) == 12
    assert len({(step["adapter_id"], step["capability_id"]) for step in wire["steps"]}) == 12
    assert all(set(step) == FIELDS for step in wire["steps"][1:])
    assert all(" " in step["args"]["note"] for step in wire["steps"])
    assert 330 <= len(plans.plan_bytes(STEPS, 3)) / 12 <= 385
    assert 330 <= len(plans.plan_bytes(100, 3)) / 100 <= 385


def test_no_two_plans_are_alike() -> None:
    assert len({plans.plan_bytes(STEPS, number) for number in range(80)}) == 80


@pytest.mark.parametrize(("steps", "size"), [(10, 10), (12, 1000), (100, 1000)])
def test_desk_plans_are_accepted(steps: int, size: int) -> None:
    compiled = plans.compiled(size)
    assert len(compiled.manifests.tool_manifest) == size
    assert len(compiled.manifests.evidence_manifest) == size
    verdict = desk_verdict(steps, size, compiled)
    assert verdict.ok
    assert "no args_schema" in verdict.caveats[0]


def test_desk_plans_are_accepted_with_schemas_and_bound_args() -> None:
    compiled = plans.compiled(1000, schemas=True)
    tools = compiled.manifests.tool_manifest
    assert all(tool.args_schema for tool in tools)
    assert sum(bool(tool.bound_args) for tool in tools) == 1
    verdict = desk_verdict(STEPS, 1000, compiled)
    assert verdict.ok
    assert not any("no args_schema" in caveat for caveat in verdict.caveats)


def test_desk_plans_are_accepted_with_evidence_that_expires() -> None:
    compiled = plans.compiled(1000, expiring=True)
    assert all(item.expires_at for item in compiled.manifests.evidence_manifest)
    assert desk_verdict(STEPS, 1000, compiled).ok


def test_uneven_plans_have_caveats_of_their_own() -> None:
    ctx, compiled, spec = plans.context(STEPS), plans.compiled(1000), plans.spec()
    verdicts = [verify(ctx, compiled, spec, plans.uneven_plan(number)) for number in range(100)]
    assert all(verdicts)
    assert len({verdict.wire()["caveats"][-1] for verdict in verdicts}) == 100


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "make",
    [
        crafted.tiny_calls,
        crafted.tiny_reasons,
        crafted.classes_met,
        crafted.values_in_texts,
        crafted.classes_met_by_expiring,
        crafted.confined_resembled,
        crafted.classes_demanded_by_step,
        crafted.values_in_text,
        crafted.phrases_in_text,
    ],
)
def test_crafted_plans_that_pass(make: Callable[[], Crafted]) -> None:
    assert judged(make()).ok


@pytest.mark.parametrize(
    ("make", "count"),
    [
        (crafted.tiny_strangers, TINY_STEPS),
        (crafted.tiny_outrages, 5 * TINY_STEPS - 1),  # the first call repeats nothing
        (crafted.confined_sent, CLASSES),
        (crafted.classes_unmet, CLASSES),
        (crafted.classes_forged, 2 * CLASSES),
    ],
)
def test_crafted_plans_that_break_rules(make: Callable[[], Crafted], count: int) -> None:
    assert violations(judged(make())) == count


@pytest.mark.parametrize(("name", "make"), [(name, make) for name, make, _ in CRAFTED])
def test_crafted_plans_are_as_large_as_they_are_named(
    name: str, make: Callable[[], Crafted]
) -> None:
    plan = orjson.loads(make().plan)
    first = plan["steps"][0]
    of_steps = "steps" in name or "calls" in name
    size = len(plan["steps"]) if of_steps else len(first["evidence_refs"])
    if "bound" in name:
        size = len(first["args"]["x"])
    assert name.startswith(f"{size:,} ")


@pytest.mark.parametrize("one", DOUBLED, ids=lambda one: one.name)
def test_doubled_plans_are_judged_as_they_say(one: Doubled) -> None:
    for size in (10, 20):
        verdict = judged(one.make(size))
        assert violations(verdict) == one.violations(size), verdict


def test_the_plan_in_bytes_passes() -> None:
    ctx, compiled, spec = plans.context(STEPS), plans.compiled(1000), plans.spec()
    answer = verify_bytes(ctx, compiled, spec, plans.plan_bytes(STEPS, 3))
    assert orjson.loads(answer)["ok"] is True


def test_cedar_permits_every_step() -> None:
    pytest.importorskip("cedarpy")
    each, batch = field.cedar()
    requests = field.cedar_requests(plans.plan_wire(STEPS, 3))
    assert each(requests) == batch(requests) == [True] * STEPS
    denied = {**requests[0], "action": 'Action::"unheard_of"'}
    assert each([denied]) == batch([denied]) == [False]


def test_casbin_permits_every_step() -> None:
    pytest.importorskip("casbin")
    ask = field.casbin()
    assert ask([mode for _, _, mode, _ in plans.DESK]) == [True] * STEPS
    assert ask(["unheard_of"]) == [False]


def test_json_schema_accepts_the_plan() -> None:
    pytest.importorskip("jsonschema")
    ask = field.json_schema()
    wire = plans.plan_wire(STEPS, 3)
    assert ask(wire) == [True]
    assert ask({**wire, "steps": [{"kind": "tool"}]}) == [False]


def test_json_schema_in_rust_accepts_the_plan() -> None:
    ask = field.json_schema_rs()
    wire = plans.plan_wire(STEPS, 3)
    assert ask(wire) == [True]
    assert ask({**wire, "steps": [{"kind": "tool"}]}) == [False]


def test_msgspec_decodes_the_plan() -> None:
    msgspec = pytest.importorskip("msgspec")
    decode = field.msgspec_plan()
    (plan,) = decode(plans.plan_bytes(STEPS, 3))
    assert len(plan.steps) == STEPS
    with pytest.raises(msgspec.ValidationError):
        decode(b'{"steps":[{"kind":"tool"}],"declared_outputs":[]}')


def test_peers_that_are_not_installed_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(field, "FIELD", (("no-such-peer", list),))
    missing: list[str] = []
    assert field.field_rows(missing) == []
    assert missing == ["no-such-peer"]


@pytest.mark.parametrize("make", [make for _, make in INVALID])
def test_invalid_documents_are_refused(make: Callable[[int], bytes]) -> None:
    assert refuse(make(3)).problems


def test_the_plan_that_is_advised_about_is_refused_and_can_be_repaired() -> None:
    ctx, compiled, spec = plans.context(STEPS), plans.compiled(100), plans.spec()
    plan = unpinned_plan(3, 100)
    assert not verify(ctx, compiled, spec, plan).ok
    assert advise(ctx, compiled, spec, plan) is not None


def a_row(limit: float | None, *costs: float) -> Row:
    """Return a row whose work costs these nanoseconds in turn, over a base of 100."""
    return Row("a row", "a unit", limit, lambda batch: costs[batch % len(costs)], lambda _: 100.0)


def test_the_figure_is_the_median_of_the_ratios_of_the_rounds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tests.benchmarks.timing._MOST_BATCHES", 1)
    (figure,) = measure([a_row(2.0, 100, 500, 150)], Effort(rounds=3, milliseconds=1))
    assert (figure.median, figure.low, figure.high, figure.met) == (1.5, 1.0, 5.0, True)
    assert (figure.cost, figure.rounds) == (150.0, 3)


@pytest.mark.parametrize(("limit", "met"), [(None, None), (1.5, True), (1.4, False)])
def test_a_limit_is_met_by_the_median(limit: float | None, met: bool | None) -> None:
    assert Figure(a_row(limit, 1.0), 1.5, 1.0, 9.0, 1.0, 7).met is met


def test_inputs_are_made_for_every_batch_and_not_timed() -> None:
    made: list[int] = []

    def inputs(batch: int) -> list[Any]:
        made.append(batch)
        return [batch] * 3

    seen: list[Any] = []
    assert of_thread(seen.append, inputs)(7) > 0
    assert (made, seen) == ([7], [7, 7, 7])


def test_a_row_that_takes_long_has_fewer_rounds() -> None:
    seen: list[int] = []

    def slow(batch: int) -> float:
        seen.append(batch)
        time.sleep(0.02)
        return 1.0

    row = Row("slow", "a unit", None, slow, lambda _: 1.0)
    (figure,) = measure([row], Effort(rounds=100, milliseconds=1, most_seconds=0.1))
    assert 3 <= figure.rounds == len(seen) - 2 < 10


def test_the_cost_of_many_things_at_once_is_shared() -> None:
    assert shared(lambda _batch: 600.0, 300)(0) == 2.0


@pytest.mark.parametrize("turns", [4, 6])
def test_a_recorded_session_is_at_the_turn_of_its_row(turns: int, tmp_path: Path) -> None:
    log = SqlDecisionLog.open(tmp_path / "log.db")
    session = SyntheticSession(turns, guard_with(log))
    kinds = ["DecisionRecord", "BegunRecord"]
    assert len([*log.entries()]) == 5 * turns // 2  # a note is read, and its money transferred
    before = log.head().seq
    session.rule(session.transfer())
    session.take(session.turn())
    found = [type(one).__name__ for one in log.entries(before + 1)]
    assert found == [*kinds, "DecisionRecord", *kinds, *kinds, "DecisionRecord"]
