"""`critic mcp pins`: the descriptions of accepted tools, and later changes of them."""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping

from evals.escaping import escape_line
from harness.commands.exit_status import EXIT_OK, EXIT_REFUSED
from harness.commands.mcp.pin_files import pin_file
from harness.commands.policy.policy_command import load_policy
from harness.errors import escape_text
from harness.integrations.mcp.mcp_pins import PINNED, Pin

_SHOWN_DIGEST = 16


def run(args: argparse.Namespace) -> int:
    """Run the action. Exit status as documented by `critic mcp pins --help`."""
    file = pin_file(args.policy, args.pins)
    if args.policy is not None:
        load_policy(args.policy)  # a misspelt one has no pins either
    if args.action == "accept":
        pin = file.accept(args.tool, args.digest.removeprefix("sha256:"))
        sys.stdout.write(f"{escape_line(args.tool)}: accepted {_short_digest(pin)}\n")
        return EXIT_OK
    pins = file.read()
    if not pins.pinned:
        sys.stderr.write(f"critic: no tool is pinned in {escape_text(str(file.path))}\n")
    for name in sorted({*pins.pinned, *pins.changed}):
        for line in _describe_change(name, pins.pinned, pins.changed):
            sys.stdout.write(f"{escape_line(line)}\n")
    return EXIT_REFUSED if pins.changed else EXIT_OK


def _describe_change(
    name: str, pinned: Mapping[str, Pin], changed: Mapping[str, Pin]
) -> Iterator[str]:
    """Yield the lines about one tool."""
    old, new = pinned.get(name), changed.get(name)
    if new is None:
        yield f"{name}: accepted {_short_digest(old)}"
        return
    yield f"{name}: changed: refused until `critic mcp pins accept ... {name} {_short_digest(new)}`"
    for member in PINNED:
        before, after = _show_member(old, member), _show_member(new, member)
        if before != after:
            yield f"  - {member}: {before}"
            yield f"  + {member}: {after}"


def _short_digest(pin: Pin | None) -> str:
    return pin.digest[:_SHOWN_DIGEST] if pin else ""


def _show_member(pin: Pin | None, member: str) -> str:
    value = pin.tool.get(member) if pin else None
    return "(nothing)" if value is None else json.dumps(value)
