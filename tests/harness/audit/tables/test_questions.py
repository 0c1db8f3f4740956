"""The fifteen questions of the page have right answers: those of a reader that shares no code.

Two logs are drawn in each run, with other names, amounts and mixes. The commands are those of the
page, with the names of the log in the places of its own.
"""

import json
import random
import re
import shlex
import shutil
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.harness.audit.tables.drawn_logs import Names, write_drawn_log
from tests.harness.audit.tables.own_reader import (
    OwnTurn,
    approvals,
    counts,
    holds,
    money,
    read_log,
    stale_items,
    tier_of,
    used_approvals,
    week_of,
)
from tests.harness.console import Critic, Said
from tests.harness.log.decisions import meddle
from tests.support.paths import ROOT

pytest.importorskip("duckdb")

PAGE = (ROOT / ".github" / "docs" / "questions.md").read_text(encoding="utf-8")
SEED = random.randrange(2**32)  # noqa: S311
RED = "ran_although_refused"
Rows = list[dict[str, Any]]


class Drawn(NamedTuple):
    """A drawn log, its names, its turns as another reader has them, and how to ask it."""

    path: Path
    names: Names
    turns: list[OwnTurn]
    critic: Critic
    tables: Path

    def ask(self, number: int, at: int = 0, **places: str) -> Rows:
        """Return what the command of a question answers from the tables of the log."""
        return self.rows(self.tables, self.command(number, at, **places))

    def rows(self, place: Path, args: list[str]) -> Rows:
        said = self.critic("log", "query", place, *args[1:], "--format", "json")
        assert (said.status, said.warned) == (0, "")
        return [json.loads(line) for line in said.lines]

    def command(self, number: int, at: int = 0, **places: str) -> list[str]:
        """Return a command of a question after `critic log query`, with names of this log."""
        words = shlex.split(commands(number)[at])
        amount, text, cents = self.names.amounts
        names = {"'/amount'": f"'/{amount}'", "'/total'": f"'/{text}'", "'/cents'": f"'/{cents}'"}
        for old, new in {**names, **places}.items():
            words = [word.replace(old, new) for word in words]
        assert words[:3] == ["critic", "log", "query"]
        return words[3:]


