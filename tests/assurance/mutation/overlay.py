"""Load modules of this project from other source texts than their files.

For a forked child: it forgets the house's modules, and imports them anew with the texts given.
"""

import sys
from collections.abc import Mapping, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType
from typing import Final

from tests.support.paths import ROOT

HOUSE: Final = {"critic", "evals", "harness", "tests"}
_KEPT: Final = "tests.assurance"


def module_name(file: str) -> str:
    """Return the dotted name of a file, such as `critic.checks` for `critic/checks.py`."""
    return ".".join(Path(file).with_suffix("").parts).removesuffix(".__init__")


class _Text(SourceFileLoader):
    """Loads a module from a text, under the name and the place of its file."""

    def __init__(self, name: str, path: str, text: str) -> None:
        super().__init__(name, path)
        self._text = text

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self._text.encode(), self.get_filename(fullname))


class _Finder(MetaPathFinder):
    def __init__(self, texts: Mapping[str, str]) -> None:
        self._files = {module_name(file): file for file in texts}
        self._texts = texts

    def find_spec(
        self, fullname: str, _path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        file = self._files.get(fullname)
        if file is None:
            return None
        loader = _Text(fullname, str(ROOT / file), self._texts[file])
        return spec_from_file_location(fullname, ROOT / file, loader=loader)


def overlay(texts: Mapping[str, str]) -> None:
    """From here on, this process imports these texts (by file) in place of what the files hold."""
    for name in list(sys.modules):
        kept = name == "tests" or name.startswith(_KEPT)
        if name.partition(".")[0] in HOUSE and not kept:
            del sys.modules[name]
    sys.meta_path.insert(0, _Finder(texts))
