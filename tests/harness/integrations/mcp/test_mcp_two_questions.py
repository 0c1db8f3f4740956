"""Two questions at once: each is answered by what the person said to it, and by nothing else."""

from pathlib import Path
from typing import Any, Final

import pytest

from harness.policy import Policy
from harness.wire import build
from tests.harness.integrations.mcp.mcp_shop import (
    ERAS,
    ORDER,
    REFUND,
    YES,
    Json,
    Shop,
    reasons,
    refused,
    text_result,
)

eras = pytest.mark.parametrize("era", ERAS)
NO: Final[Json] = {"action": "decline"}
FIRST, SECOND = "GB33BUKB20201555555555", "GB99BUKB20201555550000"


def found_policy(**guard: Any) -> Policy:
    """Return a policy that asks about an order which only a result mentions, whatever the sum."""
    lookup = {
        "arg_roles": {"order_id": "locator"},
        "approval_mode": "read_only",
        "args_schema": ORDER,
        "result": {"author": "public"},
    }
    refund = {
        "arg_roles": {"order_id": "recipient", "cents": "attribute"},
        "arg_kinds": {"order_id": "account"},
        "approval_mode": "delegated",
        "args_schema": REFUND,
    }
    tools = {"lookup": lookup, "issue_refund": refund}
    return build(
        Policy,
        {
            "guard": {"safety_mode": "destructive", **guard},
            "spec": {"id": "shop", "required_outputs": [], "provenance": "closed"},
            "tool": [
                {"adapter_id": "shop", "capability_id": name, **tool}
                for name, tool in tools.items()
            ],
        },
    )


def told_shop(folder: Path, era: str, **guard: Any) -> Shop:
    """Return a shop whose session has read of two orders."""
    shop = Shop(
        folder,
        found_policy(**guard),
        era=era,
        request="Pay the bill in bill.txt: lookup, then issue_refund.",
    )
    shop.results["lookup"] = text_result(f"Refund {FIRST} and {SECOND}.")
    assert not refused(shop.call("lookup", order_id="bill.txt"))
    return shop


def refund(shop: Shop, order: str, cents: int) -> Json:
    return shop.call("issue_refund", order_id=order, cents=cents)


def sums(shop: Shop) -> list[int]:
    """Return what was refunded."""
    called = [one["params"] for one in shop.heard if one.get("method") == "tools/call"]
    return [one["arguments"]["cents"] for one in called if one["name"] == "issue_refund"]


@eras
@pytest.mark.parametrize("denied", [12, 5000])
def test_a_no_stands_where_the_yes_to_another_call_would_cover_it(
    era: str, denied: int, tmp_path: Path
) -> None:
    shop = told_shop(tmp_path, era)
    no, yes = refund(shop, FIRST, denied), refund(shop, FIRST, 12)
    assert not refused(shop.reply(yes, YES))
    told = shop.reply(no, NO)
    assert refused(told)
    assert "said no" in reasons(told)
    for cents in (denied, denied + 1):  # for the whole session, whatever the sum
        assert "said no" in reasons(refund(shop, FIRST, cents))
    assert sums(shop) == [12]
    assert shop.server.close() is not None


@eras
@pytest.mark.parametrize("first", [0, 1])
def test_two_yeses_make_both_calls_where_the_next_question_is_the_last(
    era: str, first: int, tmp_path: Path
) -> None:
    shop = told_shop(tmp_path, era, max_questions=3)
    asked = [refund(shop, FIRST, 12), refund(shop, SECOND, 8)]
    for question in (asked[first], asked[1 - first]):
        assert not refused(shop.reply(question, YES))
    assert sorted(sums(shop)) == [8, 12]


@eras
@pytest.mark.parametrize("first", [0, 1])
def test_a_no_to_one_of_two_calls_leaves_the_yes_to_the_other(
    era: str, first: int, tmp_path: Path
) -> None:
    shop = told_shop(tmp_path, era, max_questions=9)
    told = [(refund(shop, FIRST, 12), NO), (refund(shop, SECOND, 8), YES)]
    for question, answer in (told[first], told[1 - first]):
        assert refused(shop.reply(question, answer)) == (answer == NO)
    assert sums(shop) == [8]
