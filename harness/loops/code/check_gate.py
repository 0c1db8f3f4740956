"""The deterministic gate before the critic: commands that pass, paths that stay, a diff that fits.

Rule 1: the critic never sees what the gate refuses, and cannot approve it.
Rule 2: a gate that cannot do its work refuses. Every reason is reported, not only the first.
Rule 3: a check may add files, which the critic sees and no limit counts. It may not change or
        remove a file: what it would change, the actor has to change before it ends.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from shlex import join
from tempfile import TemporaryDirectory
from typing import Final

from evals.escaping import escape_line
from harness.errors import escape_text
from harness.loops.code.code_errors import CodeLoopError
from harness.loops.code.session_change import Change
from harness.loops.code.session_lines import GateRefusalKind, GateRules, Refusal
from harness.loops.code.workspace import Workspace
from harness.process import CommandNotStarted, run_command

# The end of the output of a failed command says why it failed.
_DETAIL_CHARACTERS: Final = 4000
_NAMED_PATHS: Final = 20
_NAME_CHARACTERS: Final = 200


async def run_commands(rules: GateRules, folder: Path) -> tuple[Refusal, ...]:
    """Run every command of the gate, and return the refusals of those that did not pass.

    Python writes its compiled files to a folder that is removed afterwards, and reads none beside
    the sources: the actor could have written those.
    """
    with TemporaryDirectory(prefix="critic-pycache-", ignore_cleanup_errors=True) as compiled:
        environment = {"PYTHONPYCACHEPREFIX": compiled}
        refusals = [
            await _run(words, rules.timeout, folder, environment) for words in rules.commands
        ]
    return tuple(refusal for refusal in refusals if refusal is not None)


async def _run(
    words: Sequence[str], timeout: float, folder: Path, environment: Mapping[str, str]
) -> Refusal | None:
    name = escape_line(join(words)[:_NAME_CHARACTERS])
    try:
        result = await run_command(
            words, prompt="", cwd=folder, timeout=timeout, environment=environment
        )
    except CommandNotStarted as error:
        return Refusal(kind="gate_error", reason=f"the check {name} could not be run: {error}")
    if result.exit_code == 0:
        return None
    how = f"ran out of {timeout:g} s" if result.timed_out else f"exited with {result.exit_code}"
    output = f"{result.stdout}\n{result.stderr}".strip()[-_DETAIL_CHARACTERS:]
    return Refusal(kind="command_failed", reason=f"the check {name} {how}", detail=output)


def check_patterns(patterns: Sequence[str], root: Path) -> None:
    """Check that every pattern can match something: one that cannot would protect nothing.

    Raises:
        CodeLoopError: one is a comment, or cannot match a path of the repository.
    """
    for line in patterns:
        shown = escape_text(line)
        if line.startswith("#"):
            raise CodeLoopError(f"protected {shown}: a line with # is a comment: write \\# for it")
        parts = line.removeprefix("!").removeprefix("/").removesuffix("/").split("/")
        if "\n" in line or not {"", ".", ".."}.isdisjoint(parts):
            raise CodeLoopError(
                f"protected {shown}: not a valid .gitignore pattern: "
                "no empty part, no . or .., no line end"
            )
        if line.startswith(f"{root}/"):
            raise CodeLoopError(f"protected {shown}: name it from the top, which is {root}")


class ProtectedPaths:
    """The paths that must not change: patterns in the language of .gitignore.

    A path counts as changed when it is added, edited, deleted, or moved away. A path is protected
    under every name it had at the start: its own, and those by way of a symbolic link.
    """

    def __init__(self, patterns: Sequence[str], workspace: Workspace) -> None:
        """Protect what `patterns` match among the paths of `workspace`."""
        self._rules = workspace.scratch("protected", "".join(f"{line}\n" for line in patterns))
        self._links = workspace.links()

    def changed_in(self, change: Change) -> list[bytes]:
        """Return those of the changed paths that are protected."""
        names = {path: self._names_of(path, path in change.places) for path in change.paths}
        matched = self._rules.ignored_paths({name for each in names.values() for name in each})
        return [path for path, each in names.items() if not matched.isdisjoint(each)]

    def _names_of(self, path: bytes, folder: bool) -> list[bytes]:
        """Return the path, also as a folder if it may mean one, and its names through links."""
        through = [
            link + path[len(target) :]
            for link, targets in self._links
            for target in targets
            if path == target or path.startswith(target + b"/")
        ]
        return [path, *([path + b"/"] if folder else []), *through]


def judge_change(
    rules: GateRules, protected: ProtectedPaths, change: Change
) -> tuple[Refusal, ...]:
    """Return the refusals of a change for what it touches and for its size."""
    refusals = [*judge_repository(change.git_changes)]
    if names := _show_paths(protected.changed_in(change)):
        refusals.append(_must_not_change("protected_path_changed", names, "put it back as it was"))
    if names := _show_paths(change.changed_by_checks):
        how = "but a check changes it: run the checks yourself, and end with files they leave alone"
        refusals.append(_must_not_change("changed_while_judged", names, how))
    sizes = (
        ("lines", change.lines, rules.max_lines),
        ("files", change.files, rules.max_files),
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


def judge_repository(git_changes: Sequence[str]) -> tuple[Refusal, ...]:
    """Return the refusal of changes to the repository itself; see `Workspace.git_changes`."""
    if not git_changes:
        return ()
    names = [escape_text(name) for name in git_changes]
    return (_must_not_change("protected_path_changed", names, "put it back as it was"),)


def _show_paths(paths: Sequence[bytes]) -> list[str]:
    return [escape_text(path.decode("utf-8", "backslashreplace")) for path in paths]


def _must_not_change(kind: GateRefusalKind, names: Sequence[str], how: str) -> Refusal:
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    reason = f"{names[0]}{more} must not change: {how}"
    return Refusal(kind=kind, reason=reason, detail="\n".join(names[:_NAMED_PATHS]))
