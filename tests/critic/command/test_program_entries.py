"""What an entry of a table may say, and what a person is told of one that says it wrongly."""

from typing import get_args

import pytest
from pydantic import ValidationError

from critic.command.command_table import ArgumentKind, OptionMark, ProgramEntry


def fault(**fields: object) -> tuple[tuple[str | int, ...], str]:
    with pytest.raises(ValidationError) as caught:
        ProgramEntry.model_validate({"names": "x", **fields})
    (error,) = caught.value.errors()
    return error["loc"], error["msg"]


@pytest.mark.parametrize("kind", get_args(ArgumentKind))
def test_every_kind_is_one_of_options_and_of_operands(kind: str) -> None:
    entry = ProgramEntry(names="x", opts=f"-n={kind}", args=f"{kind}*", effect="run", run="x")
    assert (entry.options["-n"].kind, entry.operands.kinds) == (kind, (kind,))


@pytest.mark.parametrize("mark", get_args(OptionMark))
def test_every_mark_is_one_of_an_option(mark: str) -> None:
    assert ProgramEntry(names="x", opts=f"-n!{mark}").options["-n"].marks == {mark}


def test_an_unknown_word_is_named_with_its_place_and_the_nearest_one() -> None:
    place, said = fault(opts="-v -o=writ")
    assert place == ("opts",)
    assert said.startswith("opts: -o=writ: no kind is called writ: did you mean write? known are")
    place, said = fault(opts="-o!discarded")
    assert said.startswith("opts: -o!discarded: no mark is called discarded: did you mean discard?")
    place, said = fault(args="text reed*")
    assert place == ("args",)
    assert said.startswith("args: text reed*: no kind is called reed: did you mean read?")


@pytest.mark.parametrize("opts", ["-n -no", "-n=text -nv", "-nv? -v -n", "-no=write -n!need"])
def test_an_option_that_is_also_a_letter_with_more_behind_it_hides_it(opts: str) -> None:
    _, said = fault(opts=opts)
    assert 'hides -n: leave one out, or write dashes = "one"' in said
    assert ProgramEntry(names="x", opts=opts, dashes="one").options


@pytest.mark.parametrize(
    ("before", "told"),
    [("-n -no", "before: -no hides -n: leave one out"), ("-o=writ", "opts: -o=writ: no kind")],
)
def test_options_before_a_subcommand_are_checked_alike(before: str, told: str) -> None:
    assert fault(before=before)[1].startswith(told)
    assert ProgramEntry(names="x", before="-n=text").entry_before


def test_long_options_and_those_with_a_sign_hide_nothing() -> None:
    assert ProgramEntry(names="x", opts="-n --no --n +no -vo -o").options
