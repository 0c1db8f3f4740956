"""Prompt templates: known placeholders, checked when a loop is built and filled in one pass.

What is filled in is never looked at again: braces in a task, an output or a critique stay as they
are. `{{` and `}}` in a template are single braces.
"""

from collections.abc import Mapping
from string import Formatter
from typing import Final

PLACEHOLDERS: Final = ("prompt", "output", "critique", "issues_bulleted")
"""The task; the newest output; the critique as a whole; its issues, one to a line."""


class Template:
    """A prompt with places in it.

    Attributes:
        names: the placeholders that it has.
    """

    def __init__(self, text: str) -> None:
        """Take the template apart.

        Raises:
            ValueError: a brace stands alone, or a placeholder is none of `PLACEHOLDERS`.
        """
        try:
            parts = [*Formatter().parse(text)]
        except ValueError as error:
            raise ValueError(f"{error}: write {{{{ and }}}} for braces in a template") from None
        for _, name, spec, conversion in parts:
            if name is not None and (name not in PLACEHOLDERS or spec or conversion):
                known = ", ".join(f"{{{known}}}" for known in PLACEHOLDERS)
                raise ValueError(f"unknown placeholder {{{name}}}: a template knows {known}")
        self._parts = [(literal, name) for literal, name, _, _ in parts]
        self.names = frozenset(name for _, name in self._parts if name)

    def fill(self, values: Mapping[str, str]) -> str:
        """The prompt, with a value for each of `names`."""
        return "".join(
            literal + ("" if name is None else values[name]) for literal, name in self._parts
        )


def require(template: Template, what: str, *needed: str) -> None:
    """Check that a template shows at least one of `needed`.

    Raises:
        ValueError: it does not, so whoever is asked would answer blindly.
    """
    if not template.names & {*needed}:
        places = " or ".join(f"{{{name}}}" for name in needed)
        raise ValueError(f"{what} must show {places}")


def bulleted(lines: tuple[str, ...]) -> str:
    """The lines as a list, the further lines of each indented."""
    return "\n".join("- " + line.strip().replace("\n", "\n  ") for line in lines)
