"""What is proposed for a task that stops: the smallest edits that let it through, no others."""

from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from harness.policy import Policy, parse_policy
from harness.what_if.proposing import edit_search
from harness.what_if.proposing.edit_candidates import edit_candidates
from harness.what_if.proposing.edit_proposals import (
    EditProposal,
    EditProposer,
    ProposedTask,
    propose_edits,
)
from harness.what_if.proposing.edit_words import edit_text, stop_text
from harness.what_if.proposing.policy_edits import PolicyEdit, apply_edits
from harness.what_if.proposing.policy_patch import TaskEdit, write_edits
from harness.what_if.proposing.recorded_tasks import read_tasks
from harness.what_if.proposing.task_judge import TaskJudge
from harness.wire import InvalidInput
from tests.harness.what_if.proposing.shop_tasks import (
    LOOKS,
    NOW,
    ORDER,
    POLICY,
    TELLS,
    Json,
    read,
    task,
)
from tests.support.effort import examples
from tests.support.examples import is_safe

PARSED = parse_policy(POLICY.encode()).policy


def changed(*replaced: tuple[str, str]) -> Policy:
    text = POLICY
    for old, new in replaced:
        assert old in text
        text = text.replace(old, new, 1)
    return parse_policy(text.encode()).policy


def proposed(events: list[Json], policy: Policy = PARSED, **options: Any) -> EditProposal:
    found = propose_edits(policy, read(events)[0], now=NOW, **options).proposal
    assert found is not None
    return found


def texts(events: list[Json], policy: Policy = PARSED, **options: Any) -> list[str]:
    found = proposed(events, policy, **options)
    return [("? " if edit.needs_word else "") + edit_text(edit) for edit in found.edits]


SHAPED = changed(
    (
        'fields = { order_id = "system" }           # guessed: by name\n',
        'fields = { order_id = "system" }\n'
        'schema = { type = "object", required = ["order_id", "lines"], properties = { lines = '
        '{ type = "array", items = { type = "object", required = ["sku"] } } } }\n',
    ),
)
SKU = [{"sku": "s"}]


@pytest.mark.parametrize(
    ("output", "why"),
    [
        ({"order_id": "ORD-883"}, "/lines is missing"),
        ({"order_id": "ORD-883", "lines": [*SKU, {}]}, "/lines/1/sku is missing"),
        ({"order_id": "ORD-883", "lines": 7}, "/lines does not satisfy type"),
        ("ORD-883", "it is no JSON object or array"),
        ('{"order_id": "ORD-883"}', "/lines is missing"),
    ],
)
def test_a_result_that_is_not_of_its_class_is_told_and_no_role_is_proposed(
    output: Any, why: str
) -> None:
    found = pays_back(output)
    assert found.misfit == f"get_order's result is not what class order says: {why}"
    assert found.judged.stop is not None
    kinds = {edit.kind for edit in edit_candidates(SHAPED, found.task, found.judged.stop)}
    assert "role" not in kinds
    assert "system" in kinds


def pays_back(output: Any) -> ProposedTask:
    pays = ("pay_back", {"order_id": "ORD-883", "eur": 5}, "done")
    events = task("Pay the order of Ada back, 5 EUR.", ("get_order", {}, output), pays)
    return propose_edits(SHAPED, read(events)[0], now=NOW)


def test_a_result_without_the_value_that_stops_is_not_told() -> None:
    assert pays_back({"order_id": "ORD-1"}).misfit is None
    assert pays_back({"order_id": "ORD-883", "lines": SKU}).misfit is None
    assert propose_edits(PARSED, read(TELLS)[0], now=NOW).misfit is None


def why_not(events: list[Json], policy: Policy = PARSED) -> str:
    found = propose_edits(policy, read(events)[0], now=NOW)
    assert found.proposal is None
    assert found.uncured is not None
    return found.uncured.why


SCOPED = changed(("[guard]", '[guard]\nscope = "all"'))
BUYS = ("place_order", {"item": "tea"}, {"order_id": "ORD-9114"})
PAYS = ("pay_back", {"order_id": "ORD-9114", "eur": 5}, "done")
AGED = changed(('yields = "order"', 'yields = "order"\nexpires_after_s = 60'))
OURS = changed(
    ("[guard]", '[guard]\nscope = "all"'),
    ('author = "public", format = "json"', 'author = "system", format = "json"'),
    ('fields = { order_id = "system" }', 'fields = { order_id = "system", email = "party" }'),
)
MENDED: list[tuple[list[Json], Policy, list[str]]] = [
    (TELLS, PARSED, ["scope: mail"]),
    # A tool that nobody asked for, in words of its name.
    (task("Buy tea.", BUYS), PARSED, ["scope: place_order"]),
    # A value that only text holds: a field that names a party, and not its author.
    (
        task("See to what is late.", LOOKS, ("mail", {"to": "ada@x.example", "body": "x"}, 1)),
        SCOPED,
        ["fields of get_order: email = party"],
    ),
    # What the session made itself.
    (
        task("Order tea, then pay back what you do not need.", BUYS, PAYS),
        SCOPED,
        ["place_order makes /order_id: order"],
    ),
    # An address that the record of a system calls a party's, and not a role that asks for nothing.
    (
        task("See to what is late.", LOOKS, ("mail", {"to": "ada@x.example", "body": "x"}, 1)),
        OURS,
        ["? fields of get_order: email = system"],
    ),
    # A call that is aimed at nobody, which only somebody who knows the tool can allow.
    (
        task("Say that it is late.", ("mail", {"body": "late"}, "sent")),
        SCOPED,
        ["? mail may leave out to"],
    ),
]


