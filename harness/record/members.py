"""The members of an envelope or of parsed JSON, whatever it is. Pure, and total."""

from functools import lru_cache
from typing import Any

from evals.envelope import Envelope


def member_of(value: Any, name: str) -> Any:
    """Return a member of an envelope or of parsed JSON; None where there is none."""
    if type(value) is dict:
        return value.get(name)
    kind: Any = type(value)
    # An envelope says at length that it lacks an attribute.
    return None if value is None or _lacks(kind, name) else getattr(value, name, None)


@lru_cache(maxsize=1024)
def _lacks(kind: type[object], name: str) -> bool:
    """Return whether all envelopes of a kind lack a member."""
    return issubclass(kind, Envelope) and not (name in kind.model_fields or hasattr(kind, name))


def elements_of(value: Any) -> list[Any] | tuple[Any, ...]:
    """Return the elements of an array; none of what is not one."""
    return value if isinstance(value, list | tuple) else ()
