"""A ruling by the indexes of a session is what `verify` says of the proposal, and costs less."""

from collections.abc import Iterator
from dataclasses import FrozenInstanceError, replace
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from critic import EvidenceItem, score, verify_proposal
from critic.late.openings import OpeningError
from critic.session import (
    Batch,
    Call,
    CallResult,
    Session,
    SessionRules,
    SessionState,
    session_of,
    state_of,
    verify_batch,
)
from critic.session import session_rules as rules_module
from critic.session.batch_judging import asked_about
from critic.session.call_batch import CallTake, RunningBatch
from critic.session.changed import change_fields
from critic.session.session_values import doubts_about, yes_about
from critic.session.waiting_calls import find_call, judge_call, stop_batch, take_opening
from evals.canonical_json import canonical_bytes, digest
from evals.json_value import MAX_DEPTH, detach_json
from evals.manifest import EvidenceClass
from evals.run import CallStatus
from harness.policy.policy_rules import rules_of
from harness.wire import parse
from tests.critic.session.building import NOW, TOOLS, after, allowed, opened, read
from tests.critic.session.building import tool as session_tool
from tests.support.effort import examples
from tests.support.guarding import desk, policy_of

NOON = datetime(2026, 5, 9, 12, tzinfo=UTC)
VALUES = (
    *("plan.md", "trap.md", "iban-1111", "iban-2222", "x.example/a", "2026-05-09", "May 9"),
    *("id 7", "7", "emma@x.example", "hello world"),
)
REQUESTS = ("Look", "Do what plan.md says on May 9", "Transfer to iban-1111, shred trap.md")
AUTHORS = ("user", "operator", "system", "member", "public")
ROLES = ("time", "object", "content", "locator", "attribute", "recipient")


def content(chance: Random) -> Any:
    values = [chance.choice((*VALUES, "and", "pay")) for _ in range(chance.randint(1, 6))]
    forms = (" ".join(values), {"from": values[0], "note": values[-1]}, values[:2])
    return chance.choice(forms)


def tool(wire: dict[str, Any], chance: Random) -> dict[str, Any]:
    """Return a tool with changes that matter to what a session looks up."""
    changes: list[dict[str, Any]] = [
        {"expires_after_s": chance.choice([5, 60])},
        {"yields": chance.choice(["k1", "k2"])},
        {"result": {"author": chance.choice(AUTHORS[2:])}},
    ]
    if wire["approval_mode"] != "read_only":
        name, role = chance.choice(["name", "iban", "reason"]), chance.choice(ROLES)
        changes += [
            {"requires_evidence": ["k1"]},
            {"arg_roles": {**wire.get("arg_roles", {}), name: role}},
            {"approval_mode": chance.choice(["network", "destructive"])},
        ]
    if wire["capability_id"] == "transfer":
        changes.append({"bound_args": {"iban": ["k1", "k2"]}})
    for change in changes:
        wire = {**wire, **change} if chance.random() < 0.3 else wire
    return wire


def given_evidence(chance: Random) -> Iterator[dict[str, Any]]:
    for number in range(chance.randint(0, 3)):
        source = {"author": chance.choice(AUTHORS), "standing": chance.choice(["led", "named"])}
        item = {"id": f"{chance.choice(['doc', 'a', 'zz/handbook'])}{number}", "source": source}
        expiry = (NOON + timedelta(seconds=chance.choice([0, 50]))).isoformat()
        times = {"expires_at": expiry} if chance.random() < 0.5 else {}
        yield {**item, **times, "classification": "k1", "content": content(chance)}


def rules(chance: Random, **more: Any) -> SessionRules:
    policy = desk()
    spec = {**policy["spec"], "provenance": chance.choice(["closed", "open"]), **more}
    if chance.random() < 0.4:
        spec["confined_evidence"] = chance.sample(["k1", "k2"], chance.randint(1, 2))
    if chance.random() < 0.3:
        spec["required_evidence"] = [chance.choice(["k1", "k2"])]
    tools = [tool(one, chance) for one in policy["tool"]]
    changes = {"spec": spec, "tool": tools, "evidence": list(given_evidence(chance))}
    if more and chance.random() < 0.7:
        changes |= {"class": DESCRIBED, "tool": [*map(as_record, tools)]}
    return rules_of(policy_of({**policy, **changes}))


