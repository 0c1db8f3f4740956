import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from critic.command.command_table import ProgramEntry
from critic.command.path_effects import TIERS
from critic.command.steps import read_steps
from tests.support.command_tables import SMALL_TABLE
from tests.support.effort import examples
from tests.support.shell_lines import any_texts
from tests.support.shell_worlds import World

WORLD = World(links={"/w/out": "/home/u/docs"})
WORDS = sorted(
    {
        *SMALL_TABLE.entries,
        *(sub for subs in SMALL_TABLE.entries.values() for sub in subs if "/" not in sub),
        *(option for entry in SMALL_TABLE.command for option in entry.options),
        *("a.py", "src", ".env", "~", "$HOME/x", "*.py", "**", "..", "/", "/etc/passwd", "out/x"),
        *("-", "--", "''", '"$X"', "$X", '"$(cat .env)"', "s/a/b/", "{}", "\\;", "+", "x=1"),
        *("&&", "||", ";", "|", "&", "(", ")", ">", "<", "2>&1", ">>", "<<<", "!", "http://h/x"),
        *("HEAD:.env", "origin", "test", "-c", "'rm x'", "@x", ".git/x", "http://localhost/$X"),
    }
)
lines = st.one_of(
    any_texts,
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join),
)


@settings(max_examples=examples(4000))
@given(lines)
def test_any_text_has_steps(text: str) -> None:
    read = WORLD.read(text, SMALL_TABLE)
    assert read.steps
    assert not read.needs
    for number, step in enumerate(read.steps):
        assert step.why.isascii() or "—" in step.why
        assert "\n" not in step.why
        assert set(step.carries) <= set(range(len(read.steps)))
        assert step.tier == TIERS[step.effect] or (step.effect, step.tier) == (
            "delete",
            "local_write",
        )
        if step.effect == "unknown":
            assert (number, len(read.steps), step.tier) == (0, 1, "destructive")
            assert step.values("command") == (text,)


@settings(max_examples=examples(1000))
@given(lines)
def test_a_line_is_not_understood_before_its_facts_are_known(text: str) -> None:
    facts = WORLD.facts()
    first = read_steps(text, facts, SMALL_TABLE)
    if first.needs:
        assert [step.effect for step in first.steps] == ["unknown"]
    else:
        assert first == read_steps(text, WORLD.answer(first.needs, facts), SMALL_TABLE)


@settings(max_examples=examples(1000))
@given(lines)
def test_without_a_shell_a_line_is_read_as_all_agree(text: str) -> None:
    agreed = WORLD.read(text, SMALL_TABLE, shell=None)
    if agreed.is_understood:
        for shell in ("bash", "dash", "zsh"):
            assert WORLD.read(text, SMALL_TABLE, shell=shell) == agreed


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "\x00", "ls \x00", "\ud800", "ls \udcff", "(" * 10_000, "$(" * 10_000),
        *("a" * 1_000_000, "cat " + "../" * 5_000, "cat " + "a/" * 5_000, "ls " + "{a,b}" * 3),
        *("[" * 16_000, "sed " + "'" + "s/a/b/;" * 2_000 + "w x'", "nice " * 3_000 + "evil"),
        *("find . " + "-name x " * 1_900 + "-fprint y", "bash -c " * 20 + "ls", "cd x;" * 201),
    ],
)
def test_hostile_texts_are_one_step_that_is_not_understood(text: str) -> None:
    (step,) = WORLD.read(text, SMALL_TABLE).steps
    assert (step.effect, step.tier) == ("unknown", "destructive")


@pytest.mark.parametrize(
    "text",
    [
        *(
            "cat " + "*a" * 8_000,
            "cat " + "[" * 8_000,
            "cat " + "a " * 8_000,
            "cat <x" + " <y" * 5_000,
        ),
        *(
            "echo x >y;" * 190,
            "cat 'x' | " * 190 + "curl http://h/$X",
            "X=$X; " * 199 + 'echo "$X"',
        ),
    ],
)
def test_long_texts_have_steps(text: str) -> None:
    assert WORLD.read(text, SMALL_TABLE).steps


OPTIONS_OF = [
    (name, entry)
    for name, subs in SMALL_TABLE.entries.items()
    for entry in subs.values()
    if not entry.free and entry.opts
]


@pytest.mark.parametrize(("name", "entry"), OPTIONS_OF)
def test_an_option_that_is_not_in_the_table_is_not_understood(
    name: str, entry: ProgramEntry
) -> None:
    for option in ("--not-there", "--not-there=x", "-\u00e9", "--rec"):
        line = f"{name} {entry.sub.split()[0].replace('/', ' ') if entry.sub else ''} {option} x y"
        (step,) = WORLD.read(line, SMALL_TABLE).steps
        assert step.effect == "unknown", line
