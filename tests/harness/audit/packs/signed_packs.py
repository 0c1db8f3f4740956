"""A pack of what a log holds, for the tests of what a pack shows and refuses."""

from pathlib import Path

from harness.audit.settlements import settle
from harness.log import SqlDecisionLog
from tests.harness.commands.log.proving import ORIGIN, Signed, signed_log
from tests.harness.console import Critic
from tests.harness.log.decisions import NOON
from tests.harness.log.guard_logs import write_guard_log
from tests.support.guarding import ASKS, answers_to, desk, guard_of, result, yes

DATA = '<script type="application/json" id="pack">'


def guarded_log(critic: Critic, folder: Path) -> Signed:
    """Return a log that guards wrote, signed."""
    signed = signed_log(critic, folder)._replace(log=folder / "guard.db")
    write_guard_log(signed.log)
    return signed._replace(checkpoint=signed.sign("of-guard", "--origin", ORIGIN))


def settled_log(critic: Critic, folder: Path, *, shadow: bool = False) -> tuple[Signed, int]:
    """Return a signed log of an execution that was settled and then ended, and where it began."""
    signed = signed_log(critic, folder)._replace(log=folder / "settled.db")
    transfer = {"iban": "iban-4711-22", "reason": "x"}
    with SqlDecisionLog.open(signed.log) as log:
        guard = guard_of(desk(shadow=shadow), log=log)
        answers_to(guard, [*ASKS] if shadow else [*ASKS, yes()])
        begun = log.head().seq
        settle(log, begun, outcome="not_run", by="raj", because="no money went", now=NOON)
        sent = {"tool": "transfer", "args": transfer}
        answers_to(guard_of(desk(shadow=shadow), log=log), [result({"ok": True}, sent=sent)])
    return signed._replace(checkpoint=signed.sign("of-settled", "--origin", ORIGIN)), begun


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
