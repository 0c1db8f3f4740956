"""The script `critic`: has a hook answered by the service, or hands over to `harness.cli`."""

import sys

_EXIT_INVALID = 2


def main() -> int:
    """Run the command line and return its exit status.

    It says so where another package shadows one of ours. What a hook needs where a service listens
    for it is loaded alone: Python runs for each call of an agent.
    """
    if sys.argv[1:2] == ["hook"]:
        from plan_critic_entry.hook_client import (  # noqa: PLC0415 - only for hooks
            answered_by_service,
            time_limit,
        )

        with time_limit():
            status = answered_by_service(sys.argv[2:])
            return _command_line() if status is None else status
    return _command_line()


def _command_line() -> int:
    from plan_critic_entry.shadowing import shadowed_packages  # noqa: PLC0415 - see above

    lines = shadowed_packages()
    # `critic doctor` says more about it, as long as the command line itself can be imported.
    if "harness" in lines or (lines and sys.argv[1:2] != ["doctor"]):
        sys.stderr.write("".join(f"critic: {line}\n" for line in lines.values()))
        return _EXIT_INVALID
    from harness.cli import main as command_line  # noqa: PLC0415 - only once it is known to be ours

    return command_line()
