"""What a person approved is found in a document wherever it stands, whatever stands beside it."""

from itertools import product
from typing import Any, Final

import pytest

from harness.serve.answering import RequestRefused
from harness.serve.bearer_tokens import Asker
from harness.serve.document_judging import own_yes_only
from tests.support.guarding import Json

AGENT: Final = Asker(b"agent", is_approver=False)
PLACES: Final = ("/approvals", "/session/approved", "/session/waived")
YES: Final[tuple[Any, ...]] = ([{}], {"a": 1}, "yes", 1, True)
NONE: Final[tuple[Any, ...]] = ([], {}, None, "", 0, False)


def context_with(place: str, value: Any) -> Json:
    """Return a context that says so at one place, and nothing at the others."""
    ctx: Json = {"approvals": [], "session": {"approved": [], "waived": []}, "scope": ["x"]}
    *outer, name = place.split("/")[1:]
    inner = ctx[outer[0]] if outer else ctx
    inner[name] = value
    return ctx


def judged(asker: Asker, value: Any) -> Any:
    seen: list[Any] = []
    own_yes_only(asker, seen.append)(value)
    (found,) = seen
    return found


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("around", ["", "/proposal"])
def test_a_yes_is_found_at_each_place_of_a_plan_and_of_a_run(place: str, around: str) -> None:
    for value in (*YES, *NONE):
        ctx = context_with(place, value)
        document = {"proposal": {"ctx": ctx}} if around else {"ctx": ctx, "proposal": {"ctx": {}}}
        assert judged(Asker(b"person", is_agent=False), document) is document
        assert judged(Asker(), document) is document
        if value in NONE:
            assert judged(AGENT, document) is document
            continue
        with pytest.raises(RequestRefused) as refused:
            judged(AGENT, document)
        fault = refused.value.fault
        assert (fault.status, fault.path) == (403, f"{around}/ctx{place}")


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_yes_is_found_at_each_opening_of_a_run(count: int) -> None:
    for given in product([False, True], repeat=count):
        openings: list[Json] = [{"step": 0, "approvals": [{}] if one else []} for one in given]
        run = {"proposal": {"ctx": context_with(PLACES[0], [])}, "openings": openings}
        if not any(given):
            assert judged(AGENT, run) is run
            continue
        with pytest.raises(RequestRefused) as refused:
            judged(AGENT, run)
        assert refused.value.fault.path == f"/openings/{given.index(True)}/approvals"
