"""Plans that small changes of the checks would judge wrongly, and that are rarely drawn."""

import pytest

from critic import CompiledContext, Refused
from critic.checks import CHECKS
from critic.surface import kept_surface
from tests.support.judging import judge
from tests.support.model.facts import Json


def proposal(tools: list[Json], steps: list[Json], **spec: object) -> Json:
    return {
        "ctx": {"trace_id": "t", "safety_mode": "destructive"},
        "compiled": {"manifests": {"tool_manifest": tools, "evidence_manifest": []}},
        "spec": {"id": "d", "required_outputs": [], **spec},
        "plan": {"steps": steps, "declared_outputs": []},
    }


def tool(adapter: str, capability: str, mode: str = "destructive") -> Json:
    return {"adapter_id": adapter, "capability_id": capability, "approval_mode": mode}


def step(adapter: str, capability: str, **args: object) -> Json:
    return {"kind": "tool", "adapter_id": adapter, "capability_id": capability, "args": args}


def offenders(wire: Json) -> list[tuple[str, int | None]]:
    verdict = judge(wire)
    found = verdict.violations if isinstance(verdict, Refused) else ()
    return [(one.check, one.offending_step) for one in found]


@pytest.mark.parametrize("other", [("c", "b"), ("a", "d"), ("a.b", "c"), ("b", "a")])
def test_another_destructive_tool_with_the_same_args_is_not_a_repetition(
    other: tuple[str, str],
) -> None:
    first = ("a", "b.c") if other == ("a.b", "c") else ("a", "b")
    tools = [tool(*first), tool(*other)]
    assert offenders(proposal(tools, [step(*first, x=1), step(*other, x=1)])) == []
    again = [step(*first, x=1), step(*other, x=1), step(*first, x=1.0), step(*other, x=2)]
    assert offenders(proposal(tools, again)) == [("loop", 2)]


def test_even_a_read_needs_approval_where_the_spec_wants_it_from_there() -> None:
    tools = [tool("a", "b", "read_only")]
    wire = proposal(tools, [step("a", "b")], approval_required_from="read_only")
    assert offenders(wire) == [("approval", 0)]


@pytest.mark.parametrize("mode", ["read_only", "destructive"])
def test_a_reason_step_needs_no_approval(mode: str) -> None:
    steps = [{"kind": "reason"}, step("a", "b"), {"kind": "reason"}]
    wire = proposal([tool("a", "b", mode)], steps, approval_required_from="read_only")
    assert offenders(wire) == [("approval", 1)]
    assert offenders(proposal([], [{"kind": "reason"}], approval_required_from="read_only")) == []


def test_the_surface_is_built_once_and_kept() -> None:
    wire = proposal([tool("a", "b")], [])["compiled"]
    compiled = CompiledContext(**wire)
    assert kept_surface(compiled) is kept_surface(compiled)
    assert kept_surface(CompiledContext(**wire)) is not kept_surface(compiled)


def test_a_late_dependency_is_placed_where_the_plan_names_it_first() -> None:
    wire = proposal([], [{"kind": "reason", "depends_on": ["a", "a", "b", "a", "c"]}])
    verdict = judge(wire)
    assert isinstance(verdict, Refused)
    places = [(one.path, one.reason.split()[4]) for one in verdict.violations]
    assert places == [
        ("/steps/0/depends_on/0", "a,"),
        ("/steps/0/depends_on/2", "b,"),
        ("/steps/0/depends_on/4", "c,"),
    ]


def test_a_check_keeps_its_name_and_says_what_it_yields() -> None:
    told = [(check.__name__, (check.__doc__ or "").splitlines()[0]) for check in CHECKS]
    for number, (name, first) in enumerate(told, 1):
        assert name.startswith("check_")
        assert first.startswith(f"Check {number}: ")


@pytest.mark.parametrize(
    ("at", "where"),
    [
        (["/id"], "/id"),
        (["/id", ""], "/id or its root"),
        (["/a", "/b", "/c"], "/a, /b or /c"),
    ],
)
def test_a_reason_names_every_place_that_could_have_backed_an_argument(
    at: list[str], where: str
) -> None:
    bound = {**tool("a", "b"), "bound_args": {"x": {"from": ["k"], "at": at}}}
    verdict = judge(proposal([bound], [step("a", "b", x="o_1")]))
    assert isinstance(verdict, Refused)
    reason = f"step 0 argument x is not backed by pinned evidence at {where}"
    assert verdict.reasons == (reason,)


def test_a_schema_that_was_not_asked_yet_leaves_nothing_unchecked() -> None:
    checked = {"args_schema": {"maxProperties": 1}, "bound_args": {"x": ["k"]}}
    tools = [{**tool("a", "b"), **checked}, tool("a", "c")]
    entries = kept_surface(CompiledContext(**proposal(tools, [])["compiled"])).tools
    told = [entries["a", name].leaves_args_unchecked for name in ("b", "c")]
    assert told == [False, True]


@pytest.mark.parametrize(("estimate", "found"), [(10, []), (11, [("loop", None)])])
def test_a_reason_step_without_an_estimate_takes_no_tokens(
    estimate: int, found: list[object]
) -> None:
    steps = [{"kind": "reason"}, {**step("a", "b"), "estimated_tokens": estimate}]
    wire = proposal([tool("a", "b")], steps)
    wire["ctx"]["run_budget"] = {"bucket_tokens": 10}
    assert offenders(wire) == found
