"""Which hosts the words of a user ask to read from.

Rule 1: an address with `http://` or `https://` names its host, and not the user in it.
Rule 2: a bare name is a host where its ending is that of hosts, and never that of files or of
        names in code: `docs.example.com`, not `README.md`, `main.rs`, `os.path` or `java.net`.
Rule 3: what is to be blocked is not read: `block docs.example.com`, `add it to the denylist`.
Rule 4: the host of a mail address is none, nor is a number with dots.
"""

import re
from typing import Final

_ADDRESS: Final = re.compile(r"(?<![\w+.-])https?://([^\s/?#\"'`<>()\[\]{}|\\^]+)", re.IGNORECASE)
_HOST: Final = re.compile(r"[a-z0-9-]+(?:\.[a-z0-9-]+)*", re.IGNORECASE | re.ASCII)
_BARE: Final = re.compile(r"(?<![\w@/:.$%&=\\-])[\w-]+(?:\.[\w-]+)+(?![\w(\[@\\-])(?!\.\w)")
_ENDINGS: Final = frozenset(("com", "org", "edu", "gov", "example"))
_ENDINGS_BEFORE_A_PATH: Final = frozenset(("net", "io", "dev", "ai", "app", "cloud", "eu"))
"""Endings that names in code have as well: with a path after them, they are of hosts."""

_BLOCKS: Final = re.compile(
    r"(?:^|(?<=[^\w\s])\s*|\b(?:and|then|please|also|to|should|must|you)\s+)"
    r"(?:block|blacklist|blocklist|ban|deny|reject|disallow)\b(?![^\n]*[.;!?]\s)",
    re.IGNORECASE,
)
_ON_A_LIST: Final = re.compile(
    r"[^\n.;!?]{0,40}\s(?:to|on|onto|in|into)\s+(?:\S+\s+){0,3}?"
    r"(?:deny|block|black|ban|reject)[ -]?list",
    re.IGNORECASE,
)
_MOST_BEFORE: Final = 200
_AROUND: Final = ".,;:!"
_PORT: Final = re.compile(r":\d*$")


def read_hosts(text: str) -> frozenset[str]:
    """Return the hosts that a text names, in small letters."""
    found = set[str]()
    for address in _ADDRESS.finditer(text):
        host = _PORT.sub("", address[1].rstrip(_AROUND))
        if _HOST.fullmatch(host) and not _is_blocked(text, *address.span()):
            found.add(host.lower())
    for bare in _BARE.finditer(text):
        name = bare[0]
        ending = name.rpartition(".")[2]
        has_path = text[bare.end() : bare.end() + 1] == "/"
        ends = ending in _ENDINGS or (has_path and ending in _ENDINGS_BEFORE_A_PATH)
        if ends and _HOST.fullmatch(name) and not _is_blocked(text, *bare.span()):
            found.add(name.lower())
    return frozenset(found)


def _is_blocked(text: str, begin: int, end: int) -> bool:
    """Return whether what stands at a place is to be blocked, by the words of its sentence."""
    if _ON_A_LIST.match(text, end):
        return True
    return _BLOCKS.search(text[max(0, begin - _MOST_BEFORE) : begin]) is not None
