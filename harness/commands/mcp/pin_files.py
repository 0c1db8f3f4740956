"""Find the file with the pins of a policy."""

from pathlib import Path

from harness.errors import UsageError
from harness.integrations.mcp.mcp_pins import PinFile


def pin_file(policy: str | None, given: str | None) -> PinFile:
    """Return the file with the pins: beside the policy, unless another one is named.

    Raises:
        UsageError: neither is named.
    """
    if given is not None:
        return PinFile(Path(given))
    if policy is None or policy == "-":
        raise UsageError("name the policy, or the file of pins with --pins")
    return PinFile(Path(policy).resolve().with_suffix(".pins.json"))
