"""What is built from this project, as an index shows it."""

import re
import zipfile
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def description(wheel: Path) -> str:
    """Return the long description in the metadata of the wheel."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [one for one in archive.namelist() if one.endswith(".dist-info/METADATA")]
        return archive.read(name).decode()


def test_every_link_on_the_index_leads_somewhere(description: str) -> None:
    links = re.findall(r"\]\(([^)]+)\)", description.partition("\n\n")[2])
    assert all(link.startswith(("https://", "#")) for link in links), links
    assert "(`.github/docs/guide.md` in the source distribution)" in description


def test_the_parts_of_the_page_are_in_the_wheel(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        places = [Path(one) for one in archive.namelist() if "/files/" in one]
    names = {(one.parts[-3], one.name) for one in places if "audit" in one.parts}
    ends = ("html", "css", "js")
    expected = {("report", f"page.{end}") for end in ends}
    assert names == expected | {("packs", f"pack.{end}") for end in ends}
