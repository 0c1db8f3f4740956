"""One tree of errors: every exception that the harness raises derives from one root."""

import importlib
import inspect
import pkgutil
import sys
from collections.abc import Iterator

import harness
from harness import errors
from harness.errors import HarnessError


def modules() -> Iterator[str]:
    for module in pkgutil.walk_packages(harness.__path__, "harness."):
        if not module.name.startswith(("harness.testing._pytest", "harness._refund")):
            yield module.name


def exceptions() -> set[type[BaseException]]:
    """Return every exception class that a module of the harness defines."""
    return {
        member
        for name in modules()
        for member in vars(importlib.import_module(name)).values()
        if inspect.isclass(member)
        and issubclass(member, BaseException)
        and member.__module__.startswith("harness.")
    }


def tree(root: type[BaseException], depth: int = 0) -> Iterator[str]:
    """Draw a class and those derived from it, one a line, by name."""
    yield "    " * depth + root.__name__
    for child in sorted(root.__subclasses__(), key=lambda one: one.__name__):
        if _is_defined(child):
            yield from tree(child, depth + 1)


def _is_defined(error: type[BaseException]) -> bool:
    """Return whether a module of the harness defines it, and it was not made while tests ran."""
    module = sys.modules.get(error.__module__)
    is_ours = error.__module__.startswith("harness.")
    return is_ours and getattr(module, error.__name__, None) is error


def test_every_error_derives_from_the_root() -> None:
    strangers = {one.__name__ for one in exceptions() if not issubclass(one, HarnessError)}
    assert not strangers, f"derive them from harness.errors.HarnessError: {strangers}"


def test_the_tree_is_drawn_in_the_module_of_the_root() -> None:
    exceptions()
    drawn = "\n".join(f"    {line}" for line in tree(HarnessError))
    assert errors.__doc__ is not None
    assert drawn in errors.__doc__, f"draw it in harness/errors.py:\n{drawn}"
