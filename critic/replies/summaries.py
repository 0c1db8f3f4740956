"""A call in the words that its tool has for it: `Pay back {amount} EUR on {payment_id}`."""

import re
from collections.abc import Iterator, Mapping
from string import Formatter
from typing import Any, Final

from critic.replies.quoting import Pen

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


def summary_names(template: str) -> list[str]:
    """Return the arguments that a summary names in braces.

    Raises:
        ValueError: a brace is open, or holds more than a name.
    """
    return [name for _, name in _parts(template) if name is not None]


def summarize_call(
    pen: Pen, tool: str, args: Mapping[str, Any], template: str | None = None
) -> str:
    """Return a call with every argument: those that its summary does not name stand behind it."""
    if template is None or not {*summary_names(template)} <= args.keys():
        given = ", ".join(f"{pen.name(name)} = {pen.show(one)}" for name, one in args.items())
        return f"{pen.name(tool)}({given})"
    words, named = "", set[str]()
    for text, name in _parts(template):
        words += text if name is None else f"{text}{pen.word(args[name])}"
        named |= set() if name is None else {name}
    rest = [f"{pen.name(one)} {pen.show(args[one])}" for one in args if one not in named]
    return f"{words} ({'; '.join([pen.name(tool), *filter(None, [', '.join(rest)])])})"


def _parts(template: str) -> Iterator[tuple[str, str | None]]:
    for text, name, form, conversion in Formatter().parse(template):
        if name is not None and (form or conversion or not _NAME.fullmatch(name)):
            raise ValueError(f"{{{name}}} is not the name of an argument")
        yield text, name
