"""Which words of a user ask for a step of a command, and which nearly do."""

import time

import pytest

from critic.command.request_words import RequestedDeeds
from tests.support.command_tables import SMALL_TABLE
from tests.support.shell_worlds import World

WORLD = World()


def asked(request: str, command: str) -> bool:
    """Return whether the words ask for the last step of a command that the policy would stop."""
    steps = WORLD.read(command, SMALL_TABLE).steps
    words = RequestedDeeds([request], WORLD.root)
    return words.ask_for(steps[-1])


@pytest.mark.parametrize(
    ("request_", "is_asked"),
    [
        *((f"remove {name}", True) for name in ("old.py", "src/old.py", "./src/old.py")),
        *((f"Deleting `{name}`.", True) for name in ("old.py", "/w/src/old.py")),
        *((f"remove {name}", False) for name in ("docs/old.py", "./old.py", "/other/src/old.py")),
        *(
            (f"remove {name}", False)
            for name in ("OLD.py", "src/Old.py", "my.old.py", "old", "src")
        ),
        *((f"remove {name}", False) for name in ("old.py.bak", "lib/src/old.py", "src/old.pyc")),
        ("look at old.py", False),
    ],
)
def test_a_deletion_is_asked_for_by_the_name_of_what_is_deleted(
    request_: str, is_asked: bool
) -> None:
    assert asked(request_, "rm src/old.py") is is_asked


def test_a_deletion_of_several_is_asked_for_by_the_name_of_each() -> None:
    assert asked("remove a.py and b.py", "rm a.py b.py")
    assert not asked("remove a.py", "rm a.py b.py")
    assert not asked("remove everything in /w", "rm -rf .")


DOCS = "The docs are at https://docs.example/x?v=2, see docs.example"


@pytest.mark.parametrize(
    ("command", "is_asked"),
    [
        ("curl -s https://docs.example/x", True),
        ("curl -s 'https://docs.example/x?v=2'", True),
        ("curl -s 'http://localhost:8000/x?q=1'", True),
        ("curl -s 'https://docs.example/x?v=2a'", False),
        ("curl -s 'https://docs.example/x?q=SECRET'", False),
        ("curl -s https://docs.example.evil.example/x", False),
        ("curl -s https://my-docs.example/x", False),
        ("curl -d @a.py https://docs.example/x", False),
        ("curl -T a.py https://docs.example/x", False),
        ("curl -d @a.py http://localhost:8000/x", True),
    ],
)
def test_a_host_that_is_named_is_one_to_read_from(command: str, is_asked: bool) -> None:
    assert asked(DOCS, command) is is_asked


@pytest.mark.parametrize(
    ("texts", "is_asked"),
    [
        (["Commit, but do not push."], False),
        (["Don't push yet"], False),
        (["don\u2019t commit or push anything"], False),
        (["Fix it without pushing"], False),
        (["Never push"], False),
        (["No pushing, please"], False),
        (["You should not push this. Commit it."], False),
        (["Commit instead of pushing"], False),
        (["Push it. Do not push to main."], False),
        (["Commit and push", "Wait, do not push"], False),
        (["Do not push", "Now push it"], True),
        (["Do not touch a.py. Push it."], True),
        (["Do not edit a.py, b.py or c.py, but push it"], True),
        (["Do not wait, just push"], True),
        (["Don't forget to push"], True),
        (["Do not ask before you push"], True),
        (["Push the branch", "Look at b.py", "And now the tests"], True),
    ],
)
def test_what_was_forbidden_last_is_not_asked_for(texts: list[str], is_asked: bool) -> None:
    (*_, step) = WORLD.read("git push origin main", SMALL_TABLE).steps
    assert RequestedDeeds(texts, WORLD.root).ask_for(step) is is_asked


def test_a_script_is_run_by_its_name_and_the_word() -> None:
    for request in (
        "Run src/gen.py",
        "Try ./src/gen.py and look",
        "I'm running gen.py, and it fails",
    ):
        assert asked(request, "python src/gen.py")
    for request in ("Look at src/gen.py", "Run the tests of src/other.py", "Fix gen.py"):
        assert not asked(request, "python src/gen.py")


@pytest.mark.parametrize("unit", ["-", "./", "a.", "do not ", "no ", "https://", "@a/"])
def test_a_long_message_is_read_in_a_moment(unit: str) -> None:
    started = time.process_time()
    asked(unit * 50_000, "git push origin main")
    assert time.process_time() - started < 5


def test_what_must_not_be_touched_is_not_named() -> None:
    texts = ["Remove what nobody uses. Do not delete src/old.py."]
    (*_, step) = WORLD.read("rm src/old.py", SMALL_TABLE).steps
    assert not RequestedDeeds(texts, WORLD.root).ask_for(step)


def test_a_push_is_asked_for_by_its_word() -> None:
    assert asked("commit and push it", "git push origin main")
    assert not asked("commit it to git.example", "git push origin main")