DESCRIBED = [{"name": "k1", "fields": {"from": "system", "note": "public"}}]


def as_record(wire: dict[str, Any]) -> dict[str, Any]:
    """Return a tool whose results, if it reads, are records of a class with fields."""
    if wire["approval_mode"] != "read_only":
        return wire
    return {**wire, "yields": "k1", "result": {"author": "system", "format": "json"}}


def calls(names: list[str], step: int, chance: Random) -> list[Call]:
    def args() -> dict[str, Any]:
        taken = chance.sample(["name", "iban", "reason", "text"], chance.randint(0, 3))
        return {name: chance.choice(VALUES) for name in taken}

    count = chance.choice([1, 1, 2, 3])
    return [Call(f"{step}.{at}", chance.choice(names), args()) for at in range(count)]


def travelled(session: Session) -> Session:
    state = parse(SessionState, canonical_bytes(state_of(session)), max_bytes=10**9)
    return session_of(session.rules, state)


def assert_judged_as_verified(batch: Batch) -> None:
    assert verify_batch(batch) == verify_proposal(batch.proposal)


def ruled(session: Session, asked: list[Call], as_of: datetime, chance: Random) -> Session:
    """Return a session after a batch, which is judged in all ways that there are."""
    batch = session.propose(asked, as_of)
    assert_judged_as_verified(batch)
    elsewhere = travelled(session).propose(asked, as_of)
    assert elsewhere.proposal == batch.proposal
    assert verify_batch(elsewhere) == verify_batch(batch)
    waiting = RunningBatch.of(batch, verify_batch(batch))
    assert_judged_as_verified(waiting.batch(session.rules, session.trail))
    approving, approved = session.approved(batch, "ada")
    assert_judged_as_verified(approved)
    if chance.random() < 0.4:
        session, batch = approving, approved
    verdict, plan_digest = verify_batch(batch), digest(batch.plan)
    decided = session.decided(batch, chance.choice(["allow", "refuse"]), verdict, plan_digest)
    assert_judged_as_verified(batch)  # still, though more was noted since
    return decided


def returned(session: Session, as_of: datetime, chance: Random) -> Session:
    statuses: tuple[CallStatus, ...] = ("completed", "completed", "failed", "unknown")
    status = chance.choice(statuses)
    result = CallResult(status, content(chance))
    ran = session.ran(chance.choice(list(session.open_calls)), result, as_of)
    if ran.ended is not None:
        assert ran.ended.score == score(ran.ended.run)
    return ran.session


@settings(max_examples=examples(80), deadline=None)
@given(st.randoms(use_true_random=False))
def test_a_batch_is_judged_as_its_proposal_is_verified(chance: Random) -> None:
    """Time goes on and back, items expire, sessions travel, and results come in any order."""
    its_rules = rules(chance)
    scope = chance.choice([None, ["transfer"]])
    session = Session.opened(its_rules, "s", chance.choice(REQUESTS), scope=scope)
    names, as_of, earlier = [*its_rules.tools, "nothing"], NOON, list[Batch]()
    for step in range(chance.randint(3, 12)):
        as_of += timedelta(seconds=chance.choice([0, 1, 7, 30, -15]))
        choice = chance.random()
        if choice < 0.1:
            session = session.said(chance.choice(VALUES))
        elif choice < 0.5 or not session.open_calls:
            earlier.append(session.propose(calls(names, step, chance), as_of))
            session = ruled(session, calls(names, step, chance), as_of, chance)
        else:
            session = returned(session, as_of, chance)
        for batch in earlier[-2:]:
            assert_judged_as_verified(batch)


