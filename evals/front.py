"""Load the names of a package when they are first asked for, so that importing it costs little."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any


def lazy_front(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package that is being imported.

    Args:
        package: the name of the package.
        homes: the names that it offers, separated by spaces, by the module that defines them.
    """
    module = sys.modules[package]
    by_name = {name: home for home, names in homes.items() for name in names.split()}
    # Importing `critic.verify` would put the module in the place of the function of that name.
    module.__class__ = type("Front", (_Front,), {"__slots__": (), "lazy": frozenset(by_name)})

    def load(name: str) -> Any:
        if name not in by_name:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(by_name[name]), name)
        module.__dict__[name] = value
        return value

    return load


class _Front(ModuleType):
    """A package with names that stay what they are when a module of the same name is imported."""

    lazy: frozenset[str] = frozenset()

    def __setattr__(self, name: str, value: object) -> None:
        if name not in self.lazy or not isinstance(value, ModuleType):
            super().__setattr__(name, value)
