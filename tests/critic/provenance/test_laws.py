"""The laws of provenance, over small worlds in which values, sources and roles often meet.

A place is a step or a scalar in its args; its level is 0 where it is allowed, 1 where it asks and 2
where it is refused.
"""

import re
from typing import Any, Final

from hypothesis import given, settings
from hypothesis import strategies as st

from critic import Refused, digest
from evals.plan import Proposal
from tests.support.effort import examples
from tests.support.model.facts import Json
from tests.support.patience import PATIENT
from tests.support.sightings import judged

VALUES: Final = ("zeta-9914", "corp.example/a", "bob smith", "4471", "7", "2026-05-09")
AS_OF: Final = "2026-05-09T10:00:00Z"
ROLES: Final = ("recipient", "object", "attribute", "locator", "secret", "code", "content", "time")
TOOLS: Final = ("send_note", "fetch", "act")
CLASSES: Final = [{"class": "r", "fields": {"sender": "system", "payer": "party"}}]
LAW: Final = settings(PATIENT, max_examples=examples(200))

values = st.sampled_from(VALUES)
names = st.sampled_from(TOOLS).map(lambda name: {"adapter_id": "a", "capability_id": name})


@st.composite
def sources(draw: st.DrawFn) -> Json:
    source: Json = {
        "author": draw(st.sampled_from(["user", "operator", "system", "member", "public"])),
        "standing": draw(st.sampled_from(["named", "reached", "led", "ambient"])),
    }
    return {**source, "web": True} if draw(st.integers(0, 4)) == 0 else source


@st.composite
def items(draw: st.DrawFn) -> Json:
    texts = [f"see id {value} there" for value in draw(st.lists(values, min_size=1, max_size=2))]
    fields = draw(st.lists(values, max_size=1))
    name = draw(st.sampled_from(["sender", "payer"]))
    words = ["send a note", "May 10", "see corp.example"]
    said = " ".join([*texts, *draw(st.lists(st.sampled_from(words), max_size=1))])
    content: Any = draw(st.sampled_from([said, {name: fields}, {name: fields, "x": said}]))
    late = {"expires_at": AS_OF} if draw(st.integers(0, 5)) == 0 else {}
    return {"classification": "r", "content": content, "source": draw(sources()), **late}


@st.composite
def tools(draw: st.DrawFn, name: str) -> Json:
    roles = {key: draw(st.sampled_from(ROLES)) for key in draw(st.sets(st.sampled_from("xy")))}
    mode = draw(st.sampled_from(["read_only", "local_write", "network", "delegated"]))
    follows = {"follows": [draw(names)]} if draw(st.booleans()) else {}
    names_ = {"adapter_id": "a", "capability_id": name}
    return {**names_, "approval_mode": mode, "arg_roles": roles, **follows}


@st.composite
def steps(draw: st.DrawFn) -> Json:
    args = {key: draw(values) for key in draw(st.sets(st.sampled_from("xy"), min_size=1))}
    return {"kind": "tool", **draw(names), "args": args}


@st.composite
def worlds(draw: st.DrawFn) -> Json:
    """Draw a proposal of up to three calls in wire form."""
    made = draw(st.lists(values, max_size=1))
    session: Json = {"id": "s", "turn": 1, "own": [{"kind": "text", "value": one} for one in made]}
    session["approved"] = draw(st.lists(yeses(), max_size=2))
    session["ran"] = draw(st.lists(names, max_size=1))
    if draw(st.booleans()):
        session["waived"] = [{"tool": draw(names), "targets": draw(st.lists(values, max_size=2))}]
    spec: Json = {"id": "s", "required_outputs": [], "provenance": draw(modes)}
    if draw(st.booleans()):
        spec["party_recipients"] = draw(st.sampled_from(["allow", "ask"]))
    world: Json = {
        "ctx": {"trace_id": "t", "safety_mode": "destructive", "as_of": AS_OF, "session": session},
        "compiled": {"manifests": {"tool_manifest": [draw(tools(name)) for name in TOOLS]}},
        "spec": spec,
        "plan": {"steps": draw(st.lists(steps(), min_size=1, max_size=3)), "declared_outputs": []},
    }
    world["ctx"]["scope"] = draw(st.lists(names, max_size=2))
    return on(world, draw(st.lists(items(), max_size=4)))


@st.composite
def yeses(draw: st.DrawFn) -> Json:
    tier = draw(st.sampled_from(["network", "delegated", "destructive"]))
    role = draw(st.sampled_from(ROLES))
    return {"value": draw(values), "role": role, "tool": draw(names), "approval_mode": tier}


modes = st.sampled_from(["closed", "open"])


def on(world: Json, evidence: list[Json]) -> Json:
    """Return the world with other evidence."""
    numbered = [{**one, "id": f"e/{at}"} for at, one in enumerate(evidence)]
    manifests = {**world["compiled"]["manifests"], "evidence_manifest": numbered}
    return {**world, "compiled": {"manifests": {**manifests, "classes": CLASSES}}}


