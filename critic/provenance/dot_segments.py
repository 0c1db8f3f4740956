"""Segments of paths that a program may read as dots, or as several segments."""

import re
from collections.abc import Iterable
from typing import Final

from critic.provenance.folding import compatible, wide

_DOTS: Final = re.compile(r"\.{1,2}(?![A-Za-z0-9_.-]|[^\x00-\x7f])")
_DOTS_IN_BRACES: Final = re.compile(r"[{,]\.{1,2}[,}]")


def may_go_up(segments: Iterable[str]) -> bool:
    """Return whether a program may read a segment as dots or as several: `..;x`, or wide dots."""
    return any(map(_may_be_dots, segments))


def _may_be_dots(segment: str) -> bool:
    plain, seen = segment, segment
    if not segment.isascii():
        plain, seen = compatible(segment), wide(segment)
    in_braces = "{" in seen and _DOTS_IN_BRACES.search(seen) is not None
    return in_braces or "/" in plain or "\\" in plain or _DOTS.match(seen) is not None
