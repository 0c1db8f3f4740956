"""What is found to be replayed, and how a case file is replaced."""

from pathlib import Path

import pytest

from harness.testing._pytest.replay_sources import NoSource, is_log, source_files
from tests.harness.log.decisions import filled


def test_sources_come_in_order_and_links_to_folders_are_not_followed(tmp_path: Path) -> None:
    for name in ("b.json", "a.json"):
        (tmp_path / name).write_text("{}")
    (tmp_path / "again").symlink_to(tmp_path, target_is_directory=True)
    assert source_files([tmp_path]) == [tmp_path / "a.json", tmp_path / "b.json"]
    with pytest.raises(NoSource, match="missing"):
        source_files([tmp_path, tmp_path / "missing"])


def test_a_log_is_known_by_its_header(tmp_path: Path) -> None:
    filled(tmp_path / "audit", 1)
    (tmp_path / "other.db").write_bytes(b"SQLite format 3\x00" + bytes(100))
    assert is_log(tmp_path / "audit")
    assert not is_log(tmp_path / "other.db")
    assert source_files([tmp_path]) == [tmp_path / "audit"]


@pytest.mark.parametrize("start", [0, 68])
def test_a_log_is_known_without_its_mark(tmp_path: Path, start: int) -> None:
    filled(tmp_path / "audit", 1)
    content = bytearray((tmp_path / "audit").read_bytes())
    content[start : start + 4] = b"\0\0\0\0"
    (tmp_path / "audit").write_bytes(content)
    assert is_log(tmp_path / "audit")


@pytest.mark.parametrize(
    "content",
    [
        b"x" * 68 + b"Critical text" + b"\0",
        b"how to CREATE TABLE log_format: " * 9 + b"\0",
        b"SQLite format 3\0" + bytes(84) + b"CREATE TABLE log",
        b"",
    ],
)
def test_what_only_looks_like_a_log_is_not_one(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "other").write_bytes(content)
    assert not is_log(tmp_path / "other")
