"""What a run may skip where all that tests need is meant to be there, as in `.ci/run`."""

import os
from typing import Final

import pytest

ALL_THERE: Final = "EVERY_PROGRAM_IS_THERE"
"""Environment variable: where it is set, a test that is skipped for another reason fails."""

_ALLOWED: Final = (
    # Data that is not in the repository, and programs of others that are not ours to install.
    *("beside the project", "the recorded runs are not here", "got empty parameter set"),
    *("is not on PATH: its flags cannot be compared", "could not import 'cedarpy'"),
    *("could not import 'casbin'", "could not import 'jsonschema'", "could not import 'msgspec'"),
    # What no program would change.
    *("root may write everywhere", "no code for this machine"),
    "has answered for these very formulas",
)


def fail_if_missing(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Let the report of a skip fail where all is meant to be there, and something is not."""
    if ALL_THERE not in os.environ or not report.skipped or hasattr(report, "wasxfail"):
        return
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    if not any(one in reason for one in _ALLOWED):
        report.outcome = "failed"
        report.longrepr = f"{ALL_THERE}, but it was skipped: {reason}"
