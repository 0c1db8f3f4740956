"""What a tool that writes files does, as the command line that does as much to the same paths.

So the same lists of names, the same project and the same links decide on both, and a write of one
call counts for the command of another in the same turn. For example a call with

    {"file_path": "docs/a b.md", "content": "..."}

is judged as `: > 'docs/a b.md'`.

Rule 1: a path is taken as written, and once more as a shell takes it where it begins with `~/`:
        some tools do so.
Rule 2: what has no path in it, or is no such text, is not understood.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, NamedTuple, assert_never

from critic.command.shell_syntax import quote_word

ActingKind = Literal["command", "path", "patch"]
"""What an argument is: a shell command, a path that is written, a patch that names such paths."""

_PATCHED: Final = re.compile(
    r"\*\*\* (?:(?:Add|Update|Delete) File|Move to):[^\S\n]*(\S(?:[^\n]*\S)?)[^\S\n]*"
)


class CommandArgument(NamedTuple):
    """The argument of a tool that decides what a call of it does; of paths there may be several."""

    names: tuple[str, ...]
    kind: ActingKind = "command"

    def wire(self) -> dict[str, Any]:
        """Return it as JSON."""
        if self.kind == "command":
            return {"argument": self.names[0]}
        return {"arguments": [*self.names], "kind": self.kind}

    @classmethod
    def read(cls, value: Mapping[str, Any]) -> "CommandArgument":
        """Return the argument that JSON tells, as `wire` does.

        Raises:
            KeyError, TypeError, ValueError: it tells none.
        """
        kind = value.get("kind", "command")
        if kind == "command":
            return cls((value["argument"],))
        names = value["arguments"]
        if kind not in ("path", "patch") or not all(type(one) is str for one in names):
            raise ValueError("no argument that says what a call does")
        return cls((*names,), kind)

    def command_of(self, args: Mapping[str, Any]) -> object:
        """Return the command that a call comes to; None where it is not known."""
        values = [args[name] for name in self.names if args.get(name) is not None]
        if self.kind == "command":
            return values[0] if values else None
        texts = [one for one in values if type(one) is str and one]
        if len(texts) < len(values):
            return None
        match self.kind:
            case "path":
                return _write_line(texts)
            case "patch":
                return _write_line([path for one in texts for path in _patched_paths(one)])
            case _:
                assert_never(self.kind)


def _patched_paths(patch: str) -> Iterator[str]:
    """Yield the paths in the headers of a patch, however far they are indented.

    A carriage return ends no line: within one it is a part of the path.
    """
    for line in patch.split("\n"):
        header = _PATCHED.fullmatch(line.strip())
        if header is not None:
            yield header[1]


def _write_line(paths: list[str]) -> str | None:
    """Return the line that writes files, each under all names that it may have."""
    names = [name for path in paths for name in _spellings(path)]
    return "\n".join(f": > {name}" for name in names) or None


def _spellings(path: str) -> Iterator[str]:
    yield quote_word(path)
    if path.startswith("~/"):
        yield f"~/{quote_word(path[2:])}"
    elif path.startswith("~"):
        yield "~?"  # of a user, or a glob: not understood
