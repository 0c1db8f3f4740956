"""The measurement of what a model can mend: on sessions of tools that were made up for it."""

import random
from typing import Any

from harness.policy import Policy
from harness.wire import build
from tests.experiments.mending.__main__ import tried
from tests.experiments.mending.scripted import World, mend
from tests.experiments.mending.slipping import Json, Run

_READS = {"author": "system", "format": "json"}
TOOLS: list[Json] = [
    {"capability_id": "find_plot", "approval_mode": "read_only", "yields": "plot"},
    {"capability_id": "list_helpers", "approval_mode": "read_only", "yields": "helper"},
    {
        "capability_id": "water_plot",
        "approval_mode": "delegated",
        "arg_roles": {"plot_id": "object", "litres": "attribute"},
    },
    {
        "capability_id": "invite_helper",
        "approval_mode": "network",
        "arg_roles": {"email": "recipient", "text": "content"},
    },
]


def garden(**guard: Any) -> Policy:
    tools = [{"adapter_id": "garden", **tool} for tool in TOOLS]
    for tool in tools:
        if tool["approval_mode"] == "read_only":
            tool["result"] = _READS
    classes = [
        {"name": "plot", "fields": {"plot_id": "system"}},
        {"name": "helper", "fields": {"email": "system"}},
    ]
    return build(
        Policy,
        {
            "guard": {"safety_mode": "destructive", "scope": "all", **guard},
            "spec": {"id": "garden", "required_outputs": [], "provenance": "closed"},
            "class": classes,
            "tool": tools,
        },
    )


def good_run(number: int) -> Run:
    """Return a run that reads a plot and a helper, waters the one and invites the other."""
    draw = random.Random(number)  # noqa: S311 - no secret
    plot, helper = f"PLOT-{draw.randrange(10**6)}", f"h{draw.randrange(10**6)}@garden.example"
    calls = (
        {"tool": "find_plot", "args": {"name": "roses"}, "output": {"plot_id": plot}},
        {"tool": "list_helpers", "args": {}, "output": {"email": helper}},
        {
            "tool": "water_plot",
            "args": {"plot_id": plot, "litres": draw.randrange(1, 90)},
            "output": "ok",
        },
        {"tool": "invite_helper", "args": {"email": helper, "text": "come"}, "output": "ok"},
    )
    wire = {"request": "Water the plot of the roses and invite a helper."}
    return Run(f"r{number}", wire, calls)


def test_a_model_that_knows_no_text_of_ours_mends_most_stops() -> None:
    outcomes = [
        (slip.kind, what) for slip, what, _ in tried(garden(), [*map(good_run, range(2))], 1)
    ]
    stopped = [what for _, what in outcomes if what != "passed"]
    assert stopped.count("mended") >= 0.8 * len(stopped)
    assert {kind for kind, what in outcomes if what == "mended"} >= {
        *("tool", "unread", "missing", "argument", "limit", "type", "value"),
    }


def test_most_are_mended_without_asking_anybody_where_the_answer_is_in_a_tool() -> None:
    found = [*tried(garden(), [*map(good_run, range(2))], 1, alone=True)]
    alone = [what for slip, what, _ in found if slip.kind == "unread" and what != "passed"]
    assert alone == ["mended"] * len(alone) != []


def test_nothing_is_mended_where_nothing_is_said() -> None:
    found = [*tried(garden(say="none"), [good_run(1)], 1)]
    assert {what for _, what, _ in found} <= {"lost", "passed"}


def test_the_model_has_no_idea_where_nothing_is_named() -> None:
    world = World({}, lambda _: False, lambda _: None)
    assert mend({"tool": "pay", "args": {"to": "x"}}, "Not run.", world) is None
