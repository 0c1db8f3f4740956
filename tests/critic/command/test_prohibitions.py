"""The parts of a message: whatever forbids goes on over a whole list, and no further."""

import pytest

from critic.command.prohibitions import split_message

OPENS = {
    "Do not:": "forbids",
    "Things to avoid:": "forbids",
    "We cannot:": "denies",
    "Please:": "asks",
}


@pytest.mark.parametrize("count", [1, 2, 3, 9])
@pytest.mark.parametrize("mark", ["-", "+", "\u2022", "1."])
@pytest.mark.parametrize("opens", OPENS)
def test_each_item_of_a_list_means_what_the_first_does(opens: str, mark: str, count: int) -> None:
    items = [f"{mark} push b{at}" for at in range(count)]
    message = "\n".join([opens, *items, "", "Commit it."])
    parts = [*split_message(message)]
    assert "".join(part.text for part in parts).split() == message.split()
    means = {item: {part.means for part in parts if item[2:] in part.text} for item in items}
    assert means == {item: {OPENS[opens]} for item in items}
    assert [part.means for part in parts if "Commit" in part.text] == ["asks"]
