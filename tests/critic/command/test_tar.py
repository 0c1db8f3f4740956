"""What `tar` reads, writes and may start, by its first words; anything else is not understood."""

import pytest

from critic.command.steps import read_deeds
from tests.support.command_tables import SMALL_TABLE
from tests.support.shell_worlds import World

WORLD = World()
COMPRESSORS = ("gzip", "bzip2", "xz")


@pytest.mark.parametrize(
    ("mode", "started"),
    [
        ("cf", ()),
        ("czf", ("gzip",)),
        ("cjf", ("bzip2",)),
        ("-cJf", ("xz",)),
        *((mode, COMPRESSORS) for mode in ("xf", "xzf", "-xjf", "tf", "tJf")),  # by what it finds
    ],
)
def test_an_archive_that_is_read_may_be_compressed_in_any_way(
    mode: str, started: tuple[str, ...]
) -> None:
    deeds = read_deeds(f"tar {mode} build/a.tar", WORLD.facts(), SMALL_TABLE)
    assert tuple(dict.fromkeys(deed.program for deed in deeds if deed.program != "tar")) == started


@pytest.mark.parametrize("mode", ["cf", "xf", "tf"])
@pytest.mark.parametrize("archive", ["host:a.tar", "me@evil.example:x", "build/a:b", "$A", "-x"])
def test_an_archive_on_another_host_or_of_any_name_is_not_understood(
    mode: str, archive: str
) -> None:
    assert WORLD.read(f"tar {mode} build/a.tar", SMALL_TABLE).is_understood
    assert not WORLD.read(f"tar {mode} {archive} src", SMALL_TABLE).is_understood
