"""The opening of a late step, found the slow way: settle everything, and verify what that gives."""

import copy
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from tests.support.model.facts import (
    Json,
    digest_of,
    find_class,
    find_tool,
    members,
    pointed,
    scalars,
    wrong_places,
)
from tests.support.model.kinds import text_of
from tests.support.model.late import output_schema, put, source_named, takes_of, yielded
from tests.support.model.late_words import sources
from tests.support.model.sessions import default_class, named, read_json, standing_by
from tests.support.model.values import values_of
from tests.support.model.verify import verify_model

LONG_AGO = "0001-01-01T00:00:00Z"
Opening = tuple[int, int, str | None]
"""A step that was opened, how many calls had ended by then, and the time."""


def last_call(calls: list[Json], step: int) -> Json | None:
    found = [call for call in calls if call["step"] == step]
    return found[-1] if found else None


def output_of(p: Json, calls: list[Json], step: int) -> list[Any]:
    """Return what a step returned in a list of one, or nothing where there is none to take from."""
    call = last_call(calls, step)
    if call is None or call["status"] != "completed":
        return []
    tool = find_tool(p, call) or {}
    output = call.get("output")
    if tool.get("result", {}).get("format") == "json" and isinstance(output, str):
        output = read_json(output)
    schema = output_schema(p, step)
    has_schema = "output_schema" in tool or "schema" in find_class(p, tool.get("yields", ""))
    if has_schema and (output is None or wrong_places(schema, output)):
        return []
    return [output]


def settle(p: Json, calls: list[Json], index: int) -> tuple[Json, list[str]]:
    """Return the arguments with their values, and the places of what is not there."""
    args, missing = copy.deepcopy(p["plan"]["steps"][index]["args"]), list[str]()
    taken = [source for _, _, source in takes_of(p, index)]
    for position, take, source in takes_of(p, index):
        outputs = [one for one in output_of(p, calls, source) if one is not None]
        found = [one for output in outputs for _, one in pointed(output, take["at"], star=True)]
        if len(found) == 1 and found[0] is not None:
            put(args, take["arg"], copy.deepcopy(found[0]))
        else:
            missing.append(f"/takes/{position}")
    for source in sorted(set(sources(p, index))):
        is_tool = p["plan"]["steps"][source]["kind"] == "tool"
        if is_tool and source not in taken and not output_of(p, calls, source):
            missing.append("")
    return args, missing


def depth(value: Any) -> int:
    return 1 + max((depth(one) for _, one in members(value)), default=0)


def items(p: Json, calls: list[Json], openings: list[Opening]) -> list[tuple[int, Json]]:
    """Return what the calls returned as evidence, each with the step that it is of."""
    found: list[tuple[int, Json]] = []
    counts = [0]
    for call in calls:
        step, after, as_of = next(one for one in openings if one[0] == call["step"])
        position = [one[0] for one in openings].index(step)
        before = [item for _, item in found[: counts[after]]]
        q = grown(p, Moment(calls[:after], openings[:position], before, as_of), counts)
        made = made_of(p, q, call, len(found))
        found += [(step, expiring(p, call, as_of, item)) for item in made]
        counts.append(len(found))
    return found


def expiring(p: Json, call: Json, as_of: str | None, item: Json) -> Json:
    seconds = (find_tool(p, call) or {}).get("expires_after_s")
    if seconds is None:
        return item
    if as_of is None:
        return {**item, "expires_at": LONG_AGO}
    until = datetime.fromisoformat(as_of) + timedelta(seconds=seconds)
    return {**item, "expires_at": until.isoformat()}


def made_of(p: Json, q: Json, call: Json, count: int) -> list[Json]:
    """Return the items of one call, in the plan as it was when its step was opened."""
    tool, name = find_tool(p, call) or {}, f"step/{call['step']}/{call.get('attempt', 1)}"
    source: Json = {"standing": standing(q, tool, call), "seq": 1 + count}
    source |= {"web": True} if tool.get("result", {}).get("web") else {}
    found = []
    if call["status"] == "completed":
        content, kind, author = classed(p, tool, call.get("output"))
        item = {"id": name, "classification": kind}
        item |= {} if content is None else {"content": content}
        derived = tool.get("result", {}).get("derived", False)
        found.append(item | ({} if derived else {"source": {**source, "author": author}}))
    elif "output" in call:
        item = {"id": name, "classification": "failed_result", "content": call["output"]}
        found.append({**item, "source": {**source, "author": "public"}})
    if "error" in call:
        item = {"id": f"{name}/error", "classification": "failed_result", "content": call["error"]}
        later = {**source, "seq": 1 + count + len(found), "author": "public"}
        if not found:
            later["seq"] = 2 + count
        found.append({**item, "source": later})
    return found


def classed(p: Json, tool: Json, output: Any) -> tuple[Any, str, str]:
    """Return what a completed call returned, its class and its author."""
    label = tool.get("result", {})
    author, name = label.get("author", "public"), yielded(tool)
    promises = label.get("format") == "json"
    if promises and isinstance(output, str):
        output = read_json(output)
    table = find_class(p, name)
    records = promises and isinstance(output, (dict, list))
    if not table or (records and not wrong_places(table.get("schema", True), output)):
        return output, name, author
    others = [one for one in table["fields"].values() if one != "system"]
    return output, default_class(tool), "public" if others else author


