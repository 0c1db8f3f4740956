"""Random late plans that are opened step by step, by the engine and by the second statement."""

from collections.abc import Iterator
from random import Random
from typing import Any, Final, NamedTuple

from critic import Proposal, ToolCall, Verified, verify_proposal
from critic.late.openings import StepOpener
from evals.timestamps import parse_time
from harness.wire import build
from tests.support.late_plans import late_proposal
from tests.support.model import openings as model
from tests.support.model.facts import Json
from tests.support.model.verify import verify_model

OUTPUTS: Final[tuple[Any, ...]] = (
    *("x", "ord 1", 5, 1.5, None, {"a": "x"}, {"a": 5, "b": 5}, {"a": {"b": "ord 1"}, "b": 1}),
    *([{"a": "x"}], ["x"], {"to": ["ord 1"], "a": "ord 1"}, '{"a":"x"}', {"a": None}),
)
_TIMES: Final = (None, "2026-05-09T10:00:00Z")
_LEAD: Final = ("ok", "kind", "offending_step")
_FIELDS: Final = ("check", "kind", "offending_step", "path", "approvable")
_NAMED: Final = ("kind", "step", "path")


class LateCase(NamedTuple):
    """A late plan, and how each of its calls ends: when it is opened, and what it returns."""

    proposal: Proposal
    ends: list[Json]

    def wire(self) -> Json:
        return {"proposal": self.proposal.wire(), "ends": self.ends}


def late_case(seed: int) -> Json:
    """Return a case as JSON, the same for the same seed."""
    proposal, random = late_proposal(seed), Random(seed)  # noqa: S311 - to draw tests
    return {"proposal": proposal, "ends": [_end(random) for _ in proposal["plan"]["steps"]]}


def _end(random: Random) -> Json:
    as_of, output = random.choice(_TIMES), random.choice(OUTPUTS)
    end: Json = {} if as_of is None else {"as_of": as_of}
    if random.random() < 0.1:
        return {**end, "status": "failed", "error": "busy ord 1"}
    return {**end, "status": "completed"} | ({} if output is None else {"output": output})


def read_case(case: Json) -> LateCase:
    return LateCase(build(Proposal, case["proposal"]), case["ends"])


def engine_says(case: LateCase) -> Json:
    """Return the verdict on the plan with its conditions, and what each opening finds."""
    verdict = verify_proposal(case.proposal).wire()
    kept: Json = {name: verdict[name] for name in _LEAD if name in verdict}
    if not verdict["ok"]:
        listed = [{k: one[k] for k in _FIELDS if k in one} for one in verdict["violations"]]
        return {**kept, "violations": listed}
    found = [{name: one[name] for name in _NAMED} for one in verdict.get("conditions", [])]
    kept |= {"reasons": verdict["reasons"]} | ({"conditions": found} if found else {})
    return {**kept, "openings": [*_openings(case)]}


def _openings(case: LateCase) -> Iterator[list[list[str | None]]]:
    opener = StepOpener(case.proposal)
    for index, step in enumerate(case.proposal.plan.steps):
        if step.kind != "tool":
            continue
        end = case.ends[index]
        as_of = parse_time(end["as_of"]) if "as_of" in end else None
        judged = opener.open_now(index, as_of)
        verdict = judged.verdict
        if not isinstance(verdict, Verified):
            yield [[one.check, one.path] for one in verdict.violations]
            return
        yield []
        call = {"step": index, "adapter_id": step.adapter_id, "capability_id": step.capability_id}
        told = {name: end[name] for name in ("status", "output", "error") if name in end}
        opener.end_call(build(ToolCall, {**call, "args": judged.settled.args, **told}))


def model_says(case: Json) -> Json:
    """Return the same by the second statement."""
    verdict = verify_model(case["proposal"])
    if not verdict["ok"]:
        return verdict
    return {**verdict, "openings": [*_openings_of_model(case)]}


def _openings_of_model(case: Json) -> Iterator[list[list[str]]]:
    p, calls, openings = case["proposal"], list[Json](), list[model.Opening]()
    for index, step in enumerate(p["plan"]["steps"]):
        if step["kind"] != "tool":
            continue
        end = case["ends"][index]
        found = model.opened(p, calls, openings, index, end.get("as_of"))
        yield [list(one) for one in found]
        if found:
            return
        args, _ = model.settle(p, calls, index)
        openings.append((index, len(calls), end.get("as_of")))
        call = {"step": index, "args": args}
        call |= {name: step[name] for name in ("adapter_id", "capability_id")}
        calls.append(call | {k: end[k] for k in ("status", "output", "error") if k in end})
