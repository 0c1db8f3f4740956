"""Let the laws that a page shows try few examples; their own tests try many.

A plugin of pytest, and a module for programs without it.
"""

from typing import Final

_MOST: Final = 10
"""Enough to break a law, which a page shows."""
_LEAST: Final = 4
"""Enough for laws that hold: `tests.assurance` tries them at length."""


def pytest_configure() -> None:
    """Load the profile before tests are collected."""
    load(_LEAST)


def load(most: int = _MOST) -> None:
    """Make few examples the default of this process."""
    from hypothesis import settings  # not before its own plugin  # noqa: PLC0415

    # The same draws in every run: of few, one in some runs meets nothing that a law is about.
    settings.register_profile("page", max_examples=most, deadline=None, derandomize=True)
    settings.load_profile("page")
