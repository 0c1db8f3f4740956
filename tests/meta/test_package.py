"""What is built from this project, as an index shows it."""

import re
import subprocess
import sys
import zipfile

import pytest

from tests.support.paths import ROOT


@pytest.fixture(scope="module")
def description(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Build the wheel and return the long description in its metadata."""
    folder = tmp_path_factory.mktemp("dist")
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "-q")
    subprocess.run([*pip, "wheel", "--no-deps", "-w", str(folder), str(ROOT)], check=True)
    (wheel,) = folder.glob("plan_critic-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [one for one in archive.namelist() if one.endswith(".dist-info/METADATA")]
        return archive.read(name).decode()


def test_every_link_on_the_index_leads_somewhere(description: str) -> None:
    links = re.findall(r"\]\(([^)]+)\)", description.partition("\n\n")[2])
    assert all(link.startswith(("https://", "#")) for link in links), links
    assert "(`.github/docs/embed.md` in the source distribution)" in description
