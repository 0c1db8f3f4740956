"""Event streams with their expected answers: run them through a guard and compare.

A stream has a `policy`, `events` (a string is a raw line) and `answers`: for each event that is
answered (`for` is its index) the fields that must match. Every other event has no answer. In an
event, `plan_digest` may be `$LAST`, that of the last ruling of its session, if there is one, or
`$FOR:n`, that of event n.
"""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, Final

from critic import Refused
from evals.envelope import Envelope
from harness.clock import FixedClock
from harness.guard import Guard
from harness.policy import Policy
from harness.wire import build
from tests.support.paths import FIXTURES

Json = dict[str, Any]

NO_PLAN: Final = "0" * 64
NOON: Final = datetime(2026, 5, 9, 12, tzinfo=UTC)


def policy_of(wire: Json) -> Policy:
    return build(Policy, wire)


def guard_of(wire: Json, kind: type[Guard] = Guard, **options: Any) -> Guard:
    return kind(policy_of(wire), **{"clock": FixedClock(NOON), **options})


def answers_to(guard: Guard, events: list[Any]) -> dict[int, Json]:
    """Return the answer to each event that has one, by its index."""
    answers: dict[int, Json] = {}
    last: dict[str, str] = {}
    for index, event in enumerate(events):
        line = event if isinstance(event, str) else json.dumps(_named(event, answers, last))
        answer = guard.handle_line(line.encode())
        if answer is not None:
            assert isinstance(answer, Envelope)
            answers[index] = answer.wire()
            if "plan_digest" in answers[index]:
                last[answers[index]["session"]] = answers[index]["plan_digest"]
    return answers


def bare(verdict: Json) -> Json:
    """Return a verdict as it is recorded, without what a model is told."""
    return verdict if verdict["ok"] else build(Refused, verdict).bare.wire()


def _named(event: Json, answers: dict[int, Json], last: dict[str, str]) -> Json:
    named = event.get("plan_digest", "")
    if named == "$LAST":
        return {**event, "plan_digest": last.get(event["session"], NO_PLAN)}
    if named.startswith("$FOR:"):
        return {**event, "plan_digest": answers[int(named[5:])]["plan_digest"]}
    return event


def differences(case: Json, guard: Callable[..., Guard] = guard_of, **options: Any) -> list[str]:
    """Return how the answers to a stream differ from those that it expects."""
    given = answers_to(guard(case["policy"], **options), case["events"])
    expected = {answer["for"]: answer for answer in case["answers"]}
    return [
        f"event {index}: {line}"
        for index in sorted({*given, *expected})
        for line in _differences(expected.get(index), given.get(index))
    ]


def _differences(expected: Json | None, given: Json | None) -> Iterator[str]:
    if expected is None or given is None:
        yield f"{'no answer' if given is None else f'an answer: {given}'}"
        return
    shown = _shown(given)
    for name, value in expected.items():
        if name != "for" and shown.get(name) != value:
            yield f"{name} is {shown.get(name)}, not {value}: {given}"
    if not expected.get("error") and "error" in given:
        yield f"an error: {given}"


def _shown(given: Json) -> Json:
    """Return the fields that an answer may be expected to have."""
    verdict = given.get("verdict", {})
    violations = verdict.get("violations", [])
    return {
        **{name: given.get(name) for name in ("action", "turn", "status", "note")},
        **{name: verdict.get(name) for name in ("ok", "kind", "offending_step")},
        "approvable": bool(violations) and all(one.get("approvable") for one in violations),
        "error": "error" in given,
    }


def streams(name: str) -> Iterator[Json]:
    """Yield the streams of one of our files, each with its whole policy."""
    wire = json.loads((FIXTURES / "sessions" / f"{name}.json").read_bytes())
    for case in wire["streams"]:
        yield {**case, "policy": {**wire["policy"], **case.get("changes", {})}}


def desk(**guard: Any) -> Json:
    """Return the policy of a desk that reads notes and mail, transfers money and shreds files."""
    policy: Json = json.loads((FIXTURES / "sessions" / "desk.json").read_bytes())["policy"]
    return {**policy, "guard": {**policy["guard"], **guard}}


def asking_desk(**guard: Any) -> Json:
    """Return a desk where people are asked, results expire, and so does what is known before."""
    wire = desk(max_questions=9, **guard)
    wire["spec"] = {**wire["spec"], "approval_required_from": "destructive"}
    wire["tool"] = [{**wire["tool"][0], "expires_after_s": 60}, *wire["tool"][1:]]
    source = {"author": "system", "standing": "named"}
    known = {"id": "terms", "classification": "terms", "content": "iban-4712", "source": source}
    return {**wire, "evidence": [{**known, "expires_at": "2026-05-09T12:00:07Z"}]}


def asking_refunds(**guard: Any) -> Json:
    """Return a shop where a person is asked about what leaves it, and look-ups expire."""
    wire: Json = json.loads((FIXTURES / "sessions" / "refunds.json").read_bytes())["policy"]
    settings = {**wire["guard"], "max_questions": 9, **guard}
    return {
        **wire,
        "guard": settings,
        "spec": {**wire["spec"], "approval_required_from": "network"},
    }


SELDOM: Final = ("before an expiry", "at an expiry", "after an expiry")
"""What few streams of the shop meet."""


def open_(session: str = "s", request: str = "Do the transfer of plan.md", **more: Any) -> Json:
    scope = ["transfer", "shred", "make_note"]
    return {"event": "open", "session": session, "request": request, "scope": scope, **more}


def call(tool: str, session: str = "s", id: str = "c", **args: Any) -> Json:
    calls = [{"id": id, "tool": tool, "args": args}]
    return {"event": "calls", "session": session, "calls": calls}


def result(output: Any, session: str = "s", id: str = "c", **more: Any) -> Json:
    wire = {"event": "result", "session": session, "id": id, "status": "completed"}
    return {**wire, "output": output, **more}


def yes(session: str = "s", digest: str = "$LAST", **more: Any) -> Json:
    wire = {"event": "answer", "session": session, "plan_digest": digest, "yes": True}
    return {**wire, "approver": "ada", **more}


def close(session: str = "s", **outputs: Any) -> Json:
    return {"event": "close", "session": session, "outputs": outputs}


ASKS: Final = [
    open_(),
    call("read_note", name="plan.md"),
    result("wire it to iban-4711-22"),
    call("transfer", iban="iban-4711-22", reason="x"),
]
"""Events at whose end a question is open."""
