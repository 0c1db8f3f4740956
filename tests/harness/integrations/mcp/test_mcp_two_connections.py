"""Two connections of one guarded server: each is told what it is told alone."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from copy import copy
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.integrations.mcp.mcp_asking import RepeatedRequests
from harness.integrations.mcp.mcp_filter import McpFilter
from harness.integrations.mcp.mcp_replies import RULING
from tests.harness.integrations.mcp.mcp_shop import ERAS, YES, Json, Shop, shop_policy
from tests.support.effort import examples, sampled

Step = tuple[str, Any]

NO: Final[Json] = {"action": "decline"}
OURS: Final = re.compile(r"critic-[0-9a-f]{16}")
MET: Counter[str] = Counter()

STEPS: Final = st.lists(
    st.one_of(
        st.tuples(st.just("look"), st.integers(1, 2)),
        st.tuples(st.just("pay"), st.integers(1, 2)),
        st.tuples(st.just("pay"), st.integers(1, 2)),
        st.tuples(st.just("drop"), st.none()),
        st.tuples(st.just("reply"), st.sampled_from([YES, YES, NO])),
        st.tuples(st.just("reply"), st.sampled_from([YES, YES, NO])),
        st.tuples(st.just("cancel"), st.none()),
        st.tuples(st.just("repeat"), st.none()),
    ),
    min_size=2,
    max_size=7,
)


class Connection:
    """Makes the steps of one connection. Its orders are its own; its ids are those of both."""

    def __init__(self, shop: Shop, name: str) -> None:
        self.shop, self.name = shop, name
        self.told: list[Any] = []
        self.asked: list[Json] = []
        self.answered: list[tuple[Json, Json]] = []

    def make(self, step: Step) -> None:
        kind, what = step
        made: Any = getattr(self, kind)(what)
        self.told.append((kind, self.without_names(made)))
        MET[kind] += made is not None

    def look(self, order: int) -> Json:
        return self.shop.call("lookup", order_id=f"{self.name}{order}")

    def pay(self, cents: int) -> Json:
        told = self.shop.call("issue_refund", order_id=self.name, cents=cents)
        if told.get("method") or "inputRequests" in told.get("result", {}):
            self.asked.append(told)
            MET["asked"] += 1
        return told

    def drop(self, _: None) -> Json:
        return self.shop.call("mystery", order_id=self.name)

    def reply(self, answer: Json) -> Json | None:
        if not self.asked:
            return None
        question = self.asked.pop()
        self.answered.append((question, answer))
        return self.shop.reply(question, answer)

    def repeat(self, _: None) -> Any:
        """Answer once more what was answered: it makes no call."""
        if not self.answered or self.shop.era == "legacy":
            return None
        return self.shop.reply(*self.answered[-1])

    def cancel(self, _: None) -> Any:
        if not self.asked or self.shop.era != "legacy":
            return None
        self.asked.pop()
        about = self.shop.asked[-1]["id"]
        note = {"jsonrpc": "2.0", "method": "notifications/cancelled"}
        return self.shop.send({**note, "params": {"requestId": about}})

    def without_names(self, told: Any) -> Any:
        """Return what was told without names that are drawn each time, and turns of the session."""
        if isinstance(told, dict) and RULING in told.get("result", {}).get("_meta", {}):
            kept = {**told["result"], "_meta": None}
            told = {**told, "result": kept}
        text = OURS.sub("critic", json.dumps(told))
        text = re.sub(r"in turn [0-9]+", "in a turn", text)
        return re.sub(r'"requestState": "[^"]*"', '"requestState": ""', text)


def connections(folder: Path, era: str) -> tuple[Connection, Connection]:
    first = Shop(folder, shop_policy(max_questions=99), era=era)
    second = copy(first)
    kept = RepeatedRequests()
    for shop in (first, second):
        shop.filter = McpFilter(first.server, kept)
        shop.heard, shop.told, shop.asked, shop._ids = [], [], [], 0
        if era == "legacy":
            shop.ask("initialize", protocolVersion="2025-11-25", capabilities=shop.capabilities)
    return Connection(first, "A"), Connection(second, "B")


def play(era: str, both: tuple[Sequence[Step], Sequence[Step]], order: Sequence[bool]) -> list[Any]:
    """Return what each connection was told, and what ran for it."""
    with TemporaryDirectory() as folder:
        pair = connections(Path(folder), era)
        left = [[*reversed(steps)] for steps in both]
        for at in [*order, *[False, True] * 7]:
            if left[at]:
                pair[at].make(left[at].pop())
        return [(one.told, one.shop.ran) for one in pair]


@pytest.mark.slow
@pytest.mark.parametrize("era", sampled(ERAS, one_in=2))
def test_two_connections_that_take_turns_are_each_told_what_they_are_alone(era: str) -> None:
    """Their requests have equal ids: open requests, questions and states are those of each."""

    @settings(
        max_examples=max(40, examples(150)),
        derandomize=examples(100) < 100,
        suppress_health_check=[HealthCheck.too_slow],
        deadline=None,
    )
    @given(st.tuples(STEPS, STEPS), st.lists(st.booleans(), max_size=14))
    def check(both: tuple[list[Step], list[Step]], order: list[bool]) -> None:
        among = play(era, both, order)
        assert among[0] == play(era, (both[0], []), order)[0]
        assert among[1] == play(era, ([], both[1]), order)[1]

    MET.clear()
    check()
    kinds = ("look", "pay", "drop", "reply", "asked", "cancel" if era == "legacy" else "repeat")
    assert min(MET[kind] for kind in kinds) >= 5, MET