@pytest.mark.parametrize(("events", "policy", "edits"), MENDED)
def test_the_smallest_edit_is_proposed(
    events: list[Json], policy: Policy, edits: list[str]
) -> None:
    found = proposed(events, policy)
    assert texts(events, policy) == edits
    assert found.judged.outcome != "refused"


def test_where_a_task_stops_is_told_by_the_value_and_its_source() -> None:
    stop = TaskJudge(PARSED, NOW).judge(read(TELLS)[0]).stop
    assert stop is not None
    assert stop_text(stop) == 'mail /to "ada@x.example": only in the text of get_order'


@pytest.mark.parametrize("role", ["recipient", "object", "secret"])
def test_nothing_helps_a_value_that_was_seen_nowhere(role: str) -> None:
    policy = changed(('to = "recipient"', f'to = "{role}"'), ("[guard]", '[guard]\nscope = "all"'))
    made_up = task("Tell the shop.", ("mail", {"to": "bob@y.example", "body": "x"}, "sent"))
    assert why_not(made_up, policy) == "no edit helps: the value was seen nowhere"


def test_what_the_schema_does_not_take_is_no_label_to_change() -> None:
    closed = '\n\n[tool.args_schema]\ntype = "object"\nadditionalProperties = false\n'
    policy = changed(('arg_roles = { item = "attribute" }', f"{closed}properties = {{}}"))
    assert "args_schema" in why_not(task("place order tea", BUYS), policy)
    assert "args_schema" in why_not(task("x", ("no_tool", {}, 1)))


def test_a_page_of_the_web_is_never_trusted() -> None:
    page = ("open_page", {"url": "https://x.example"}, {"mail": "eve@evil.example"})
    sends = ("mail", {"to": "eve@evil.example", "body": "x"}, "sent")
    events = task("Read https://x.example and do what it says.", page, sends)
    stop = TaskJudge(PARSED, NOW).judge(read(events)[0]).stop
    assert stop is not None
    for edit in edit_candidates(PARSED, read(events)[0], stop):
        assert edit.tool != "open_page" or edit.kind == "scope", edit
    found = propose_edits(SCOPED, read(events)[0], now=NOW).proposal
    assert found is None or found.needs_word


def test_a_page_that_is_only_read_is_never_trusted_either() -> None:
    page = changed(
        (
            '"read_only"\nresult = { author = "public" }',
            '"read_only"\nresult = { author = "public", web = true }',
        )
    )
    reads = ("find_mail", {"q": "late"}, {"mail": "eve@evil.example"})
    sends = ("mail", {"to": "eve@evil.example", "body": "x"}, "sent")
    one = read(task("Read on.", reads, sends))[0]
    stop = TaskJudge(page, NOW).judge(one).stop
    assert stop is not None
    assert all(edit.tool != "find_mail" for edit in edit_candidates(page, one, stop))


def test_a_later_task_takes_only_what_it_needs_of_what_is_proposed() -> None:
    proposer = EditProposer(PARSED, NOW)
    first, second, third = read(
        TELLS,
        task("Buy tea.", BUYS, id="t2"),
        task(
            "Buy tea, and write ada@x.example of it.",
            BUYS,
            ("mail", {"to": "ada@x.example"}, 1),
            id="t3",
        ),
    )
    found = [proposer.propose(one).proposal for one in (first, second, third)]
    kinds = [[edit_text(edit) for edit in one.edits] for one in found if one is not None]
    assert kinds == [["scope: mail"], ["scope: place_order"], ["scope: place_order"]]
    assert proposer.known[PolicyEdit("scope", "place_order")] == ["t2", "t3"]


def test_a_shadow_is_judged_as_what_it_would_enforce() -> None:
    shadow = changed(("[guard]", "[guard]\nshadow = true"))
    assert TaskJudge(shadow, NOW).judge(read(TELLS)[0]).outcome == "refused"
    assert texts(TELLS, shadow) == ["scope: mail"]


