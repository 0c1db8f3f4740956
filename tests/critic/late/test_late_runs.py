"""The score of late runs: of honest ones, and of ones that are not as they were opened."""

from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from functools import cache
from random import Random
from typing import Any, Final

from hypothesis import given, settings
from hypothesis import strategies as st

from critic import Run, score
from harness.wire import build
from tests.critic.late.test_opening_laws import openings_of
from tests.support.agreement import ONE_FAILURE
from tests.support.effort import examples
from tests.support.late_runs import OUTPUTS
from tests.support.model.facts import Json
from tests.support.model.score import is_late, score_model


def run_of(seed: int) -> Json | None:
    """Return the run of a random late plan: every step in turn, up to a refused opening."""
    calls, openings, wire = list[Json](), list[Json](), None
    random = Random(seed)  # noqa: S311 - to draw tests
    for one in openings_of(seed):
        wire, verdict = one.wire, one.ask()
        opening = {"step": one.step, "after": len(one.calls), "verdict": verdict.wire()}
        openings.append(opening | ({} if one.as_of is None else {"as_of": one.as_of}))
        calls = [{**call, "attempt": 1} for call in one.calls]
        if verdict.ok:
            step = wire["plan"]["steps"][one.step]
            call = {name: step[name] for name in ("adapter_id", "capability_id")}
            call |= {"step": one.step, "args": one.args, "status": "completed", "attempt": 1}
            output = random.choice(OUTPUTS)
            calls.append(call | ({} if output is None else {"output": output}))
    if wire is None or not is_late({"proposal": wire}):
        return None
    run = {"run_id": "r", "trace_id": "t", "proposal": wire, "calls": calls, "outputs": {}}
    return run | {"openings": openings}


@cache
def runs() -> list[Json]:
    """Return the runs of the first plans that pass."""
    return [run for seed in range(1200) if (run := run_of(seed)) is not None]


ALTERED: Final[dict[str, Callable[[Json, Random], Any]]] = {
    "nothing": lambda _run, _random: None,
    "an opening is gone": lambda run, random: run["openings"].pop(_at(run["openings"], random)),
    "all openings are gone": lambda run, _random: run.pop("openings"),
    "another order": lambda run, random: random.shuffle(run["openings"]),
    "other args": lambda run, random: _pick(run["calls"], random).update(args={"c": "other"}),
    "another tool": lambda run, random: _call_other_tool(_pick(run["calls"], random), run, random),
    "another output": lambda run, random: _pick(run["calls"], random).update(output={"a": "ord 1"}),
    "a call is gone": lambda run, random: run["calls"].pop(_at(run["calls"], random)),
    "a call twice": lambda run, random: run["calls"].append(deepcopy(_pick(run["calls"], random))),
    "another time": lambda run, random: _pick(run["openings"], random).update(
        as_of="2030-01-01T00:00:00Z"
    ),
    "later": lambda run, random: _pick(run["openings"], random).update(after=len(run["calls"])),
    "said to have passed": lambda run, _random: run["openings"][-1].update(
        verdict={"ok": True, "reasons": ["step 1 opened"], "caveats": []}
    ),
}
OF_CALLS: Final = {"other args", "another tool", "another output", "a call is gone", "a call twice"}


def _at(array: list[Any], random: Random) -> int:
    return random.randrange(len(array))


def _pick(array: list[Any], random: Random) -> Any:
    return array[_at(array, random)]


def _call_other_tool(call: Json, run: Json, random: Random) -> None:
    tools = run["proposal"]["compiled"]["manifests"]["tool_manifest"]
    others = [
        one["capability_id"] for one in tools if one["capability_id"] != call["capability_id"]
    ]
    call["capability_id"] = random.choice([*others, "no_such_tool"])


def altered(run: Json, name: str, seed: int) -> Json:
    random, run = Random(seed), deepcopy(run)  # noqa: S311 - to draw tests
    if run["calls"] or name not in OF_CALLS:
        ALTERED[name](run, random)
    if not run.get("openings"):
        run.pop("openings", None)
    return run


def scores(run: Json) -> Json:
    found = score(build(Run, run)).scorecard.scores
    return {name: {"status": one.status, "score": one.score} for name, one in found}


@settings(ONE_FAILURE, max_examples=examples(300))
@given(st.integers(min_value=0, max_value=2**32), st.sampled_from(sorted(ALTERED)))
def test_the_score_of_a_late_run_is_what_the_second_statement_says(seed: int, name: str) -> None:
    changed = altered(runs()[seed % len(runs())], name, seed)
    assert scores(changed) == score_model(changed)


def test_what_was_not_sent_as_it_was_opened_fails_policy_and_what_was_passes() -> None:
    failed: Counter[str] = Counter()
    for seed, run in enumerate(runs()):
        assert scores(run)["policy"]["status"] == "pass"
        for name in ALTERED if seed % 5 == 0 else ():
            failed[name] += scores(altered(run, name, seed))["policy"]["status"] == "fail"
    unnoticed = {name for name in ALTERED if not failed[name]}
    # When a step was opened, and what its verdict was, replay looks at; a score, at what was sent.
    assert unnoticed <= {"nothing", "said to have passed", "another time"}


def test_after_a_call_of_another_tool_no_step_counts_as_opened() -> None:
    for seed, run in enumerate(runs()):
        changed = altered(run, "another tool", seed)
        assert scores(changed) == score_model(changed)
