"""How programs show a text with markup or escapes in it: without the signs that they read.

Rule 1: tags are dropped, and what is around the words of a link or of emphasis in Markdown. A tag
        may leave a space. A browser drops comments, scripts and styles as well; programs that only
        drop tags do not, and others only read references.
Rule 2: references of HTML, escapes of strings and of mails, and a backslash before a sign are read.
        What was escaped twice is read twice.
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
_QUOTING_TAG: Final = re.compile(
    r"<[A-Za-z](?:[^<>\"']|\"[^\"]{0,1000}+\"|'[^']{0,1000}+'){0,100}+>"
)
"""A tag as browsers read it, with `>` in its attributes."""
_LEFT: Final = re.compile("<[^<>]*+>|&[#A-Za-z]")
"""What a program that reads an escaped text once more still reads in it."""
_LINK: Final = re.compile(r"!?\[([^\[\]]*+)\]\([^()]*+\)")
_LONG_CODE: Final = re.compile("&#[0-9]{8,}+;?")
_ESCAPE: Final = re.compile(
    r"\\u([0-9A-Fa-f]{4})|\\u\{([0-9A-Fa-f]{1,5})\}|\\x([0-9A-Fa-f]{2})|=([2-7][0-9A-Fa-f])"
    r"|[=\\]\r?\n"
)
_BACKSLASH: Final = re.compile(r"\\(?=[^A-Za-z0-9\s])")
_EMPHASIS: Final = re.compile("[*_`~]")
_BREAK: Final = re.compile("[\r\n\t]")
_GAPS: Final = ("", " ")
"""What a tag may leave."""
_SURROGATES: Final = range(0xD800, 0xE000)
_LONGEST_LINE: Final = 1000


def rendered_forms(text: str) -> Iterator[str]:
    """Yield a text as programs may show it, each form once, but not as it stands."""
    found = dict.fromkeys(_forms_of(text)) if _READ.search(text) or not text.isascii() else {}
    yield from (one for one in found if one != text)


def _forms_of(text: str) -> Iterator[str]:
    once = dict.fromkeys(_read_once(text))
    again = [_read_markup(one, gap) for one in once if _LEFT.search(one) for gap in _GAPS]
    for plain in dict.fromkeys((*once, *again)):
        bare = _EMPHASIS.sub("", plain)
        yield from (plain, bare)
        if not plain.isascii():
            yield _in_plain_letters(plain)
        if len(text) <= _LONGEST_LINE:
            yield _BREAK.sub("", bare)


def _read_once(text: str) -> Iterator[str]:
    """Yield what a program shows that reads references alone, and what a browser does."""
    yield _unescape(text)
    shown = (_QUOTING_TAG.sub("", text), _without_hidden(text)) if "<" in text else (text,)
    yield from (_read_markup(one, gap) for one in dict.fromkeys(shown) for gap in _GAPS)


def _read_markup(text: str, gap: str) -> str:
    return _unescape(_LINK.sub(r"\1", _TAG.sub(gap, text)))


def _without_hidden(text: str) -> str:
    """Return a text without comments and what is no text of a page. It is read once."""
    first, *others = _HIDES.split(text.replace("<![CDATA[", "").replace("]]>", ""))
    return first + "".join(one for other in others for one in _HIDDEN_TO.split(other, 1)[1:])


def _unescape(text: str) -> str:
    if "&" in text:
        from html import unescape  # noqa: PLC0415 - few texts have references

        text = unescape(_LONG_CODE.sub("", text))
    return _BACKSLASH.sub("", _ESCAPE.sub(_read_escape, text))


def _read_escape(escape: re.Match[str]) -> str:
    code = next(filter(None, escape.groups()), None)  # without one, a line goes on
    return "" if code is None or int(code, 16) in _SURROGATES else chr(int(code, 16))


def _in_plain_letters(text: str) -> str:
    if not is_read_whole((text,)):
        text = mask_signs(text)
    apart = ucd_3_2_0.normalize("NFKD", compatible(text)).replace("\u3002", ".")
    return apart.translate(dict.fromkeys(ord(one) for one in {*apart} if ucd_3_2_0.combining(one)))
