"""In which folders the commands of a line run, and what they write there."""

import pytest

from tests.support.command_tables import SMALL_TABLE
from tests.support.shell_worlds import World

LINKS = {"/w/out": "/home/u/docs", "/w/doc": "/w/docs/x"}
WORLD = World(links=LINKS)


def written(line: str) -> set[str]:
    """Return the paths that a line writes, and what is not understood of it."""
    steps = WORLD.read(line, SMALL_TABLE).steps
    paths = {path for step in steps for path in step.values("path") if "write" in step.effect}
    return paths | {step.why for step in steps if step.effect == "unknown"}


@pytest.mark.parametrize(
    ("line", "paths"),
    [
        ("cd src && touch t", {"/w/src/t"}),
        ("cd src || touch t", {"/w/t"}),
        ("cd src; touch t", {"/w/src/t", "/w/t"}),
        ("cd src\ntouch t", {"/w/src/t", "/w/t"}),
        ("! cd src && touch t", {"/w/t"}),
        ("! cd src || touch t", {"/w/src/t"}),
        ("(cd src); touch t", {"/w/t"}),
        ("(cd src && touch t)", {"/w/src/t"}),
        ("{ cd src\n} && touch t", {"/w/src/t", "/w/t"}),
        ("cd src && cd .. && touch t", {"/w/t"}),
        ("cd src && cd /w/docs && touch t", {"/w/docs/t"}),
        ("cd src && true && touch t", {"/w/src/t"}),
        ("cd src && true || touch t", {"/w/src/t", "/w/t"}),
        ("cd src || cd docs && touch t", {"/w/src/t", "/w/docs/t"}),
        ("cd src || cd docs; touch t", {"/w/src/t", "/w/docs/t", "/w/t"}),
        ("cd src > t", {"/w/t"}),
        ("sh -c 'cd src'; touch t", {"/w/t"}),
        ("cd ~ && touch t", {"/home/u/t"}),
        ("cd -- src && touch t", {"/w/src/t"}),
        ("cd out && touch ../t", {"/home/u/t"}),
        ("cd out/.. && touch t", {"/w/t"}),
        ("touch out/../t", {"/home/u/t"}),
    ],
)
def test_a_command_runs_where_those_before_it_lead(line: str, paths: set[str]) -> None:
    assert written(line) == paths


@pytest.mark.parametrize("line", ["cd src | touch t", "touch t | cd src", "cd src & touch t"])
def test_a_cd_beside_other_commands_is_not_understood(line: str) -> None:
    assert written(line) == {
        "not understood: cd in the background, or in a pipe, where shells differ"
    }


@pytest.mark.parametrize(
    "line",
    [
        "ln -s ~/.ssh k && cat k/id_rsa",
        "ln -s ~/.bashrc k; touch k",
        "mv out k; touch k",
        "mv out k && touch k/t",
        "ln -s a k; touch ./*",
        "rm out && touch out/t",
        "tar xf a.tar -C src; touch src/t",
        "cp -a out k; touch k/t",
        "mv out k; touch src/../t",
        "mv out k; touch ./src/./../t",
        "ln -sf ~/.bashrc docs/x; touch doc",
        "tar xf a.tar -C docs; touch doc",
        "touch k/t & ln -s ~/.ssh k",
        "touch k/t | ln -s ~/.ssh k",
    ],
)
def test_a_path_through_what_may_be_a_link_now_is_not_understood(line: str) -> None:
    assert any("may have linked" in one or ".. after" in one for one in written(line))
