"""Whom a session is for, as a framework knows it. The caller authenticates them."""

from collections.abc import Callable
from typing import Any, NamedTuple

NameSource = str | Callable[[Any], str | None] | None
"""An identifier, or a function that finds it in the context of a run."""


class Principals(NamedTuple):
    """Whom the sessions of an agent are for.

    Attributes:
        user, tenant: each by name, or as a function of the framework's own context of a run.
    """

    user: NameSource = None
    tenant: NameSource = None

    def names_in(self, context: Any) -> dict[str, str]:
        """Return the names of one run, as `open` has them. Those that are not known are left out.

        Raises:
            Exception: a function raised it. No session begins then.
        """
        found = {name: _name_in(source, context) for name, source in self._asdict().items()}
        return {name: one for name, one in found.items() if one is not None}


def _name_in(source: NameSource, context: Any) -> str | None:
    return source(context) if callable(source) else source
