"""The members of an envelope or of parsed JSON, whatever it is. Pure, and total."""

from typing import Any


def member_of(value: Any, name: str) -> Any:
    """Return a member of an envelope or of parsed JSON; None where there is none."""
    if type(value) is dict:
        return value.get(name)
    return None if value is None else getattr(value, name, None)


def elements_of(value: Any) -> list[Any] | tuple[Any, ...]:
    """Return the elements of an array; none of what is not one."""
    return value if isinstance(value, list | tuple) else ()
