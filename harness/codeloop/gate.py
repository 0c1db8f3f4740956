"""The deterministic gate before the critic: commands that pass, paths that stay, a diff that fits.

Rule 1: what the gate refuses, no critic sees, and none can approve.
Rule 2: a gate that cannot do its work refuses. Every reason is told, not only the first.
"""

from collections.abc import Sequence
from pathlib import Path
from shlex import join
from typing import Final

from evals.text import one_line, printable
from harness.codeloop.command import CommandNotStarted, run_command
from harness.codeloop.record import GateRules, Refusal
from harness.codeloop.workspace import Change, Workspace

# The end of what a failed command said is what tells of the failure.
_DETAIL_CHARACTERS: Final = 4000
_NAMED_PATHS: Final = 20
_NAME_CHARACTERS: Final = 200


async def run_commands(rules: GateRules, folder: Path) -> tuple[Refusal, ...]:
    """Run every command of the gate; the refusals of those that did not pass."""
    refusals = [await _run(words, rules.timeout, folder) for words in rules.commands]
    return tuple(refusal for refusal in refusals if refusal is not None)


async def _run(words: Sequence[str], timeout: float, folder: Path) -> Refusal | None:
    name = one_line(join(words)[:_NAME_CHARACTERS])
    try:
        result = await run_command(words, prompt="", cwd=folder, timeout=timeout)
    except CommandNotStarted as error:
        return Refusal(kind="gate_error", reason=f"the check {name} could not be run: {error}")
    if result.exit_code == 0:
        return None
    how = f"ran out of {timeout:g} s" if result.timed_out else f"exited with {result.exit_code}"
    said = f"{result.stdout}\n{result.stderr}".strip()[-_DETAIL_CHARACTERS:]
    return Refusal(kind="command_failed", reason=f"the check {name} {how}", detail=said)


class Fence:
    """The paths that must not change: patterns in the language of .gitignore.

    A path counts as changed when it is added, edited, deleted, or moved away. A protected symbolic
    link protects what it leads to as well.
    """

    def __init__(self, patterns: Sequence[str], workspace: Workspace) -> None:
        self._rules = workspace.scratch("fence", "".join(f"{line}\n" for line in patterns))
        links = workspace.links()
        inside = {name + b"/x": name for name, _ in links}
        matched = self._rules.ignored([*inside, *inside.values()])
        self._led_to = {
            target
            for name, targets in links
            if name in matched or name + b"/x" in matched
            for target in targets
        }

    def crossed(self, paths: Sequence[bytes]) -> list[bytes]:
        """Those of the paths that are protected."""
        matched = self._rules.ignored(paths)
        return [path for path in paths if path in matched or self._is_led_to(path)]

    def _is_led_to(self, path: bytes) -> bool:
        return any(path == place or path.startswith(place + b"/") for place in self._led_to)


def judge_change(rules: GateRules, fence: Fence, change: Change) -> tuple[Refusal, ...]:
    """The refusals of a change for what it touches and for its size."""
    refusals = []
    if crossed := fence.crossed(change.paths):
        names = [path.decode("utf-8", "backslashreplace") for path in crossed]
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        refusals.append(
            Refusal(
                kind="protected_path_changed",
                reason=f"{printable(names[0])}{more} must not change: put it back as it was",
                detail="\n".join(map(printable, names[:_NAMED_PATHS])),
            )
        )
    sizes = (
        ("lines", change.diff.lines, rules.max_lines),
        ("files", len(change.diff.files), rules.max_files),
    )
    refusals += [
        Refusal(
            kind="diff_too_large",
            reason=f"changed {unit}: {size}, allowed: {limit}: change less",
        )
        for unit, size, limit in sizes
        if limit is not None and size > limit
    ]
    return tuple(refusals)
