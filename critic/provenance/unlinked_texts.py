"""Texts without the links in them: whoever made a link chose what it holds."""

import re
from typing import Final

from critic.provenance.boundaries import compile_pattern
from critic.provenance.folding import small
from critic.provenance.link_signs import (
    LINK_CLOSING,
    LINK_ENDS,
    LINK_OPENING,
    LINK_QUOTES,
    LINK_SPACES,
    LINK_STOPS,
)

_OF_LINK: Final = rf"[^{LINK_SPACES}<>\"`(){LINK_QUOTES}{LINK_STOPS}{LINK_OPENING}{LINK_CLOSING}]"
_SPELLED_OUT: Final = (
    r"(?i)(?:(?<![A-Za-z0-9+.-])[a-z][a-z0-9+.-]{0,19}://|(?<![A-Za-z0-9@./-])www\.)"
    rf"(?:{_OF_LINK}++|\({_OF_LINK}*+\))*+"
)
"""A link that is written as one, with all that readers may take for a part of it."""
_NO_LINK: Final = "_"


def without_links(text: str) -> str:
    """Return a text with a sign that names nothing for each link that is written as one."""
    if "://" not in text and "www." not in small(text):
        return text
    return compile_pattern(_SPELLED_OUT).sub(_without_link, text)


def _without_link(link: re.Match[str]) -> str:
    return _NO_LINK + link[0][len(link[0].rstrip(LINK_ENDS)) :]