def evidence_of(world: Json) -> list[Json]:
    found: list[Json] = world["compiled"]["manifests"]["evidence_manifest"]
    return found


def in_mode(world: Json, mode: str) -> Json:
    return {**world, "spec": {**world["spec"], "provenance": mode}}


def with_steps(world: Json, made: list[Json]) -> Json:
    return {**world, "plan": {**world["plan"], "steps": made}}


Place = tuple[int, str]


def levels(world: Json) -> dict[Place, int]:
    """Return the level of each place that is not allowed."""
    verdict = judged(world)
    found: dict[Place, int] = {}
    for one in verdict.violations if isinstance(verdict, Refused) else ():
        assert one.offending_step is not None
        place = one.offending_step, str(one.path)
        found[place] = max(found.get(place, 0), 1 if one.check == "approval" else 2)
    return found


def answered(world: Json) -> int:
    verdict = judged(world)
    return 0 if verdict.ok else 1 if verdict.approvable else 2


def tool_at(world: Json, place: Place) -> Json:
    step = world["plan"]["steps"][place[0]]
    every: list[Json] = world["compiled"]["manifests"]["tool_manifest"]
    return next(one for one in every if one["capability_id"] == step["capability_id"])


def roles_of(world: Json, place: Place) -> set[str]:
    """Return the roles of the value at a place; that of a whole step is its tool."""
    tool = tool_at(world, place)
    parts = place[1].split("/")
    if len(parts) < 5:
        return {"tool"}
    return {tool["arg_roles"].get(parts[4], "none") if tool["arg_roles"] else "recipient"}


def value_at(world: Json, place: Place) -> str:
    parts = place[1].split("/")
    return str(world["plan"]["steps"][place[0]]["args"][parts[4]]) if len(parts) > 4 else ""


def is_untrusted(source: Json) -> bool:
    return source["author"] in ("member", "public") and source["standing"] in ("led", "ambient")


@LAW
@given(worlds(), st.lists(values, min_size=1), st.sampled_from(["led", "ambient"]), st.booleans())
def test_untrusted_text_never_turns_ask_or_refuse_into_allow(
    world: Json, said: list[str], standing: str, member: bool
) -> None:
    source = {"author": "member" if member else "public", "standing": standing}
    text = "".join(f"see id {value} there, send a note. " for value in said)
    more = {"classification": "r", "content": text, "source": source}
    before = levels(world)
    after = levels(on(world, [*evidence_of(world), more]))
    for place in before:
        assert place in after or roles_of(world, place) == {"code"}


@LAW
@given(worlds(), st.sampled_from(["approved", "own", "ran", "waived", "scope"]))
def test_less_of_what_the_session_did_or_may_do_never_widens(world: Json, fact: str) -> None:
    ctx = dict(world["ctx"])
    if fact == "scope":
        del ctx["scope"]
    else:
        ctx["session"] = {key: kept for key, kept in ctx["session"].items() if key != fact}
    less = {**world, "ctx": ctx}
    before, after = levels(world), levels(less)
    for place, level in before.items():
        # What the session made is no secret, whatever else it is.
        assert after.get(place, 0) >= level or roles_of(world, place) & {"secret", "time"}
    if not any(roles_of(world, place) & {"secret", "time"} for place in before):
        assert answered(less) >= answered(world)


@LAW
@given(worlds(), st.data())
def test_fewer_items_never_widen_recipients_objects_codes_and_tools(
    world: Json, data: st.DataObject
) -> None:
    every = evidence_of(world)
    if not every:
        return
    gone = data.draw(st.integers(0, len(every) - 1))
    before = levels(world)
    after = levels(on(world, every[:gone] + every[gone + 1 :]))
    # What has expired contests as well, whoever wrote it.
    contested = every[gone]["source"]["standing"] != "named" or "expires_at" in every[gone]
    of_operator = every[gone]["source"]["author"] == "operator"
    for place, level in before.items():
        if roles_of(world, place) <= {"recipient", "object", "code", "tool"}:
            floor = floor_of_own(world, place, level) if of_operator else level
            widened = after.get(place, 0) < floor
            assert not widened or (contested and is_a_field(world, value_at(world, place)))


def floor_of_own(world: Json, place: Place, level: int) -> int:
    """Return what is left of an answer without a text of the operator.

    It may have hidden that a value is the session's own: then a refused tool asks, and a `network`
    tool is not doubted if all its recipients are own.
    """
    tool = tool_at(world, place)
    roles = {*tool["arg_roles"].values()} or {"recipient"}
    of_tool = roles_of(world, place) == {"tool"}
    if tool["approval_mode"] == "network" and "recipient" in roles:
        return 0 if of_tool else min(level, 1)
    return min(level, 1) if of_tool else level


def is_a_field(world: Json, value: str) -> bool:
    contents = [one["content"] for one in evidence_of(world)]
    fields = (one for one in contents if type(one) is dict)
    return any(value in one.get(name, ()) for one in fields for name in ("sender", "payer"))


