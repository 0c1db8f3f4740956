"""A pack of what a log holds, for the tests of what a pack shows and refuses."""

from pathlib import Path

from tests.harness.commands.log.proving import ORIGIN, Signed, signed_log
from tests.harness.console import Critic
from tests.harness.log.guard_logs import write_guard_log

DATA = '<script type="application/json" id="pack">'


def guarded_log(critic: Critic, folder: Path) -> Signed:
    """Return a log that guards wrote, signed."""
    signed = signed_log(critic, folder)._replace(log=folder / "guard.db")
    write_guard_log(signed.log)
    return signed._replace(checkpoint=signed.sign("of-guard", "--origin", ORIGIN))


def pack(signed: Signed, *which: str, name: str = "pack.html") -> Path:
    """Write a pack beside the log."""
    page = signed.log.with_name(name)
    given = ("--checkpoint", signed.checkpoint, "--public-key", signed.public)
    said = signed.critic("log", "pack", signed.log, *which, *given, "-o", page)
    assert (said.status, said.err) == (0, ""), said
    return page


def places_in(page: str) -> range:
    """Return where the data of a page stands."""
    start = page.index(DATA) + len(DATA)
    return range(start, page.index("</script>", start))
