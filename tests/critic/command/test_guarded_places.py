"""Files of the guard itself, wherever they are: no command writes, moves or removes them."""

from dataclasses import dataclass, field

import pytest

from critic.command.shell_facts import ShellFacts, ShellName
from tests.harness.policy.test_common_lines import TABLE
from tests.support.shell_worlds import World

GUARDED = ("/w/conf/Guard.toml", "/w/conf/state", "/tmp/audit.db")  # noqa: S108 - only compared


@dataclass(frozen=True)
class GuardedWorld(World):
    """A world whose guard has its files in the project."""

    links: dict[str, str] = field(default_factory=lambda: {"/w/out": "/w/conf"})

    def facts(self, cwd: str = "/w", shell: ShellName | None = "bash") -> ShellFacts:
        """Return the facts that are known before anything is asked."""
        return super().facts(cwd, shell).model_copy(update={"guarded": GUARDED})


def effects(line: str, world: World) -> set[str]:
    return {step.effect for step in world.read(line, TABLE).steps}


REFUSED = [
    "echo x > conf/Guard.toml",
    "echo x > conf/guard.TOML",
    "echo x > out/Guard.toml",
    "cd conf && sed -i s/ask/allow/ Guard.toml",
    "cp a.py conf/state/x.json",
    "touch conf/state",
    "rm /tmp/audit.db",
    "rm -rf conf",
    "rm -rf out/",
    "rm conf/*.toml",
    "rm -rf conf/*",
    "rm -rf ./*/state",
    "find . -name 'Guard*' -delete",
    "mv conf/Guard.toml x",
]


@pytest.mark.parametrize("line", REFUSED)
def test_no_command_writes_or_removes_a_file_of_the_guard(line: str) -> None:
    assert "write_protected" in effects(line, GuardedWorld())
    assert "write_protected" not in effects(line, World(links={"/w/out": "/w/conf"}))


@pytest.mark.parametrize(
    "line",
    [
        *("echo x > {}", "echo x >> ./{}", "echo x | tee {}", "sed -i s/a/b/ {}", "touch {}"),
        *("cp a.py {}", "mv a.py {}", "sort -o {} a.py", "truncate -s 0 {}", "chmod 600 {}"),
        "cd src && echo x > ../{}",
    ],
)
@pytest.mark.parametrize("place", GUARDED)
def test_no_command_writes_a_file_of_the_guard_through_a_link_to_it(line: str, place: str) -> None:
    """The name of the link is nothing that is guarded, and what it leads to is."""
    for leads_to, is_guarded in ((place, True), ("/w/b.py", False)):
        found = effects(line.format("note"), GuardedWorld(links={"/w/note": leads_to}))
        assert ("write_protected" in found) is is_guarded


@pytest.mark.parametrize("line", ["mv conf x", "cp -r x/. conf", "sed -i s/x/y/ conf/*.toml"])
def test_what_may_change_a_file_of_the_guard_asks(line: str) -> None:
    assert "write_outside" in effects(line, GuardedWorld())


@pytest.mark.parametrize(
    "line",
    [
        "cat conf/Guard.toml",
        "echo x > conf/guard.toml.bak",
        "mkdir -p conf/new && touch conf/new/x",
        "rm -rf build",
        "rm -rf build/*",
        "sed -i s/x/y/ conf/*.py src/*.toml",
        "find . -name '*.pyc' -delete",
    ],
)
def test_what_stands_beside_a_file_of_the_guard_is_as_ever(line: str) -> None:
    assert effects(line, GuardedWorld()) == effects(line, World(links={"/w/out": "/w/conf"}))
