"""Find out whether the packages that Python would import are those of plan-critic.

`os.path` and not `pathlib`, which takes half as long to load as Python to start.
"""

import os.path
from importlib.util import find_spec
from types import MappingProxyType
from typing import Final

_OWN_FILES: Final = MappingProxyType(
    {
        "critic": "consolidate.py",
        "evals": "scorecard.py",
        "harness": "testing/plugin.py",
    }
)
"""The packages of plan-critic, each with a file that tells it from another of the same name."""


def _is_ours(name: str, folder: str) -> bool:
    """Return whether the folder is plan-critic's package of that name."""
    return os.path.isfile(os.path.join(folder, _OWN_FILES[name]))


def _imported_from(name: str) -> str | None:
    """Return the folder (or the file) that `import name` reads, without importing it.

    None if the package is missing.
    """
    try:
        spec = find_spec(name)
    except ValueError:  # a module without a spec has taken the name
        return None
    if spec is None:
        return None
    folders = list(spec.submodule_search_locations or ())
    return folders[0] if folders else spec.origin


def shadowed_packages() -> dict[str, str]:
    """Return a line for each package that cannot be imported as ours: what is wrong, and the fix.

    By name of the package; empty when all three are plan-critic's. Lines are safe to print.
    """
    places = {name: _imported_from(name) for name in _OWN_FILES}
    return {
        name: _line(name, place)
        for name, place in places.items()
        if place is None or not _is_ours(name, place)
    }


def _line(name: str, place: str | None) -> str:
    if place is None:
        return f"package {name} is missing: install plan-critic again"
    from importlib.metadata import packages_distributions  # noqa: PLC0415 - three starts of Python

    owners = (
        packages_distributions().get(name, []) if "site-packages" in place.split(os.sep) else []
    )
    others = ", ".join(owner for owner in owners if owner != "plan-critic")
    fix = "rename it, or keep the folder that holds it off the import path"
    if others:
        fix = f"uninstall {others!a}, or use a virtual environment for plan-critic alone"
    return f"package {name} of plan-critic is shadowed by {place!a}: {fix}"
