"""`critic explain`: the table of tiers for people, and the words that `init` guesses by."""

import argparse
import re
import sys
from collections.abc import Iterator
from textwrap import wrap

from harness.commands.exit_status import EXIT_OK
from harness.policy.analysis.guessing.guess_tables import (
    AMBIGUOUS_READS,
    BINDING,
    KIND_WORDS,
    OTHERS_THINGS,
    OWN_THINGS,
    PARTY_FIELD,
    RAISING,
    ROLE_WORDS,
    SYSTEM_FIELD,
    TIER_ROWS,
    VERBS,
    WEAKER_VERBS,
)

_WIDTH = 78


def run(args: argparse.Namespace) -> int:
    """Print one table, and return the exit status."""
    lines = {"tiers": _lines_of_tiers, "guesses": _lines_of_guesses}[args.topic]()
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    return EXIT_OK


def _lines_of_tiers() -> Iterator[str]:
    for row in TIER_ROWS:
        yield row.tier
        yield f"  {row.means}"
        yield f"  such as: {row.examples}"
        yield f"  by itself: {row.by_itself}"


def _lines_of_guesses() -> Iterator[str]:
    yield "approval_mode: the first word of the name, else the last, else any"
    for tier, verbs in VERBS.items():
        yield from _entry(tier, verbs)
    for tier, verbs in WEAKER_VERBS.items():
        yield from _entry(f"{tier}, where a name begins with it", verbs)
    yield from _entry("raised to destructive", f"an effect on {' '.join(sorted(RAISING))}")
    yield from _entry("raised to destructive", "an amount next to an account; a secret or code")
    yield from _entry("raised to delegated", f"sending of {' '.join(sorted(BINDING))}")
    yield from _entry(
        "lowered to local_write", f"create, update or add of {' '.join(sorted(OWN_THINGS))}"
    )
    yield from _entry(
        "delegated, and no local_write", f"a write to {' '.join(sorted(OTHERS_THINGS))}"
    )
    yield from _entry("raised to network", "a read with a URL among its arguments")
    yield from _entry("open", "no such verb; a noun of one, as in refund_window; code that is run")
    yield from _entry("open", "a read whose description begins with another act")
    yield from _entry(
        "open before another verb, as in status_update", " ".join(sorted(AMBIGUOUS_READS))
    )
    yield ""
    yield "arg_roles: by the name of an argument of a tool with effects; the first that fits"
    for role, names in ROLE_WORDS.items():
        yield from _entry(role, _readable(names))
    yield from _entry("object", "every other name")
    yield ""
    yield "arg_kinds: by the name"
    for kind, pattern in KIND_WORDS.items():
        yield from _entry(kind, _readable(pattern.pattern))
    yield ""
    yield "fields of a [[class]]: numbers, booleans, enums and dates are of the system, the others"
    yield "  by name; the first that fits"
    for owner, fields in (("party", PARTY_FIELD), ("system", SYSTEM_FIELD)):
        yield from _entry(owner, _readable(fields.pattern))


def _readable(pattern: str) -> str:
    """Return the names that match a pattern: `*` is any letters, brackets are optional."""
    plain = re.sub(r"([a-z_])\?", r"(\1)", pattern.replace("(?:", "("))
    plain = plain.replace(")?", ")").replace(r"\w*", "*").replace(r"\w+", "*")
    return re.sub(r"\|(?![^(]*\))", " ", plain)


def _entry(label: str, text: str) -> Iterator[str]:
    yield f"  {label}"
    yield from wrap(
        text, _WIDTH, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False
    )
