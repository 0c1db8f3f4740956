"""What is listed of a log that is too large to be compared, and what a head or checkpoint does."""

import json
from pathlib import Path

import pytest

from harness.commands.log import checked_rows
from tests.harness.commands.log.proving import ORIGIN, Signed, signed_log
from tests.harness.console import Critic, Said
from tests.harness.log.decisions import filled, meddle, query

READING = (
    ("log", "list", "LOG"),
    ("log", "stats", "LOG"),
    ("log", "show", "LOG", "2"),
    ("log", "export", "LOG", "--to", "opa", "-o", "-"),
    ("log", "verify", "LOG"),
    ("replay", "LOG"),
    ("report", "LOG", "-o", "OUT"),
    ("what-if", "LOG", "--safety-mode", "destructive"),
    ("gate", "LOG", "LOG", "--min-runs", "1"),
)


@pytest.fixture
def signed(critic: Critic, tmp_path: Path) -> Signed:
    return signed_log(critic, tmp_path)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take a log of more than two records for a large one."""
    monkeypatch.setattr(checked_rows, "FEW", 2)
    monkeypatch.setattr(checked_rows, "_PAGE", 2)


def ask(signed: Signed, command: tuple[str, ...], *more: str | Path) -> Said:
    places = {"LOG": signed.log, "OUT": signed.log.with_name("out")}
    return signed.critic(*[places.get(one, one) for one in command], *more)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("command", READING, ids=" ".join)
def test_each_prints_the_head_that_it_read(signed: Signed, command: tuple[str, ...]) -> None:
    ((own,),) = query(signed.log, "SELECT hash FROM records WHERE seq = 8")
    said = ask(signed, command)
    assert f"head 8:{own}" in said.out + said.err
    signed.grow(1)
    with_old = ask(signed, command, "--head", f"8:{own}")
    assert "head 9:" in with_old.out + with_old.err, "a log may grow"
    assert with_old.status == said.status


# Without a change between its sides the gate is `inconclusive` in any case: the next test asks it.
@pytest.mark.one_in(4)
@pytest.mark.parametrize("command", [one for one in READING if one[0] != "gate"], ids=" ".join)
def test_each_refuses_a_log_that_is_another_than_known(
    signed: Signed, command: tuple[str, ...]
) -> None:
    other = signed.log.with_name("other.db")
    filled(other, 9, kinds=("partial",)).close()
    key = ("--public-key", signed.public)
    head = signed.critic("log", "verify", other).lines[-1].removeprefix("head ")
    checkpoint = signed.sign("other.checkpoint", "--origin", ORIGIN, log=other)
    wrong = f"{head.partition(':')[0].replace('9', '8')}:{head.partition(':')[2]}"
    for more in (("--head", head), ("--head", wrong), ("--checkpoint", checkpoint, *key)):
        said = ask(signed, command, *more)
        assert said.status == 1, said
        words = ("truncated", "rewritten", "exchanged", "record 9 is missing")
        assert any(one in said.out + said.err for one in words), said
    needs_key = ask(signed, command, "--checkpoint", signed.checkpoint)
    assert (needs_key.status, "--public-key" in needs_key.err) == (2, True)
    alone = ask(signed, command, *key)
    assert (alone.status, "name it with" in alone.err) == (2, True)
    for text in ("x", "8", "8:x", "08:" + "0" * 64):
        assert ask(signed, command, "--head", text).status == 2


def test_the_gate_compares_each_side_with_what_is_known_of_it(signed: Signed) -> None:
    gate = ("gate", "LOG", "LOG", "--min-runs", "1", "--format", "json")
    ((own,),) = query(signed.log, "SELECT hash FROM records WHERE seq = 8")
    wrong = f"8:{'0' * 64}"
    sound = json.loads(ask(signed, gate, "--head", f"8:{own}", "--baseline-head", f"8:{own}").out)
    assert sound["heads"] == {"baseline": f"8:{own}", "candidate": f"8:{own}"}
    for option in ("--head", "--baseline-head"):
        said = ask(signed, gate, option, wrong)
        assert said.status == 3
        assert said.err.count("history was rewritten") == 1
        unread = [one for one in json.loads(said.out)["checks"] if one["check"] == "records"]
        assert [one["status"] for one in unread] == ["inconclusive"]


@pytest.mark.usefixtures("few")
def test_what_is_listed_of_a_large_log_is_read_from_its_first_records(signed: Signed) -> None:
    listed = signed.critic("log", "list", signed.log)
    assert listed.status == 0
    assert listed.lines[-2].startswith("index not checked, but for the first 2 records here: ")
    assert len(listed.lines) == 10
    stats = signed.critic("log", "stats", signed.log)
    assert stats.lines[-2].startswith("index not checked: `critic log verify`")
    told = signed.critic("log", "list", signed.log, "--format", "json")
    assert "critic: index not checked" in told.err
    assert len(told.lines) == 8
    meddle(signed.log, ("UPDATE record_index SET status = 'begun' WHERE seq IN (1, 7)", ()))
    said = signed.critic("log", "list", signed.log)
    assert said.status == 1
    assert "record 1: the index says status begun" in said.err
    assert "record 7" not in said.err, "it was not compared, and that is said"
    assert said.lines[0] == listed.lines[0], "as the record says it"


def test_the_index_of_a_small_log_is_compared_whatever_is_asked_for(signed: Signed) -> None:
    meddle(signed.log, ("UPDATE record_index SET status = 'partial' WHERE seq = 2", ()))
    meddle(signed.log, ("UPDATE record_index SET status = 'completed' WHERE seq = 1", ()))
    for command in ("list", "stats"):
        said = signed.critic("log", command, signed.log, "--status", "refused_by_critic")
        assert said.status == 1
        assert "record 1: the index says status completed, the record" in said.err
    said = signed.check(signed.log)
    assert said.status == 1
    assert any("the index says status completed" in line for line in said.lines)