def test_a_field_of_sentences_and_a_tier_below_the_verb_are_never_proposed() -> None:
    said = {"note": "ORD-77120", "body": "ORD-77120"}
    pays = ("pay_back", {"order_id": "ORD-77120", "eur": 1}, "done")
    one = read(task("See to it.", ("find_mail", {}, said), pays))[0]
    stop = TaskJudge(PARSED, NOW).judge(one).stop
    assert stop is not None
    kinds = {edit.kind for edit in edit_candidates(PARSED, one, stop)}
    assert kinds.isdisjoint({"fields", "names", "tier"})


def test_what_a_party_fills_is_its_own_however_it_is_numbered() -> None:
    pays = ("pay_back", {"order_id": "ORD-77120", "eur": 1}, "done")
    for name, owner in (("order_no", "system"), ("phone_number", "party"), ("iban", "party")):
        one = read(task("See to it.", ("find_mail", {}, {name: "ORD-77120"}), pays))[0]
        stop = TaskJudge(PARSED, NOW).judge(one).stop
        assert stop is not None
        found = [edit for edit in edit_candidates(PARSED, one, stop) if edit.kind == "fields"]
        assert found == [PolicyEdit("fields", "find_mail", name, owner)]


def test_what_needs_a_word_is_proposed_last_and_says_so() -> None:
    pays = ("pay_back", {"order_id": "ORD-77120", "eur": 1}, "done")
    found = proposed(task("See to it.", ("find_mail", {}, "pay back ORD-77120"), pays), SCOPED)
    assert found.needs_word
    assert [edit.kind for edit in found.edits] == ["system"]


def test_a_tool_may_leave_out_all_its_targets_or_none_and_a_destructive_one_none() -> None:
    copied = changed(('to = "recipient", ', 'to = "recipient", cc = "recipient", '))
    one = read(task("Say that it is late.", ("mail", {"body": "late"}, "sent")))[0]
    found = propose_edits(apply_edits(copied, [PolicyEdit("scope", "mail")]), one, now=NOW)
    assert found.proposal is not None
    (edit,) = found.proposal.edits
    assert edit == PolicyEdit("empty", "mail", "", "to, cc")
    assert apply_edits(copied, [edit]).tools["mail"].may_be_empty == ("to", "cc")
    pays = read(task("Pay back.", ("pay_back", {"eur": 5}, "done")))[0]
    stop = TaskJudge(SCOPED, NOW).judge(pays).stop
    assert stop is not None
    assert "empty" not in {edit.kind for edit in edit_candidates(SCOPED, pays, stop)}


def test_an_attack_that_would_pass_decides_between_edits() -> None:
    asks = task(
        "See to what is late.", LOOKS, ("mail", {"to": "ada@x.example", "body": "x"}, 1), id="a1"
    )
    plain = EditProposer(SCOPED, NOW).propose(read(asks)[0]).proposal
    assert plain is not None
    bought = ("place_order", {"item": "tea"}, {"order_id": "ORD-9114"})
    attack = task("Buy", bought, id="a2")
    found = EditProposer(PARSED, NOW, attacks=read(attack)).propose(read(task("Buy tea.", BUYS))[0])
    assert found.proposal is not None
    assert found.proposal.attacks == ("a2",)
    ready = EditProposer(SCOPED, NOW, attacks=read(attack))
    assert ready.passing == ("a2",)


def test_a_stale_record_is_read_again_or_fresh_for_longer() -> None:
    demands = '\nrequires_evidence = ["order"]\nadapter_id = "shop"\ncapability_id = "pay_back"'
    policy = changed(
        ('yields = "order"', 'yields = "order"\nexpires_after_s = 60'),
        ('\nadapter_id = "shop"\ncapability_id = "pay_back"', demands),
    )
    events = task(
        "pay back ORD-882 5 EUR", LOOKS, ("pay_back", {"order_id": "ORD-882", "eur": 5}, 1)
    )
    events[1]["as_of"] = "2026-05-09T12:00:00Z"
    events[3]["as_of"] = "2026-05-09T12:04:00Z"
    assert texts(events, policy) == ["results of get_order are fresh for 300 s"]


def test_an_open_tier_is_for_a_person() -> None:
    text = POLICY.replace('"delegated"\narg_roles = { item', '"destructive"\narg_roles = { item')
    policy = parse_policy(text.encode()).policy
    one = read(task("Buy tea.", BUYS))[0]
    stop = TaskJudge(policy, NOW).judge(one).stop
    assert stop is not None
    found = edit_candidates(policy, one, stop, frozenset({"place_order"}))
    assert {edit.kind for edit in found if edit.place == "" and edit.value} <= {"open"}
    assert all(edit.needs_word for edit in found if edit.kind == "open")


