"""Which paths are protected, however they are spelled, and what a model is told of them."""

from pathlib import Path

import pytest

from critic import Refused, Violation
from critic.command.agent_settings import PROTECTED
from harness.guard.rulings import Ruling
from harness.integrations.hooks.protected_paths import is_writable_by_agents, word_protected

SPELLINGS = (str, str.upper, str.title, str.swapcase)


def refusal(argument: str) -> Ruling:
    say = f'write: "{argument}" is not what write takes. Correct it.'
    violation = Violation(
        check="surface",
        kind="violates_decision_spec",
        reason="r",
        offending_step=0,
        path=f"/steps/0/args/{argument}",
        say=say,
    )
    verdict = Refused.because((violation,))
    return Ruling(session="s", turn=1, action="refuse", verdict=verdict, reply=say)


@pytest.mark.parametrize("name", PROTECTED)
def test_a_protected_name_is_one_in_any_case(name: str, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    for spelled in (spell(name.rstrip("/")) for spell in SPELLINGS):
        assert not is_writable_by_agents(tmp_path / "src" / spelled / "x")
        assert is_writable_by_agents(tmp_path / "src" / f"x{spelled}" / "x")
        for path in (spelled, f"src/{spelled}", f"{spelled}\\x", f"a {spelled} b"):
            told = word_protected(refusal("path"), {"path": path, "text": "x"})
            assert "is protected" in str(told.reply)
        for path in (f"src/x{spelled}", f"{spelled}x/y"):
            assert word_protected(refusal("path"), {"path": path}) == refusal("path")
        assert word_protected(refusal("text"), {"path": spelled, "text": "x"}) == refusal("text")


def test_a_link_is_as_writable_as_the_file_that_it_leads_to(tmp_path: Path) -> None:
    """Into a repository and out of one, of a file and of a folder."""
    inside, outside = tmp_path / "repo" / "src", tmp_path / "own"
    for folder in (inside, outside, tmp_path / "repo" / ".git"):
        folder.mkdir(parents=True)
    for folder, other in ((inside, outside), (outside, inside)):
        (folder / "file").write_text("")
        (folder / "link").symlink_to(other / "file")
        (folder / "way").symlink_to(other)
    for name in ("file", "../repo/src/file"):
        assert is_writable_by_agents(inside / name)
    for path in (outside / "link", outside / "way" / "new"):
        assert is_writable_by_agents(path)
    for path in (outside / "file", inside / "link", inside / "way" / "new"):
        assert not is_writable_by_agents(path)