@cache
def commands(number: int) -> list[str]:
    """Return the commands of a question of the page."""
    block = re.search(rf"^\*\*{number}\. .*?^```text\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert block, number
    return block[1].splitlines()


@cache
def _written(folder: Path, seed: int, sessions: int) -> tuple[Path, Names]:
    path = folder / f"drawn-{seed}.db"
    return path, write_drawn_log(path, seed, sessions)


_SLOW = [pytest.param(sessions, marks=pytest.mark.slow) for sessions in (23, 24)]


@pytest.fixture(params=[8, *_SLOW])
def drawn(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, critic: Critic
) -> Drawn:
    path, names = _written(tmp_path_factory.getbasetemp(), SEED + request.param, request.param)
    tables = path.with_suffix(".tables")
    assert critic("log", "export", path, "--to", "parquet", tables).status == 0
    print(f"seed {SEED + request.param}")  # noqa: T201 - for who repeats it
    return Drawn(path, names, read_log(path), critic, tables)


def test_a_log_gives_the_answers_of_its_tables(drawn: Drawn) -> None:
    for number in (1, 9):
        args = drawn.command(number)
        assert drawn.rows(drawn.path, args) == drawn.rows(drawn.tables, args)


def test_the_page_asks_fifteen_questions() -> None:
    assert [len(commands(number)) for number in range(1, 16)] == [
        *(1, 2, 1, 1, 1, 3, 1, 1, 1, 1),
        *(1, 2, 2, 2, 1),
    ]


def test_1_calls_that_moved_more_than_an_amount(drawn: Drawn) -> None:
    expected = []
    for turn in drawn.turns:
        made = {call["step"] for call in turn.made if not _strays(turn, call)}
        for at, step in enumerate(turn.plan["steps"]):
            unseen = turn.fate == "open" or turn.settled in ("ran", "unknown")
            may_have_run = at in made or (unseen and not made)
            if may_have_run and turn.when[:7] == "2026-05" and _moved(drawn, step["args"]) > 1000:
                expected.append((turn.seq, f"{step['adapter_id']}/{step['capability_id']}"))
        for call in turn.made:
            if _strays(turn, call) and turn.when[:7] == "2026-05":
                over = _moved(drawn, call["args"]) > 1000
                named = f"{call['adapter_id']}/{call['capability_id']}"
                expected += [(turn.seq, named)] if over else []
    assert sorted((row["seq"], row["tool"]) for row in drawn.ask(1)) == sorted(expected)


def _strays(turn: OwnTurn, call: dict[str, Any]) -> bool:
    return bool(turn.plan["steps"][call["step"]]["args"] != call["args"])


def _moved(drawn: Drawn, args: dict[str, Any]) -> float:
    found = [
        money(args[name], cents=name == drawn.names.amounts[2])
        for name in drawn.names.amounts
        if name in args
    ]
    return found[0] if found else 0.0


def test_2_who_approved_what(drawn: Drawn) -> None:
    expected = []
    for turn in drawn.turns:
        given = [(one.get("approver"), one["answer"]) for one in turn.answers]
        given += [(who, "yes") for who in approvals(turn).values() if (who, "yes") not in given]
        if not given and any(one["action"] == "ask" for one in turn.records):
            given = [(None, None)]
        expected += [
            (turn.seq, who, answer, tool) for who, answer in given for tool in _every_tool(turn)
        ]
    asked = [(row["seq"], row["approver"], row["answer"], row["tool"]) for row in drawn.ask(2)]
    assert sorted(asked, key=str) == sorted(expected, key=str)
    uses = [(turn.digest, one) for turn in drawn.turns for one in used_approvals(turn)]
    used = sum(row["used"] for row in _each_answer(drawn.ask(2)))
    assert (drawn.ask(2, 1), used) == ([], len(uses))


def _every_tool(turn: OwnTurn) -> list[str]:
    stray = [
        f"{call['adapter_id']}/{call['capability_id']}" for call in turn.made if _strays(turn, call)
    ]
    return turn.tools + stray


def _each_answer(rows: Rows) -> Rows:
    return [*{(row["seq"], row["approver"], row["answer"]): row for row in rows}.values()]


def test_3_refusals_that_were_overridden(drawn: Drawn) -> None:
    expected = [
        (turn.seq, who)
        for turn in drawn.turns
        if any(one["action"] == "allow" for one in turn.records)
        for who in approvals(turn).values()
    ]
    assert [(row["seq"], row["approver"]) for row in drawn.ask(3)] == expected


def test_4_turns_that_used_an_item(drawn: Drawn) -> None:
    for session in sorted({turn.session for turn in drawn.turns if turn.session})[:6]:
        expected = [turn.seq for turn in drawn.turns if turn.session == session and _uses(turn)]
        assert [row["seq"] for row in drawn.ask(4, SESSION=session)] == expected, session


def _uses(turn: OwnTurn, name: str = "call/1") -> bool:
    pinned = any(name in step.get("evidence_refs", []) for step in turn.plan["steps"])
    items = turn.compiled["manifests"]["evidence_manifest"]
    return pinned or any(holds(turn, item) for item in items if item["id"] == name)


def test_5_what_would_be_refused_that_was_let_through(drawn: Drawn) -> None:
    words = shlex.split(commands(5)[0])[1:]
    said = drawn.critic(
        *(str(drawn.path) if one == "LOG" else one for one in words), "--format", "json"
    )
    assert said.warned == ""
    told = [json.loads(line) for line in said.lines]
    found = {
        record["seq"]
        for one in told
        if one.get("change") == "tighter" and one["before"]["ok"] and not one["after"]["ok"]
        for record in one["records"][:1]
    }
    expected = {
        next(one["seq"] for one in turn.records if "report" in one)
        for turn in drawn.turns
        if [one["report"]["verify"]["ok"] for one in turn.records if "report" in one][-1]
        and any(tier_of(turn, step) != "read_only" for step in turn.plan["steps"])
    }
    assert found == expected


@pytest.mark.slow
def test_6_all_of_a_session_a_user_and_a_tenant(drawn: Drawn) -> None:
    for session in sorted({turn.session for turn in drawn.turns if turn.session})[:6]:
        own = [turn for turn in drawn.turns if turn.session == session]
        rows = drawn.ask(6, SESSION=session)
        assert [(row["seq"], row["fate"]) for row in rows] == [(one.seq, one.fate) for one in own]
    for at, what in ((1, "user"), (2, "tenant")):
        for name in (*drawn.names.users, *drawn.names.tenants):
            own = [turn for turn in drawn.turns if turn.contexts[0].get(f"{what}_id") == name]
            rows = drawn.ask(6, at, **{what.upper(): name})
            assert [(one["seq"], one["trace"]) for one in rows] == [(t.seq, t.trace) for t in own]
            said = drawn.critic("log", "list", drawn.path, f"--{what}", name, "--format", "json")
            listed = [json.loads(line)["seq"] for line in said.lines]  # the worst come first
            assert sorted(listed) == [one.seq for one in own]


@pytest.mark.parametrize("number", [7, 8])
def test_7_and_8_what_ran_although_refused_and_what_has_no_end(drawn: Drawn, number: int) -> None:
    words = shlex.split(commands(number)[0])[1:]
    said = drawn.critic(*(str(drawn.path) if one == "LOG" else one for one in words))
    fates = [one for before, one in pairwise(words) if before == "--fate"]
    expected = sorted(turn.seq for turn in drawn.turns if turn.fate in fates)
    rows = [line for line in said.lines if re.match(r" *\d+  ", line)]
    assert sorted(int(line.split()[0]) for line in rows) == expected
    red = any(turn.fate == "ran_although_refused" for turn in drawn.turns)
    assert said.status == (1 if red and number == 7 else 0)


def test_9_turns_on_expired_evidence(drawn: Drawn) -> None:
    expected = [(turn.seq, item) for turn in drawn.turns for item in sorted(stale_items(turn))]
    assert [(row["seq"], row["item"]) for row in drawn.ask(9)] == expected


def test_10_the_share_that_was_refused(drawn: Drawn) -> None:
    def refused(turn: OwnTurn) -> bool:
        return turn.fate in ("refused", "asked_no")

    def pairs() -> Iterator[tuple[tuple[str, str], bool]]:
        for turn in drawn.turns:
            for tool in {*turn.tools}:
                yield (week_of(turn), tool), refused(turn)

    rows = drawn.ask(10)
    found = {(row["week"], row["tool"]): (row["turns"], row["refused"]) for row in rows}
    assert found == counts(pairs())
    assert len(found) == len(rows)


def _pays(turn: OwnTurn) -> bool:
    return any("iban" in step["args"] for step in turn.plan["steps"])


def test_11_to_13_and_15_what_is_shown_to_others(drawn: Drawn, tmp_path: Path) -> None:
    log = Path(shutil.copy(drawn.path, tmp_path / "log.db"))
    turn = next(one for one in drawn.turns if one.session and _pays(one))
    key, seq, account = tmp_path / "KEY", turn.seq, turn.plan["steps"][0]["args"]
    value = next(step["args"]["iban"] for step in turn.plan["steps"] if "iban" in step["args"])
    assert drawn.critic("log", "key", "--new", key).status == 0
    signing = ("log", "checkpoint", log, "--key", key, "--origin", "example.com/audit")
    signed = drawn.critic(*signing)
    (tmp_path / "CHECKPOINT").write_text(signed.out)

    def run(number: int, at: int = 0) -> Said:
        names = {"LOG": str(log), "RECORD": str(seq), "VALUE": value}
        files = ("CHECKPOINT", "KEY.pub", "PROOF", "NEW", "PAGE.html")
        names |= {name: str(tmp_path / name) for name in files}
        return drawn.critic(*(names.get(one, one) for one in shlex.split(commands(number)[at])[1:]))

    assert run(11).status == 0
    proof = run(12)
    (tmp_path / "PROOF").write_text(proof.out)
    told = run(12, 1)
    assert (proof.status, told.status) == (0, 0)
    assert all(str(value) in told.out for value in account.values())
    assert (run(13).status, run(13, 1).status) == (0, 0)
    assert value.encode() in log.read_bytes()
    assert value.encode() not in (tmp_path / "NEW").read_bytes()
    assert run(15).status == (1 if any(one.fate == RED for one in drawn.turns) else 0)
    assert str(turn.session) in (tmp_path / "PAGE.html").read_text(encoding="utf-8")
    meddle(log, ("DELETE FROM records WHERE seq = ?", (seq,)))
    assert run(11).status == 1


def test_14_the_shares_of_two_logs(drawn: Drawn) -> None:
    rows, fates = drawn.ask(14, 1), [turn.fate for turn in drawn.turns]
    assert {row["fate"]: row["turns"] for row in rows} == {one: fates.count(one) for one in fates}
    for row in rows:
        assert row["share"] == pytest.approx(100 * fates.count(row["fate"]) / len(fates))
