"""How long the lint takes: `python -m tests.experiments.linting`

Policies of 50 and of 1,000 tools, as `critic init` guesses them and with labels that trust too
much: there, the lint shows by sessions what outsiders could choose.
"""

import sys
import time
from collections.abc import Iterator
from typing import Final, NamedTuple, TypedDict

from harness.policy import parse_policy
from harness.policy.analysis.derive_tools import draft_of_function
from harness.policy.analysis.policy_lint import lint
from harness.policy.analysis.policy_writing import derived_policy

BARS: Final = {50: 0.5, 1_000: 10.0}
"""The seconds of CPU that the lint of so many tools may take."""
_TRUSTING: Final = (('author = "public"', 'author = "system"'), ('"party"', '"system"'))


class Parcel(TypedDict):
    """A record with fields of a system, of a party, and of anybody."""

    parcel_id: str
    sender_email: str
    weight_kg: float
    note: str


def get_parcel(parcel_id: str) -> Parcel:
    """Look up a parcel."""
    raise NotImplementedError


def search_web(query: str) -> str:
    """Search the web."""
    raise NotImplementedError


def read_inbox(limit: int) -> list[str]:
    """Read the mails of customers."""
    raise NotImplementedError


def send_email(to: str, subject: str, body: str) -> str:
    """Send an e-mail."""
    raise NotImplementedError


def reroute_parcel(parcel_id: str, address: str) -> str:
    """Send a parcel to another address."""
    raise NotImplementedError


def refund_parcel(parcel_id: str, amount_eur: float) -> str:
    """Pay a parcel back."""
    raise NotImplementedError


FUNCTIONS: Final = (
    get_parcel,
    search_web,
    read_inbox,
    send_email,
    reroute_parcel,
    refund_parcel,
)


class LintTime(NamedTuple):
    """What the lint of one policy took, in seconds of CPU, and how much it found."""

    tools: int
    labels: str
    seconds: float
    findings: int


def policy_text(tools: int, *, is_trusting: bool) -> str:
    """Return the text of a policy with so many tools."""
    drafts = (
        draft_of_function("depot", f"{one.__name__}_{at}", one)
        for at, one in ((at, FUNCTIONS[at % len(FUNCTIONS)]) for at in range(tools))
    )
    text = derived_policy("depot", "depot", drafts)
    for old, new in _TRUSTING if is_trusting else ():
        text = text.replace(old, new)
    return text


def time_lint(tools: int) -> Iterator[LintTime]:
    """Yield what the lint takes for so many tools, by what their labels are."""
    for labels in ("guessed", "trusting"):
        text = policy_text(tools, is_trusting=labels == "trusting")
        policy = parse_policy(text.encode()).policy
        began = time.process_time()
        found = lint(policy)
        yield LintTime(tools, labels, time.process_time() - began, len(found))


def main() -> int:
    """Print a line for each policy. Return 1 if one takes longer than it may."""
    times = [one for tools in BARS for one in time_lint(tools)]
    for one in times:
        sys.stdout.write(
            f"{one.tools:5,} tools, {one.labels:8}: {one.seconds:5.2f} s of {BARS[one.tools]} s, "
            f"{one.findings} findings\n"
        )
    return int(any(one.seconds > BARS[one.tools] for one in times))


if __name__ == "__main__":
    raise SystemExit(main())