def late_calls(names: list[str], step: int, chance: Random) -> list[Call]:
    """Return calls of which some take what those before them return, or come after them."""
    asked = list[Call]()
    for at in range(chance.randint(2, 4)):
        (call, *_), waits = calls(names, step, chance), dict[str, Any]()
        if asked and chance.random() < 0.7:
            place = chance.choice(["", "/from", "/note", "/0"])
            arg = chance.choice(["/name", "/iban", "/reason"])
            waits["takes"] = (CallTake(arg, chance.choice(asked).id, place),)
        if asked and chance.random() < 0.4:
            waits["after"] = (chance.choice(asked).id,)
        args = {name: one for name, one in call.args.items() if f"/{name}" != arg_of(waits)}
        asked.append(call._replace(id=f"{step}.{at}", args=args, **waits))
    return asked


def arg_of(waits: dict[str, Any]) -> str:
    return next((take.arg for take in waits.get("takes", ())), "")


def carried_on(session: Session, asked: list[Call], as_of: datetime, chance: Random) -> Session:
    """Return a session after the calls of a late batch were opened, as far as that goes."""
    for call in asked:
        place = find_call(session, call.id)
        try:
            judged = None if place is None else judge_call(session, place, as_of)
        except OpeningError:
            judged = None
        if judged is None:
            continue
        is_made = judged.opening.verdict.ok
        session = take_opening(session, call.id, judged, is_made=is_made)
        if not is_made:
            break
        session = returned(session, as_of, chance)
    (turn,) = [turn for turn, one in session.running.items() if one.is_late] or [0]
    if not turn:
        return session
    ran = stop_batch(session, turn)
    if ran.ended is not None:
        assert ran.ended.score == score(ran.ended.run)
    return ran.session


@settings(max_examples=examples(40), deadline=None)
@given(st.randoms(use_true_random=False))
def test_a_late_batch_is_judged_and_scored_as_its_proposal_is(chance: Random) -> None:
    """Its words to come stand behind what the session saw, which does not see them."""
    its_rules = rules(chance, late=chance.choice(["sources", "values"]))
    session = Session.opened(its_rules, "s", chance.choice(REQUESTS), scope=["transfer"])
    names, as_of = [*its_rules.tools], NOON
    for step in range(chance.randint(2, 5)):
        as_of += timedelta(seconds=chance.choice([0, 1, 30]))
        asked = late_calls(names, step, chance)
        batch = session.propose(asked, as_of)
        assert_judged_as_verified(batch)
        assert_judged_as_verified(replace(batch, past=None))
        assert asked_about(batch) == yes_about(*doubts_about(batch.proposal))
        approving, approved = session.approved(batch, "ada", late=batch.is_late)
        assert_judged_as_verified(approved)
        if chance.random() < 0.5:
            session, batch = approving, approved
        verdict = verify_batch(batch)
        session = session.decided(
            batch, "allow" if verdict.ok else "refuse", verdict, digest(batch.plan)
        )
        session = carried_on(session, asked, as_of, chance)
        while session.open_calls:
            session = returned(session, as_of, chance)


@pytest.mark.parametrize(("place", "ok"), [("/from", True), ("/note", False), ("/other", True)])
def test_a_word_to_come_is_written_by_who_fills_its_field(place: str, ok: bool) -> None:
    record = {"author": "system", "format": "json"}
    look = session_tool("look", yields="k1", result=record)
    classes = (EvidenceClass(class_="k1", fields={"from": "system", "note": "public"}),)
    late = {"late": "sources"}
    session = opened("Pay", spec=late, classes=classes, tools={**TOOLS, "look": look})
    pay = Call("p", "pay", {}, takes=(CallTake("/to", "l", place),))
    batch = session.propose([Call("l", "look", {}), pay], NOW)
    assert_judged_as_verified(batch)
    assert verify_batch(batch).ok is ok


INSIDE = "the-secret-key"
KEPT = {"confined_evidence": ("keys",)}


def keyed(**spec: Any) -> Session:
    """Return a session that read an order, has a secret, and may wipe and refund."""
    keys = EvidenceItem(id="keys", classification="keys", content=INSIDE)
    seal = EvidenceItem(id="seal", classification="keys", content={"no": 7})
    scope, spec = ["wipe", "web", "refund"], {**KEPT, **spec}
    session = opened("wipe disk-1, x-100", spec=spec, evidence=(keys, seal), scope=scope)
    return after(session, Call("o", "order", {}), {"id": "x-100"})


