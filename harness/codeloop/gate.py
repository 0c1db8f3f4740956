"""The deterministic gate before the critic: commands that pass, paths that stay, a diff that fits.

Rule 1: what the gate refuses, no critic sees, and none can approve.
Rule 2: a gate that cannot do its work refuses. Every reason is told, not only the first.
"""

from collections.abc import Sequence
from pathlib import Path
from shlex import join
from typing import Final

from evals.escaping import escape_line, escape_name
from harness.codeloop.errors import CodeLoopError
from harness.codeloop.record import GateRules, Refusal
from harness.codeloop.workspace import Change, Workspace
from harness.process import CommandNotStarted, run_command

# The end of what a failed command said is what tells of the failure.
_DETAIL_CHARACTERS: Final = 4000
_NAMED_PATHS: Final = 20
_NAME_CHARACTERS: Final = 200


async def run_commands(rules: GateRules, folder: Path) -> tuple[Refusal, ...]:
    """Run every command of the gate; the refusals of those that did not pass."""
    refusals = [await _run(words, rules.timeout, folder) for words in rules.commands]
    return tuple(refusal for refusal in refusals if refusal is not None)


async def _run(words: Sequence[str], timeout: float, folder: Path) -> Refusal | None:
    name = escape_line(join(words)[:_NAME_CHARACTERS])
    try:
        result = await run_command(words, prompt="", cwd=folder, timeout=timeout)
    except CommandNotStarted as error:
        return Refusal(kind="gate_error", reason=f"the check {name} could not be run: {error}")
    if result.exit_code == 0:
        return None
    how = f"ran out of {timeout:g} s" if result.timed_out else f"exited with {result.exit_code}"
    said = f"{result.stdout}\n{result.stderr}".strip()[-_DETAIL_CHARACTERS:]
    return Refusal(kind="command_failed", reason=f"the check {name} {how}", detail=said)


def check_patterns(patterns: Sequence[str], root: Path) -> None:
    """See to it that every pattern can match something: one that cannot would protect nothing.

    Raises:
        CodeLoopError: one is a comment, or no path in a repository is written so.
    """
    for line in patterns:
        shown = escape_name(line)
        if line.startswith("#"):
            raise CodeLoopError(f"protected {shown}: a line with # is a comment: write \\# for it")
        parts = line.removeprefix("!").removeprefix("/").removesuffix("/").split("/")
        if "\n" in line or not {"", ".", ".."}.isdisjoint(parts):
            raise CodeLoopError(f"protected {shown}: no path is written so: as in .gitignore")
        if line.startswith(f"{root}/"):
            raise CodeLoopError(f"protected {shown}: name it from the top, which is {root}")


class Fence:
    """The paths that must not change: patterns in the language of .gitignore.

    A path counts as changed when it is added, edited, deleted, or moved away. A path is protected
    under every name it had at the start: its own, and those by way of a symbolic link.
    """

    def __init__(self, patterns: Sequence[str], workspace: Workspace) -> None:
        self._rules = workspace.scratch("fence", "".join(f"{line}\n" for line in patterns))
        self._links = workspace.links()

    def crossed(self, change: Change) -> list[bytes]:
        """Those of the changed paths that are protected."""
        names = {path: self._names(path, path in change.places) for path in change.paths}
        matched = self._rules.ignored({name for each in names.values() for name in each})
        return [path for path, each in names.items() if not matched.isdisjoint(each)]

    def _names(self, path: bytes, folder: bool) -> list[bytes]:
        """The path itself, as a folder too if it may stand for one, and its names through links."""
        through = [
            link + path[len(target) :]
            for link, targets in self._links
            for target in targets
            if path == target or path.startswith(target + b"/")
        ]
        return [path, *([path + b"/"] if folder else []), *through]


def judge_change(rules: GateRules, fence: Fence, change: Change) -> tuple[Refusal, ...]:
    """The refusals of a change for what it touches and for its size."""
    refusals = []
    if crossed := fence.crossed(change):
        names = [path.decode("utf-8", "backslashreplace") for path in crossed]
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        refusals.append(
            Refusal(
                kind="protected_path_changed",
                reason=f"{escape_name(names[0])}{more} must not change: put it back as it was",
                detail="\n".join(map(escape_name, names[:_NAMED_PATHS])),
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
