"""Which paths a word names, as the system walks them, and in which folders a command may run."""

import pytest

from critic.command.deeds import join_folders
from tests.support.command_tables import SMALL_TABLE
from tests.support.shell_worlds import World

LINKS = {"/w/l": "/home/u/d", "/w/build/l": "/w/src"}
WORLD = World(links=LINKS)


def named(line: str) -> tuple[str, ...]:
    """Return the paths of the only step of a line; nothing where it is not understood."""
    (step,) = WORLD.read(line, SMALL_TABLE).steps
    return step.values("path")


@pytest.mark.parametrize(
    ("word", "path"),
    [
        ("~/x", "/home/u/x"),
        *((word, "/w/~/x") for word in ('"~/x"', "'~'/x", "\\~/x", '"~"/x', "./~/x")),
        *((word, "/home/u/d") for word in ("l/", "l/.", "l/./", "./l/.", "l/x/..")),
        ("l/..", "/home/u"),
        ("l/x/.", "/home/u/d/x"),
        ("src/./../a", "/w/a"),
    ],
)
def test_a_word_that_is_read_names_what_the_system_opens(word: str, path: str) -> None:
    assert named(f"cat {word}") == (path,)


@pytest.mark.parametrize(
    ("word", "path"), [("l", "/w/l"), ("l/", "/home/u/d"), ("l/.", "/home/u/d"), ("./l", "/w/l")]
)
def test_a_link_in_the_last_place_is_itself_where_nothing_follows_it(word: str, path: str) -> None:
    assert named(f"rm -r {word}") == (path,)


@pytest.mark.parametrize(
    "pattern", ["*/..", "*/../x", "*/../../../etc/passwd", "src/*/x/../..", "a[b]/c/../*", "?/.."]
)
def test_dots_anywhere_behind_a_pattern_are_not_understood(pattern: str) -> None:
    """What the pattern finds may be a link."""
    assert named(f"cat {pattern}") == ()


def test_a_link_that_an_earlier_command_may_have_changed_is_not_understood() -> None:
    """Where it leads is none of what that command changed."""
    assert WORLD.read("tar xf a.tar; cat src/x", SMALL_TABLE).is_understood is False
    assert WORLD.read("tar xf a.tar -C build; cat src/x", SMALL_TABLE).is_understood
    assert WORLD.read("tar xf a.tar -C src; cat build/x", SMALL_TABLE).is_understood
    assert not WORLD.read("tar xf a.tar -C build; cat build/l/x", SMALL_TABLE).is_understood


def test_every_folder_of_several_sets_counts_once() -> None:
    a, b, c = ("/a",), ("/b",), ("/c", "/a")
    for sets, joined in (
        ((a,), a),
        ((a, a), a),
        ((a, b), (*a, *b)),
        ((a, b, a), (*a, *b)),
        ((a, b, c, a), ("/a", "/b", "/c")),
    ):
        assert join_folders(*sets) == joined


@pytest.mark.parametrize("quoted", ["'X=1'", '"X=1"', 'X"=1"', '"X"=1', "\\X=1", "X\\=1", "X'='1"])
def test_what_is_quoted_up_to_its_value_is_a_program_and_no_assignment(quoted: str) -> None:
    for assigned in ("X=1", "X='1'", "X=1 Y=2"):
        assert WORLD.read(f"{assigned} ls", SMALL_TABLE).is_understood
    assert not WORLD.read(f"{quoted} ls", SMALL_TABLE).is_understood
    assert not WORLD.read(f"Y=2 {quoted} ls", SMALL_TABLE).is_understood