@pytest.mark.parametrize(
    ("calls", "ok"),
    [
        ([Call("1", "refund", {"of": "x-100"})], True),
        ([Call("1", "wipe", {"what": "disk-1"})], True),
        ([Call("1", "wipe", {"what": "disk-1"}), Call("2", "wipe", {"what": "disk-1"})], False),
        ([Call("1", "wipe", {"what": INSIDE})], False),
        ([Call("1", "web", {"url": f"https://a.example/{INSIDE}"})], False),
        ([Call("1", "read", {"name": INSIDE}), Call("2", "mail", {})], True),
        ([Call("1", "nothing", {})], False),
    ],
)
def test_a_ruling_of_each_check_is_that_on_the_proposal(calls: list[Call], ok: bool) -> None:
    session = keyed(required_evidence=("keys",))
    batch = session.propose(calls, NOW)
    assert_judged_as_verified(batch)
    assert verify_batch(batch).ok == ok
    assert_judged_as_verified(replace(batch, past=None))
    approving, approved = session.approved(batch, "ada")
    assert_judged_as_verified(approved)
    decided = approving.decided(approved, "allow", verify_batch(approved), digest(batch.plan))
    assert_judged_as_verified(decided.propose(calls_again(calls), NOW))
    for call in calls:
        ended = decided.ran(call.id, CallResult("completed", "x"), NOW)
        decided = ended.session
    assert ended.ended is not None
    assert ended.ended.score == score(ended.ended.run)


def calls_again(calls: list[Call]) -> list[Call]:
    return [call._replace(id=f"again {call.id}") for call in calls]


def test_a_batch_is_scored_on_what_it_pins_and_on_what_must_not_leave() -> None:
    session = allowed(keyed(), Call("1", "refund", {"of": "x-100"}), Call("2", "mail", {}))
    for call in ("1", "2"):
        ended = session.ran(call, CallResult("completed", INSIDE), NOW)
        session = ended.session
    assert ended.ended is not None
    assert ended.ended.score == score(ended.ended.run)
    assert [item.id for item in ended.ended.batch.scored.compiled.manifests.evidence_manifest] == [
        "seal",
        "call/1",
    ]


def test_a_plan_that_pins_what_has_expired_is_refused() -> None:
    session, calls = keyed(), [Call("1", "refund", {"of": "x-100"})]
    early = session.propose(calls, NOW)
    late = replace(session.propose(calls, NOW + timedelta(seconds=60)), plan=early.plan)
    assert early.plan.steps[0].evidence_refs == ("call/1",)
    assert verify_batch(early).ok
    assert_judged_as_verified(late)
    assert not verify_batch(late).ok


def test_a_batch_of_which_one_call_gives_a_secret_out_is_scored_on_it() -> None:
    session = allowed(keyed(), Call("1", "web", {"url": INSIDE}), Call("2", "mail", {}))
    for call in ("1", "2"):
        ended = session.ran(call, CallResult("completed", "x"), NOW)
        session = ended.session
    assert ended.ended is not None
    assert ended.ended.score == score(ended.ended.run)
    assert ended.ended.score.scorecard.scores.safety.status == "fail"


def test_a_batch_that_a_person_approved_is_scored_as_approved() -> None:
    session = after(opened("Read plan.md, pay x-100"), read("plan.md"), "x-200")
    batch = session.propose([Call("p", "pay", {"to": "x-200"})], NOW)
    assert not verify_batch(batch).ok
    session, batch = session.approved(batch, "ada")
    session = session.decided(batch, "allow", verify_batch(batch), digest(batch.plan))
    ended = session.ran("p", CallResult("completed", "x"), NOW).ended
    assert ended is not None
    assert ended.score == score(ended.run)
    assert ended.score.scorecard.scores.policy.status == "pass"


def test_an_approval_that_the_spec_requires_counts_in_the_score() -> None:
    session = opened("Read plan.md, wipe x-100", spec={"approval_required_from": "destructive"})
    session = after(session, read("plan.md"), "done")
    batch = session.propose([Call("w", "wipe", {"what": "x-100"})], NOW)
    assert not verify_batch(batch).ok
    session, batch = session.approved(batch, "ada")
    assert verify_batch(batch).ok
    session = session.decided(batch, "allow", verify_batch(batch), digest(batch.plan))
    ended = session.ran("w", CallResult("completed", "x"), NOW).ended
    assert ended is not None
    assert ended.score == score(ended.run)
    assert ended.score.scorecard.scores.policy.status == "pass"


