"""How programs show a text with markup or escapes in it: without the signs that they read.

Rule 1: what a page hides is dropped: tags, comments, scripts and styles, and what is around the
        words of a link or of emphasis in Markdown. A tag may leave a space.
Rule 2: references of HTML, escapes of strings and of mails, and a backslash before a sign are read.
Rule 3: a short text may be kept on one line, letters without their accents, and the stop of
        another script as a dot.
"""

import re
from collections.abc import Iterator
from typing import Final
from unicodedata import ucd_3_2_0

from critic.provenance.folding import compatible, is_read_whole, mask_signs

_READ: Final = re.compile(r"[<&\\*`~\[=_\r\n\t]")
"""The signs of which each such text has one, if it is ASCII."""
_HIDES: Final = re.compile("<!--|<(?:script|style|template|head|title)(?![A-Za-z-])", re.IGNORECASE)
_HIDDEN_TO: Final = re.compile(
    "-->|</(?:script|style|template|head|title)(?![A-Za-z-])[^<>]*+>?", re.IGNORECASE
)
_TAG: Final = re.compile("<[^<>]*+>")
_LINK: Final = re.compile(r"!?\[([^\[\]]*+)\]\([^()]*+\)")
_LONG_CODE: Final = re.compile("&#[0-9]{8,}+;?")
_ESCAPE: Final = re.compile(r"\\u([0-9A-Fa-f]{4})|\\x([0-9A-Fa-f]{2})|=([2-7][0-9A-Fa-f])")
_BACKSLASH: Final = re.compile(r"\\(?=[^A-Za-z0-9\s])")
_EMPHASIS: Final = re.compile("[*_`~]")
_BREAK: Final = re.compile("[\r\n\t]")
_SURROGATES: Final = range(0xD800, 0xE000)
_LONGEST_LINE: Final = 1000


def rendered_forms(text: str) -> Iterator[str]:
    """Yield a text as programs may show it, each form once, but not as it stands."""
    found = dict.fromkeys(_forms_of(text)) if _READ.search(text) or not text.isascii() else {}
    yield from (one for one in found if one != text)


def _forms_of(text: str) -> Iterator[str]:
    shown = _without_hidden(text)
    for gap in ("", " ") if "<" in shown else ("",):
        plain = _unescape(_LINK.sub(r"\1", _TAG.sub(gap, shown)))
        bare = _EMPHASIS.sub("", plain)
        yield from (plain, bare)
        if not plain.isascii():
            yield _in_plain_letters(plain)
        if len(text) <= _LONGEST_LINE:
            yield _BREAK.sub("", bare)


def _without_hidden(text: str) -> str:
    """Return a text without comments and what is no text of a page. It is read once."""
    if "<" not in text:
        return text
    first, *others = _HIDES.split(text.replace("<![CDATA[", "").replace("]]>", ""))
    return first + "".join(one for other in others for one in _HIDDEN_TO.split(other, 1)[1:])


def _unescape(text: str) -> str:
    if "&" in text:
        from html import unescape  # noqa: PLC0415 - few texts have references

        text = unescape(_LONG_CODE.sub("", text))
    return _BACKSLASH.sub("", _ESCAPE.sub(_read_escape, text))


def _read_escape(escape: re.Match[str]) -> str:
    code = int(next(filter(None, escape.groups())), 16)
    return "" if code in _SURROGATES else chr(code)


def _in_plain_letters(text: str) -> str:
    if not is_read_whole((text,)):
        text = mask_signs(text)
    apart = ucd_3_2_0.normalize("NFKD", compatible(text)).replace("\u3002", ".")
    return apart.translate(dict.fromkeys(ord(one) for one in {*apart} if ucd_3_2_0.combining(one)))
