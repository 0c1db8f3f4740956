"""The script `critic`: hands over to `harness.cli`, or says which package is shadowed."""

import sys

from plan_critic_entry import shadowed

_EXIT_INVALID = 2


def main() -> int:
    """Run the command line and return its exit status."""
    lines = shadowed()
    # `critic doctor` says more about it, as long as the command line itself can be imported.
    if "harness" in lines or (lines and sys.argv[1:2] != ["doctor"]):
        sys.stderr.write("".join(f"critic: {line}\n" for line in lines.values()))
        return _EXIT_INVALID
    from harness.cli import main as command_line  # noqa: PLC0415 - only once it is known to be ours

    return command_line()
