"""Bugs of tools that write files: a path that is not judged, or as another one."""

from typing import Final

from tests.assurance.planted.bug import Bug, slip

_FILES: Final = "critic/command/file_tools.py"
_PARTS: Final = "critic/command/plan_parts.py"
_WORLD: Final = "harness/guard/shell_world.py"

FILE_BUGS: Final[tuple[Bug, ...]] = (
    slip(
        "first-path-of-a-call",
        _FILES,
        "of several arguments with paths one is judged",
        "return _write_line(texts)",
        "return _write_line(texts[:1])",
    ),
    slip(
        "path-that-is-no-text",
        _FILES,
        "a path that is no text is left out, and the others are judged",
        "        if len(texts) < len(values):\n            return None\n",
        "",
    ),
    slip(
        "file-moved-unseen",
        _FILES,
        "the place to which a patch moves a file is not judged",
        r"(?:Add|Update|Delete) File|Move to",
        r"(?:Add|Update|Delete) File",
    ),
    slip(
        "header-with-a-space-before-it",
        _FILES,
        "a header of a patch that is indented is not seen",
        "_PATCHED.fullmatch(line.strip())",
        "_PATCHED.fullmatch(line)",
    ),
    slip(
        "home-as-written",
        _FILES,
        "a path that begins with ~/ is a folder of the project",
        '        yield f"~/{quote_word(path[2:])}"',
        "        yield quote_word(path[2:])",
    ),
    slip(
        "home-of-another-user",
        _FILES,
        "a path that begins with ~name is a folder of the project",
        '        yield "~?"',
        "        yield quote_word(path)",
    ),
    slip(
        "written-files-unseen-by-commands",
        _PARTS,
        "a command does not mind what a tool writes in the same turn",
        "    if len(read) > 1 and not _fit_together(",
        "    if sum(not one.is_file for one in commands) > 1 and not _fit_together(",
    ),
    slip(
        "written-file-is-a-program",
        _PARTS,
        "all that a tool that writes files does is left out",
        '        if step.effect != "list":',
        '        if step.effect not in ("list", "write_outside"):',
    ),
    slip(
        "any-kind-of-argument",
        _PARTS,
        "a command is read as the files that a tool writes",
        'is_file = argument.kind != "command"',
        'is_file = argument.kind == "command"',
    ),
    slip(
        "no-bare-repository",
        _WORLD,
        "git runs in a folder that is laid out as a repository",
        "        if _looks_like_repository(one):",
        "        if _looks_like_repository(one) and (one / 'HEAD').is_symlink():",
    ),
)
"""Each lets a file be written, or a program run, that nobody allowed."""