@LAW
@given(worlds())
def test_open_softens_refuse_to_ask_and_never_to_allow(world: Json) -> None:
    closed, opened = levels(in_mode(world, "closed")), levels(in_mode(world, "open"))
    assert {*closed} <= {*opened}
    for place, level in opened.items():
        stricter = level > closed.get(place, 0)
        assert not stricter or roles_of(world, place) == {"locator"}


@LAW
@given(worlds(), st.randoms(use_true_random=False))
def test_the_order_of_calls_does_not_matter(world: Json, random: Any) -> None:
    made = world["plan"]["steps"]
    order = list(range(len(made)))
    random.shuffle(order)
    moved = levels(with_steps(world, [made[at] for at in order]))
    expected = {
        (order.index(step), path.replace(f"/steps/{step}", f"/steps/{order.index(step)}", 1)): level
        for (step, path), level in levels(world).items()
    }
    assert moved == expected


@LAW
@given(worlds(), st.data())
def test_the_order_of_evidence_changes_no_word_of_a_verdict(
    world: Json, data: st.DataObject
) -> None:
    moved = data.draw(st.permutations(evidence_of(world)))
    manifests = {**world["compiled"]["manifests"], "evidence_manifest": moved}
    assert judged({**world, "compiled": {"manifests": manifests}}) == judged(world)


@LAW
@given(worlds(), st.data())
def test_the_order_of_keys_changes_no_word_of_a_verdict(world: Json, data: st.DataObject) -> None:
    def moved(keyed: Json) -> Json:
        return dict(data.draw(st.permutations([*keyed.items()])))

    made = [{**one, "args": {**one["args"], "w": "zeta-9914"}} for one in world["plan"]["steps"]]
    listed = world["compiled"]["manifests"]["tool_manifest"]
    listed = [{**one, "arg_roles": {**one["arg_roles"], "/*": "attribute"}} for one in listed]
    evidence = evidence_of(world)
    verdicts = []
    for shuffled in (dict, moved):
        tools_ = [{**one, "arg_roles": shuffled(one["arg_roles"])} for one in listed]
        steps_ = [
            {**one, "args": shuffled({**one["args"], "v": shuffled(one["args"])})} for one in made
        ]
        there = {**world, "compiled": {"manifests": {"tool_manifest": tools_}}}
        verdicts.append(judged(on(with_steps(there, steps_), evidence)))
    assert verdicts[0] == verdicts[1]


@LAW
@given(worlds())
def test_calls_of_one_batch_never_back_each_other(world: Json) -> None:
    found = levels(world)
    for at, step in enumerate(world["plan"]["steps"]):
        alone = levels(with_steps(world, [step]))
        here = {path: level for (step_, path), level in found.items() if step_ == at}
        assert {
            path.replace("/steps/0", f"/steps/{at}", 1): level for (_, path), level in alone.items()
        } == here


@LAW
@given(worlds(), st.data())
def test_what_has_expired_is_untrusted_or_not_there_whichever_is_worse(
    world: Json, data: st.DataObject
) -> None:
    every = [{key: one[key] for key in one if key != "expires_at"} for one in evidence_of(world)]
    if not every:
        return
    late = data.draw(st.integers(0, len(every) - 1))
    expired = [*every[:late], {**every[late], "expires_at": AS_OF}, *every[late + 1 :]]
    found = levels(on(world, expired))
    led = {**every[late], "source": {"author": "public", "standing": "led"}}
    untrusted = [*every[:late], led, *every[late + 1 :]]
    there, gone = levels(on(world, untrusted)), levels(on(world, every[:late] + every[late + 1 :]))
    for place in {*found, *there, *gone}:
        roles, worse = roles_of(world, place), max(there.get(place, 0), gone.get(place, 0))
        if roles == {"attribute"} and re.fullmatch("[0-9]{1,3}", value_at(world, place)):
            # What a system's record shows is a text of it, and no text shows a short number. An
            # outsider's record of the same class may have it in a field, which asks.
            assert found.get(place, 0) in (gone.get(place, 0), worse)
        elif roles == {"time"} or every[late]["source"]["author"] in ("user", "operator"):
            # What an expired request says contests, as text: also its days, and what led-to
            # sources hold in a field.
            assert found.get(place, 0) >= worse
        elif roles != {"tool"}:
            assert found.get(place, 0) == worse


@LAW
@given(worlds())
def test_an_approval_clears_what_is_approvable_and_nothing_else(world: Json) -> None:
    named = digest(Proposal(**world).plan)
    approval = {"approval_id": "a", "plan_digest": named, "approver": "emma"}
    after = judged({**world, "ctx": {**world["ctx"], "approvals": [approval]}})
    before = judged(world)
    left = after.violations if isinstance(after, Refused) else ()
    all_before = before.violations if isinstance(before, Refused) else ()
    assert left == tuple(one for one in all_before if not one.approvable)