def test_what_is_kept_of_the_tools_is_bounded_and_changes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rules_module, "_MOST_KEPT", 1)
    its_rules = rules_of(policy_of(desk()))
    for scope in ("transfer", "shred", "transfer"):
        session = Session.opened(its_rules, "s", "Look", scope=[scope])
        for name in ("shred", "read_note", "shred"):
            batch = session.propose([Call("c", name, {"name": "x"})], NOON)
            assert_judged_as_verified(batch)
            (named,) = batch.ctx.scope or ()
            assert named.capability_id == scope
            assert max(len(its_rules._scopes), len(its_rules._without_evidence)) == 1


def test_a_session_is_changed_by_the_names_of_its_fields_only() -> None:
    session = Session.opened(rules_of(policy_of(desk())), "s", "Look")
    assert change_fields(session, texts=7).texts == 7
    assert change_fields(session).trail is session.trail
    every = {name: getattr(session, name) for name in Session.__slots__} | {"texts": 8}
    assert change_fields(session, **every).texts == 8
    with pytest.raises(TypeError, match=r"Session has no such field: \['text', 'worse'\]"):
        change_fields(session, worse=8, text=7)


def test_what_a_session_is_made_of_is_frozen() -> None:
    session = Session.opened(rules_of(policy_of(desk())), "s", "Look")
    batch = session.propose([Call("c", "read_note", {"name": "x"})], NOON)
    session = session.decided(batch, "allow", verify_batch(batch), digest(batch.plan))
    ran = session.ran("c", CallResult("completed", "x"), NOON)
    parts = (session, session.ledger, batch, session.running[1], ran.ended)
    for part, name in zip(parts, ("turns", "steps", "calls", "ended", "score"), strict=True):
        with pytest.raises(FrozenInstanceError):
            setattr(part, name, ())


def test_a_copy_shares_no_object_and_no_array() -> None:
    value = {"a": [{"b": 1}, "x", None]}
    copy = detach_json(value)
    assert copy == value
    copy["a"][0]["b"] = 2
    assert value == {"a": [{"b": 1}, "x", None]}
    deep: Any = []
    for _ in range(MAX_DEPTH * 50):
        deep = [deep]
    assert detach_json(deep)


def test_what_a_caller_changes_later_changes_no_ruling() -> None:
    session = Session.opened(rules_of(policy_of(desk())), "s", "Pay what plan.md says")
    args, output = {"name": "plan.md"}, {"lines": ["iban-1111"]}
    read = session.propose([Call("r", "read_note", args)], NOON)
    args["name"] = "trap.md"
    assert verify_batch(read).ok
    session = session.decided(read, "allow", verify_batch(read), digest(read.plan))
    session = session.ran("r", CallResult("completed", output), NOON).session
    output["lines"][0] = "iban-6666"
    (item,) = session.trail.items[-1:]
    assert item.content == {"lines": ["iban-1111"]}
    assert item.source is not None
    assert item.source.standing == "named"
    pay = [Call("p", "transfer", {"iban": "iban-6666", "reason": "x"})]
    assert_judged_as_verified(session.propose(pay, NOON))


def test_a_yes_to_calls_that_wait_is_kept_for_the_values_that_are_there() -> None:
    session = after(
        opened("Read plan.md and pay", spec={"late": "sources"}), read("plan.md"), "pay z-300"
    )
    take = CallTake(call="r", arg="/note", at="")
    pay = Call("p", "pay", {"to": "z-300"}, takes=(take,))
    batch = session.propose([read("plan.md", "r"), pay], NOW)
    assert batch.is_late
    approving, _ = session.approved(batch, "ada", late=True)
    assert [one.value for one in approving.ledger.approved] == ["z-300"]
    again = [Call("q", "pay", {"to": "z-300"})]
    assert not verify_batch(session.propose(again, NOW))
    assert verify_batch(approving.propose(again, NOW))
