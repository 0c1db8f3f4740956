"""The property: what outsiders write makes no target one that nobody else gave.

Sessions are drawn with every text that the labels leave to an outsider marked. Each is judged as
drawn, and with each of these texts in twelve spellings and shapes; no call may be allowed in any of
them whose tool or target is refused, or asked about, with all of them taken away. What is said and
when (content, attributes, codes, days) is beyond the property.
"""

import inspect
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, pairwise

import pytest
from hypothesis import given, settings

from critic import Proposal, verify_proposal
from harness.testing._draw.primitives import composite, seeded_pick
from harness.wire import build
from tests.critic.provenance.item_faults import ASKED_IF_AMBIENT, BEYOND, NOTICED, Fault, planted
from tests.support.agreement import ONE_FAILURE
from tests.support.effort import examples
from tests.support.model.facts import Json
from tests.support.model.provenance import judged_items
from tests.support.model.values import TARGETS
from tests.support.model.verify import verify_model
from tests.support.outside_draws import outside_case
from tests.support.outsiders import REWRITES, session_of, softened, widened

CLASSES = (
    *("Z", "A", "U", "S", "O", "T", "W", "F", "C", "H", "P", "CP", "M"),
    *("Dm", "Dp", "Dw", "Rm", "Rp", "Rw", "X", "L", "N", "K"),
)
FEWEST_OF_A_CLASS = 1_000
TELLING = (11, 5, 31, 23, 166, 156, 1, 75, 59, 6)
"""Seeds of sessions in which a fault about items showed: they are tried first."""
FIELDS = ("check", "kind", "offending_step", "path", "approvable")
"""What both statements say of a violation."""


def engine(proposal: Json) -> Json:
    plain = json.loads(json.dumps(proposal))
    verdict = verify_proposal(build(Proposal, plain)).wire()
    violations = [
        {name: one[name] for name in FIELDS if name in one} for one in verdict.get("violations", [])
    ]
    return {"ok": verdict["ok"], "violations": violations}


def drawn(seeds: Iterable[int]) -> Iterator[Json]:
    return (outside_case(seeded_pick(seed)) for seed in seeds)


def test_there_are_ten_ways_to_rewrite_what_outsiders_wrote() -> None:
    written = [json.dumps(how(["GB29NWBK60161331926819", "7"])) for how in REWRITES.values()]
    assert len(REWRITES) >= 10
    assert all(one != other for one, other in pairwise(sorted(written)))


def test_by_the_model_nothing_that_outsiders_write_widens() -> None:
    for case in drawn(range(3)):
        assert not widened(case), case


def test_by_the_engine_nothing_that_outsiders_write_widens() -> None:
    for case in drawn(range(1_000, 1_012)):
        assert not widened(case, engine), case


@pytest.mark.slow
def test_a_contested_field_makes_a_designated_record_worth_no_less() -> None:
    """Else an outsider widens by leading to a record: a field that he led to contests nothing."""
    (case,) = drawn([204_868])
    assert not widened(case, engine)
    assert not widened(case)


@settings(ONE_FAILURE, max_examples=examples(15))
@given(composite(outside_case)())
def test_by_the_engine_no_drawn_session_widens(case: Json) -> None:
    assert not widened(case, engine)


def test_engine_and_model_say_the_same_of_calls_in_sessions() -> None:
    for case in drawn(range(2_000, 2_016)):
        require_agreement(case)


@pytest.mark.slow
@pytest.mark.long
def test_engine_and_model_say_the_same_of_many_calls_in_sessions() -> None:
    for case in drawn(range(10_000, 10_000 + examples(3_000))):
        require_agreement(case)


def require_agreement(case: Json) -> None:
    session = session_of(case)
    for call in case["calls"]:
        proposal = session.proposal([call])
        meant, said = verify_model(proposal), engine(proposal)
        assert said == {"ok": meant["ok"], "violations": meant.get("violations", [])}, proposal


@pytest.mark.long
@pytest.mark.slow
def test_the_drawn_sessions_meet_every_class_often() -> None:
    met: Counter[str] = Counter()
    for case in drawn(range(100_000, 100_000 + examples(14_000))):
        session = session_of(case)
        for call in case["calls"]:
            proposal = session.proposal([call])
            met.update(
                worth[0] for _, worth in judged_items(proposal, proposal["plan"]["steps"][0])
            )
    fewest = examples(FEWEST_OF_A_CLASS)
    assert {kind: met[kind] for kind in CLASSES if met[kind] < fewest} == {}


def test_a_third_of_the_drawn_calls_is_allowed() -> None:
    sessions = [(session_of(case), case["calls"]) for case in drawn(range(3_000, 3_075))]
    allowed = [engine(one.proposal([call]))["ok"] for one, calls in sessions for call in calls]
    assert sum(allowed) >= 0.3 * len(allowed)


@pytest.mark.slow
@pytest.mark.long
def test_by_the_engine_nothing_that_outsiders_write_widens_in_many_sessions() -> None:
    for case in drawn(range(200_000, 200_000 + examples(6_000))):
        assert not widened(case, engine), case


def closed(seeds: Iterable[int]) -> Iterator[Json]:
    return (case for case in drawn(seeds) if case["policy"]["spec"]["provenance"] == "closed")


def test_what_nothing_led_to_turns_no_refusal_into_a_question() -> None:
    for case in closed(range(5_000, 5_005)):
        assert not softened(case, engine), case


@pytest.mark.slow
def test_a_question_about_what_only_stands_in_ambient_text_is_noticed() -> None:
    with planted(ASKED_IF_AMBIENT):
        assert any(softened(case) for case in closed((5_021, *range(5_000, 5_040))))


# --- the law notices what is wrong with items -----------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("fault", NOTICED, ids=lambda fault: fault.name)
def test_the_law_notices_a_fault_about_items(fault: Fault) -> None:
    with planted(fault):
        assert any(widened(case) for case in drawn(chain(TELLING, range(600))))


def test_twenty_faults_are_planted_or_named_as_beyond_the_law() -> None:
    assert len(NOTICED) >= 12
    assert len(NOTICED) + len(BEYOND) >= 20
    assert all(fault.why for fault in BEYOND)


@pytest.mark.parametrize(
    "fault", [*NOTICED, *BEYOND, ASKED_IF_AMBIENT], ids=lambda fault: fault.name
)
def test_a_fault_takes_what_the_right_function_takes(fault: Fault) -> None:
    """Else its law would notice a `TypeError`, and not the fault."""
    right = getattr(fault.where, fault.attribute)
    if callable(right):
        places = inspect.signature(right).parameters.values()
        wrong = inspect.signature(fault.wrong(right))
        positional = [0 for one in places if one.kind is not inspect.Parameter.KEYWORD_ONLY]
        named = {one.name: 0 for one in places if one.kind is inspect.Parameter.KEYWORD_ONLY}
        wrong.bind(*positional, **named)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("fault", BEYOND, ids=lambda fault: fault.name)
def test_what_is_named_as_beyond_the_law_is_not_noticed_by_it(fault: Fault) -> None:
    """Another law, a stream or a case notices it: the reason says which."""
    with planted(fault):
        assert not any(widened(case) for case in drawn(range(examples(60))))


def test_the_calls_of_a_session_have_targets() -> None:
    for case in drawn(range(20)):
        session = session_of(case)
        proposals = [session.proposal([call]) for call in case["calls"]]
        judged = [one for p in proposals for one in judged_items(p, p["plan"]["steps"][0])]
        assert any(value.role in TARGETS for value, _ in judged)
