"""Labels in code: they say what they say, set one attribute, and change nothing else."""

import copy
from typing import Annotated, Any, Optional

import pytest
from pydantic import TypeAdapter

from critic import labels
from critic.labels import (
    Attribute,
    Code,
    Content,
    Day,
    Locator,
    Object,
    Recipient,
    Secret,
    ToolLabels,
    labelled,
    read_labels,
)


def test_each_name_stands_for_a_role() -> None:
    roles = {
        "recipient": Recipient,
        "object": Object,
        "attribute": Attribute,
        "time": Day,
        "locator": Locator,
        "content": Content,
        "secret": Secret,
        "code": Code,
    }
    assert {name: one.role for name, one in roles.items()} == {name: name for name in roles}
    assert len(labels.__all__) == len(roles) + 1


def test_what_is_labelled_is_the_same_function_with_one_more_attribute() -> None:
    def pay(to: Annotated[str, Recipient], eur: Annotated[int, Attribute], note: str = "") -> str:
        return f"{to} {eur}{note}"

    before, schema = dict(vars(pay)), _schema_of(pay)
    assert labelled(tier="destructive", author="system", yields="receipt")(pay) is pay
    assert len(vars(pay).keys() - before.keys()) == 1
    assert _schema_of(pay) == schema
    assert schema["properties"] == _schema_of(_pay_plainly)["properties"]
    assert pay("ada", 5) == "ada 5"
    found = read_labels(pay)
    assert found is not None
    assert (found.tier, found.author, found.yields) == ("destructive", "system", "receipt")
    assert found.roles == (("to", "recipient"), ("eur", "attribute"))


def _schema_of(function: Any) -> Any:
    return TypeAdapter(function).json_schema()


def _pay_plainly(to: str, eur: int, note: str = "") -> str:
    return f"{to} {eur}{note}"


def test_what_has_no_label_has_none() -> None:
    assert read_labels(_pay_plainly) is None
    assert read_labels(None) is None
    assert read_labels(object(), 7, str) is None


def test_a_label_stands_within_optional_values_and_lists() -> None:
    def send(
        to: list[Annotated[str, Recipient]],
        cc: Optional[Annotated[str, Recipient]],  # noqa: UP045 - both forms are written
        on: Annotated[str, "a day", Day] | None = None,
    ) -> Annotated[str, Secret]:
        return f"{to} {cc} {on}"

    found = read_labels(send)
    assert found is not None
    assert dict(found.roles) == {"to": "recipient", "cc": "recipient", "on": "time"}


def test_annotations_that_cannot_be_read_leave_the_other_labels() -> None:
    def pay(to: "Annotated[Nowhere, Recipient]") -> None:  # type: ignore[name-defined]  # noqa: F821
        raise AssertionError(to)

    assert read_labels(labelled(tier="network")(pay)) == ToolLabels("network")


class Made:
    """What a framework makes of a function."""

    def __init__(self, function: Any) -> None:
        self.func = function


def test_it_works_under_and_above_a_decorator() -> None:
    under, above = (
        Made(labelled(tier="network")(_copied())),
        labelled(tier="network")(Made(_copied())),
    )
    assert read_labels(under) == read_labels(above) == ToolLabels("network")
    assert read_labels(copy.copy(above)) == ToolLabels("network")


def _copied() -> Any:
    def tool() -> None: ...

    return tool


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"tier": "destructiv"}, "no tier destructiv: did you mean destructive"),
        ({"author": "sytem"}, "no author sytem: did you mean system"),
        ({"author": "user"}, "known are system, member, public"),
    ],
)
def test_a_label_that_is_none_is_refused_where_it_is_written(given: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        labelled(**given)
