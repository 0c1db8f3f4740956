"""What the page on audits shows of a cluster works where `dask.distributed` is installed."""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.meta.documents import console_lines, furnish, matches, shell, snippets
from tests.support.paths import ROOT

pytestmark = pytest.mark.slow

pytest.importorskip("distributed", reason="the cluster needs plan-critic[dask]")

PAGE = ROOT / ".github" / "docs" / "audit.md"


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """Return a folder as the page leaves it so far, and end what it has started there."""
    furnish(PAGE, tmp_path)
    first = next(one for one in snippets(PAGE) if one.language == "console")
    shell(next(console_lines(first.text))[0], tmp_path)
    yield tmp_path
    for file in tmp_path.glob("*.pid"):
        with suppress(OSError, ValueError):
            number = int(file.read_text())
            if Path(f"/proc/{number}/cwd").resolve() == tmp_path.resolve():
                os.kill(number, signal.SIGTERM)


def test_the_cluster_on_the_page_works_as_shown(folder: Path) -> None:
    shown = next(one for one in snippets(PAGE) if "dask scheduler" in one.text)
    for command, expected in console_lines(shown.text):
        printed = shell(command, folder).stdout.splitlines()
        assert matches(expected, printed), f"`{command}` prints\n" + "\n".join(printed)
