"""Prompt templates: known placeholders, checked when a loop is built and filled in one pass.

Values that are filled in are not parsed: braces in a task, an output or a critique stay as they
are. `{{` and `}}` in a template are single braces.
"""

from collections.abc import Mapping
from string import Formatter
from typing import Final

_PLACEHOLDERS: Final = ("prompt", "output", "critique", "issues_bulleted")
"""The task; the newest output; the whole critique; its issues, one a line."""


class Template:
    """A prompt with placeholders.

    Attributes:
        names: the placeholders that the template has.
    """

    def __init__(self, text: str, *also: str) -> None:
        """Parse the template. `also` are placeholders that only this one may have.

        Raises:
            ValueError: a brace has no partner, or a placeholder is unknown.
        """
        try:
            parts = [*Formatter().parse(text)]
        except ValueError as error:
            raise ValueError(f"{error}: write {{{{ and }}}} for braces in a template") from None
        known = (*_PLACEHOLDERS, *also)
        for _, name, spec, conversion in parts:
            if name is not None and (name not in known or spec or conversion):
                allowed = ", ".join(f"{{{allowed}}}" for allowed in known)
                raise ValueError(f"unknown placeholder {{{name}}}: use {allowed}")
        self._parts = [(literal, name) for literal, name, _, _ in parts]
        self.names: frozenset[str] = frozenset(name for _, name in self._parts if name)

    def fill(self, values: Mapping[str, str]) -> str:
        """Return the prompt, with a value for each of `names`."""
        return "".join(
            literal + ("" if name is None else values[name]) for literal, name in self._parts
        )


def require(template: Template, what: str, *needed: str) -> None:
    """Check that a template has at least one of the placeholders `needed`.

    Raises:
        ValueError: it has none of them, so the model would not see what it is asked about.
    """
    if not template.names & {*needed}:
        places = " or ".join(f"{{{name}}}" for name in needed)
        raise ValueError(f"{what} must show {places}")


def bullet_lines(lines: tuple[str, ...]) -> str:
    """Return the lines as a list; further lines of one item are indented."""
    return "\n".join("- " + line.strip().replace("\n", "\n  ") for line in lines)
