"""Suggest the command, choice or option that was probably meant."""

import argparse
import re
from collections.abc import Sequence
from typing import Final

_CHOICE: Final = re.compile(r"invalid choice: '?([^' ]*)'? \(choose from ([^)]*)\)")


def nearest(name: str, known: Sequence[str]) -> str:
    """Return the name that was probably meant, as a question; empty if none is near."""
    from difflib import get_close_matches  # noqa: PLC0415 - for mistakes only

    near = get_close_matches(name, known, 1, 0.6)
    return f"did you mean {near[0]}? " if near else ""


def nearest_choice(message: str) -> str:
    """Return the message of argparse about a choice, with the nearest one first."""
    found = _CHOICE.search(message)
    if found is None:
        return message
    known = [one.strip(" '") for one in found[2].split(",")]
    told = f"unknown: {found[1]}: {nearest(found[1], known)}known are {', '.join(known)}"
    return f"{message[: found.start()]}{told}{message[found.end() :]}"


def unknown_options(given: Sequence[str], known: Sequence[str]) -> str:
    """Return the error for unknown arguments."""
    first = given[0].partition("=")[0]
    near = nearest(first, known)
    return f"unrecognized arguments: {' '.join(given)}: {near or 'leave them out'}".rstrip()


def command_of(
    parser: argparse.ArgumentParser, given: argparse.Namespace
) -> argparse.ArgumentParser:
    """Return the parser of the command that was given."""
    inner = next(
        (one for one in parser._actions if isinstance(one, argparse._SubParsersAction)), None
    )
    chosen = None if inner is None else inner.choices.get(getattr(given, inner.dest, None) or "")
    return parser if chosen is None else command_of(chosen, given)
