import tomllib

import pytest
from pydantic import ValidationError

from critic.command.command_table import CommandTable, ProgramEntry
from tests.support.command_tables import SMALL_TABLE
from tests.support.paths import ROOT

SMALL = ROOT / "tests" / "support" / "commands.toml"


def test_the_small_table_is_read() -> None:
    assert CommandTable.model_validate(tomllib.loads(SMALL.read_text("utf-8"))) == SMALL_TABLE
    grep = SMALL_TABLE.entries["grep"][""]
    assert grep.options["-e"].kind == "text"
    assert grep.options["-e"].marks == {"script"}
    assert grep.options["-n"].kind is None
    assert grep.options["--color"].kind == "?"
    assert [grep.operands.kind_of(place) for place in range(3)] == ["text", "read", "read"]


def test_a_program_has_entries_by_subcommand() -> None:
    assert {"", "ps", "compose/ps"} <= SMALL_TABLE.entries["docker"].keys()


def test_the_last_operand_may_repeat_or_be_missing() -> None:
    one, many = ProgramEntry(names="x", args="read"), ProgramEntry(names="x", args="text read+")
    assert (one.operands.kind_of(1), one.operands.needed) == (None, True)
    assert (many.operands.kind_of(5), many.operands.needed) == ("read", True)
    assert not ProgramEntry(names="x", args="read*").operands.needed


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"names": " "}, "no program"),
        ({"names": "x", "opts": "n"}, "n is no option"),
        ({"names": "x", "opts": "-n=size"}, "-n=size: no kind is called size"),
        ({"names": "x", "opts": "-n!maybe"}, "-n!maybe: no mark is called maybe"),
        ({"names": "x", "opts": "-n -n"}, "lists -n twice"),
        ({"names": "x", "args": "read* text"}, "the last one"),
        ({"names": "x", "args": "file"}, "no kind is called file"),
        ({"names": "x", "effect": "run"}, "the words of run"),
        ({"names": "x", "run": "test"}, "the words of run"),
        ({"names": "x", "reader": "perl"}, "find"),
        ({"names": "x", "tier": "read_only"}, "not permitted"),
    ],
)
def test_an_entry_says_what_is_wrong_with_it(fields: dict[str, str], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        ProgramEntry.model_validate(fields)


def test_a_program_has_one_entry() -> None:
    twice = (ProgramEntry(names="a b", sub="x"), ProgramEntry(names="b", sub="y x"))
    with pytest.raises(ValidationError, match="two entries for b x"):
        CommandTable(command=twice, variables=SMALL_TABLE.variables, places=SMALL_TABLE.places)
