"""The steps of the commands of one turn, as steps of its plan."""

from critic.command.plan_parts import CallCommand, parts_of_commands
from tests.support.command_tables import SMALL_TABLE
from tests.support.shell_worlds import World

WORLD = World()


def parts(*commands: str, waits: bool = False) -> list[tuple[int | None, str]]:
    """Return of each part the call that it is of, and its effect."""
    asked = [
        CallCommand(of, one, WORLD.facts_for(one, {}, SMALL_TABLE), waits=waits)
        for of, one in enumerate(commands)
    ]
    return [(one.of, one.capability_id) for one in parts_of_commands(asked, SMALL_TABLE, [])]


def test_each_command_has_the_steps_that_it_has_alone() -> None:
    assert parts("cat a.py", "ls src") == [(0, "read"), (1, "list")]
    assert parts("cat a.py && rm b.py") == [(0, "read"), (0, "delete")]


def test_a_command_that_waits_for_a_value_is_no_step_of_a_tool() -> None:
    assert parts("cat a.py", "ls src", waits=True) == [(0, "late"), (1, "late")]


def test_commands_of_one_turn_that_may_change_one_another_are_not_understood() -> None:
    assert parts("ln -s ~/.ssh k", "cat k/id_rsa") == [(0, "unknown"), (1, "unknown")]


def test_a_command_without_facts_or_without_a_text_is_not_understood() -> None:
    for command, facts in (("ls", None), (7, WORLD.facts().wire()), ("ls", {"root": 7})):
        (part,) = parts_of_commands([CallCommand(3, command, facts)], SMALL_TABLE, [])
        assert (part.of, part.capability_id) == (3, "unknown")