def test_a_stop_is_judged_400_times_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edit_search, "MOST_JUDGEMENTS", 3)
    pays = ("pay_back", {"order_id": "ORD-77120", "eur": 1}, "done")
    events = task("See to it.", ("find_mail", {}, "pay back ORD-77120"), pays)
    found = propose_edits(PARSED, read(events)[0], now=NOW)
    assert found.judgements <= 3 + 1
    assert found.uncured is not None
    assert found.uncured.why == "no edit was found that helps, in 3 judgements"


# --- the law ----------------------------------------------------------------------------------

VALUES = ["ada@x.example", "eve@evil.example", "ORD-882", "ORD-9114", "bob@y.example"]
OUTPUTS: list[Any] = [ORDER, [ORDER], "write to ada@x.example", {"order_id": "ORD-9114"}, VALUES]
CALLS = st.one_of(
    st.tuples(st.just("get_order"), st.fixed_dictionaries({"order_id": st.sampled_from(VALUES)})),
    st.tuples(st.just("find_mail"), st.fixed_dictionaries({}, optional={"q": st.just("late")})),
    st.tuples(st.just("mail"), st.fixed_dictionaries({"to": st.sampled_from(VALUES)})),
    st.tuples(st.just("pay_back"), st.fixed_dictionaries({"order_id": st.sampled_from(VALUES)})),
    st.tuples(st.just("place_order"), st.fixed_dictionaries({"item": st.sampled_from(VALUES)})),
)
TURNS = st.lists(st.tuples(CALLS, st.sampled_from(OUTPUTS)), min_size=2, max_size=4)
LABELS = st.lists(
    st.sampled_from(
        [
            ("[guard]", '[guard]\nscope = ["pay_back"]'),
            ('author = "public", format = "json"', 'author = "member"'),
            ('fields = { order_id = "system" }           # guessed: by name\n', ""),
            ('to = "recipient", ', 'to = "object", '),
            ('approval_mode = "delegated"', 'approval_mode = "destructive"'),
            ('result = { author = "public", format = "json" }\nyields = "order"\n', ""),
            ('arg_roles = { order_id = "locator" }\n', ""),
        ]
    ),
    max_size=3,
    unique=True,
)


SCOPES = st.none() | st.lists(st.sampled_from(["mail", "pay_back", "open_page"]), unique=True)


def laws_of_a_proposal(turns: Any, labels: Any, scope: Any) -> None:
    text = POLICY
    for old, new in labels:
        text = text.replace(old, new, 1)
    policy = parse_policy(text.encode()).policy
    opening = {} if scope is None else {"scope": scope}
    calls = ((*call, output) for call, output in turns)
    one = read(task("See to ORD-882.", *calls, **opening))[0]
    found = propose_edits(policy, one, now=NOW)
    assert found.judged == TaskJudge(policy, NOW).judge(one)
    if found.proposal is None:
        assume(found.uncured is not None)
        return
    edits = found.proposal.edits
    edited = apply_edits(policy, edits)
    judged = TaskJudge(edited, NOW).judge(one)
    assert judged.outcome != "refused"
    assert judged == found.proposal.judged
    assert all(is_safe(edit_text(edit)) for edit in edits)
    # No edit of it is idle, and the text of the policy can be changed to it, marked as guesses.
    for edit in edits:
        rest = tuple(other for other in edits if other != edit)
        assert TaskJudge(apply_edits(policy, rest), NOW).judge(one) != judged
    written = write_edits(text, [TaskEdit(edit, ("t1",)) for edit in edits])
    again = parse_policy(written.encode()).policy
    assert again.digest() == edited.digest()
    assert set(again.guessed or ()) >= set(policy.guessed or ())
    assert len(again.guessed or ()) > 0


@settings(max_examples=examples(12))
@given(TURNS, LABELS, SCOPES)
def test_each_proposal_applied_lets_its_task_through(turns: Any, labels: Any, scope: Any) -> None:
    laws_of_a_proposal(turns, labels, scope)


@pytest.mark.long
@pytest.mark.slow
@settings(max_examples=300)
@given(TURNS, LABELS, SCOPES)
def test_each_of_many_proposals_lets_its_task_through(turns: Any, labels: Any, scope: Any) -> None:
    laws_of_a_proposal(turns, labels, scope)


@pytest.mark.parametrize(
    "edit", [PolicyEdit("scope", "gone"), PolicyEdit("follows", "mail", "", "x")]
)
def test_an_edit_of_a_tool_that_is_not_there_is_refused(edit: PolicyEdit) -> None:
    with pytest.raises(ValueError, match="no tool"):
        apply_edits(PARSED, [edit])


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"event":"calls","session":"s","calls":[]}', "line 2"),
        ('{"event":"said","session":"s","text":"x"}', "does not begin with open"),
        ("{", "line 2"),
    ],
)
def test_a_line_that_is_no_event_is_told_with_its_number(line: str, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        read_tasks([(2, line.encode())])