def standing(q: Json, tool: Json, call: Json) -> str:
    if "provenance" not in q["spec"]:
        return "ambient"
    locators = [one for one in values_of(tool, call["args"]) if one.role == "locator"]
    found = [standing_by(q, tool, one) for one in locators]
    return min(found, key=("named", "reached", "ambient", "led").index, default="ambient")


class Moment(NamedTuple):
    """What had happened by some time: calls that ended, steps that were opened, what was seen."""

    calls: list[Json]
    openings: list[Opening]
    known: list[Json]
    as_of: str | None


def grown(p: Json, moment: Moment, counts: list[int]) -> Json:
    """Return the plan in the context that has grown by some calls and openings."""
    calls, openings, known, as_of = moment
    q = copy.deepcopy(p)
    evidence = q["compiled"]["manifests"]["evidence_manifest"]
    for item in evidence:
        if "source" in item:
            item["source"].setdefault("seq", 0)
    evidence += known
    q["ctx"].pop("as_of", None)
    q["ctx"] |= {} if as_of is None else {"as_of": as_of}
    done = [call for call in calls if call["status"] == "completed"]
    sent = []
    for step, after, _ in openings:
        tool = find_tool(p, p["plan"]["steps"][step]) or {}
        args, _ = settle(p, calls[:after], step)
        if tool["approval_mode"] != "read_only" and sent_values(args):
            sent.append({"seq": 1 + counts[after], "values": sent_values(args)})
    more = {"ran": [named(call) for call in done], "sent": sent}
    session = {"id": p["ctx"]["trace_id"], "turn": 0, **q["ctx"].get("session", {})}
    session |= {name: session.get(name, []) + more[name] for name in more if more[name]}
    q["ctx"]["session"] = session
    return q


def passed(run: Json) -> list[Opening]:
    """Return the openings of a run that are recorded as passed, and pass."""
    p, calls = run["proposal"], run["calls"]
    known: list[Opening] = []
    found: list[Opening] = []
    refused: int | None = None
    for one in run.get("openings", []):
        opening: Opening = (one["step"], one["after"], one.get("as_of"))
        if refused not in (None, one["step"]) or (refused is not None and "approvals" not in one):
            break
        if not can_be_opened(p, calls, known, opening):
            break
        passes = not opened(p, calls[: one["after"]], known, one["step"], one.get("as_of"))
        known += [opening] if passes else []
        found += [opening] if passes and one["verdict"]["ok"] else []
        refused = None if one["verdict"]["ok"] else one["step"]
    return found


def can_be_opened(p: Json, calls: list[Json], known: list[Opening], opening: Opening) -> bool:
    """Return whether a step can be opened after these calls, and all of them were opened."""
    step, after, _ = opening
    steps, before = p["plan"]["steps"], known[-1][1] if known else 0
    if not before <= after <= len(calls) or step >= len(steps) or steps[step]["kind"] != "tool":
        return False
    at = {one[0]: one[1] for one in known}
    there = all(
        call["step"] in at
        and at[call["step"]] <= position
        and named(call) == named(steps[call["step"]])
        for position, call in enumerate(calls[:after])
    )
    waits = [one for one in sources(p, step) if steps[one]["kind"] == "tool"]
    return there and step not in at and all(last_call(calls[:after], one) for one in waits)


def sent_values(args: Json) -> list[str]:
    names = [name for value in args.values() for name in names_in(value)]
    values = [text_of(one) for value in args.values() for one in scalars(value)]
    return [one for one in (*values, *names) if one not in ("", "null", "true", "false")]


def names_in(value: Any) -> list[str]:
    inner = [name for _, one in members(value) for name in names_in(one)]
    return [*map(str, value), *inner] if isinstance(value, dict) else inner


def opened(
    p: Json, calls: list[Json], openings: list[Opening], index: int, as_of: str | None
) -> list[tuple[str, str]]:
    """Return the check and the place of each violation of a step that is opened now."""
    args, missing = settle(p, calls, index)
    if missing:
        return [("evidence", f"/steps/{index}{place}") for place in missing]
    if depth(args) > 64:
        return [("surface", f"/steps/{index}/args")]
    there = items(p, calls, openings)
    counts = [0]
    for call in calls:
        counts.append(counts[-1] + len(made_of(p, p, call, 0)))
    q = grown(p, Moment(calls, openings, [item for _, item in there], as_of), counts)
    q["spec"] |= {"required_outputs": []}
    q["spec"].pop("required_evidence", None)
    numbers = [*(step for step, _, _ in openings), index]
    steps = []
    for step, after in [*((one[0], one[1]) for one in openings), (index, len(calls))]:
        planned = dict(p["plan"]["steps"][step])
        pins = [source_named(p, step, name) for name in planned.pop("evidence_steps", [])]
        planned.pop("takes", None)
        planned.pop("depends_on", None)
        refs = planned.get("evidence_refs", []) + [
            item["id"] for pin in dict.fromkeys(pins) for of, item in there if of == pin
        ]
        planned |= {"evidence_refs": refs} if refs else {}
        steps.append({**planned, "args": settle(p, calls[:after], step)[0]})
    q["plan"] = {"steps": steps, "declared_outputs": [], "plan_id": digest_of(p["plan"])}
    verdict, last = verify_model(q), len(steps) - 1
    found = [
        one for one in verdict.get("violations", []) if one.get("offending_step") in (last, None)
    ]
    paths = [one["path"].replace(f"/steps/{last}", f"/steps/{numbers[last]}", 1) for one in found]
    return [(one["check"], path) for one, path in zip(found, paths, strict=True)]
