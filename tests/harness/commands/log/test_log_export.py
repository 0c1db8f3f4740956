"""What `critic log export` writes of a log from which values were taken out."""

import json
from pathlib import Path

from harness.log import SqlDecisionLog
from tests.harness.commands.log.proving import WHY
from tests.harness.console import Critic
from tests.support.guarding import answers_to, call, close, desk, guard_of, open_


def test_an_export_names_what_a_closed_session_would_have_carried(
    critic: Critic, tmp_path: Path
) -> None:
    with SqlDecisionLog.open(tmp_path / "log") as log:
        answers_to(guard_of(desk(), log=log), [open_(), call("read_note", name="a"), close()])
        number = log.head().seq
    new = tmp_path / "new"
    redacted = critic("log", "redact", tmp_path / "log", new, "--value", f"{number}:/carried", *WHY)
    assert redacted.status == 0
    exported = critic("log", "export", new, "--to", "opa", "-o", "-")
    assert exported.status == 0
    assert json.loads(exported.lines[number - 1])["erased"] == ["/custom/carried"]
