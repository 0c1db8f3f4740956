"""Reading one record does not load what only deriving, signing or waiting needs."""

import subprocess
import sys

import pytest

from tests.support.paths import ROOT


@pytest.mark.slow
def test_showing_a_record_loads_neither_replay_nor_proofs() -> None:
    imported = "import sys, harness.commands.log.log_command, harness.commands.log.log_show"
    command = [sys.executable, "-c", f"{imported}\nprint(*sys.modules)"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = {*found.stdout.split()}
    assert "harness.replay.document_reading" in loaded
    assert not loaded & {
        "asyncio",
        "critic.score",
        "harness.audit.proofs.keys",
        "harness.replay.recheck",
        "tqdm",
    }
