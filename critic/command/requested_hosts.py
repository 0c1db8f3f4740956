"""Which hosts the words of a user ask to read from.

Rule 1: an address with `http://` or `https://` names its host, and not the user in it.
Rule 2: a bare name is a host where its ending is that of hosts, and never that of files or of
        names in code: `docs.example.com`, not `README.md`, `main.rs`, `os.path` or `java.net`.
Rule 3: the host of a mail address is none, nor is a number with dots.
"""

import re
from typing import Final

_ADDRESS: Final = re.compile(r"(?<![\w+.-])https?://([^\s/?#\"'`<>()\[\]{}|\\^]+)", re.IGNORECASE)
_HOST: Final = re.compile(r"[a-z0-9-]+(?:\.[a-z0-9-]+)*", re.IGNORECASE | re.ASCII)
_BARE: Final = re.compile(r"(?<![\w@/:.$%&=\\-])[\w-]+(?:\.[\w-]+)+(?![\w(\[@\\-])(?!\.\w)")
_ENDINGS: Final = frozenset(("com", "org", "edu", "gov", "example"))
_ENDINGS_BEFORE_A_PATH: Final = frozenset(("net", "io", "dev", "ai", "app", "cloud", "eu"))
"""Endings that names in code have as well: with a path after them, they are of hosts."""

_AROUND: Final = ".,;:!"
_PORT: Final = re.compile(r":\d*$")


def read_hosts(text: str) -> frozenset[str]:
    """Return the hosts that a text names, in small letters."""
    found = set[str]()
    for address in _ADDRESS.finditer(text):
        host = _PORT.sub("", address[1].rstrip(_AROUND))
        if _HOST.fullmatch(host):
            found.add(host.lower())
    for bare in _BARE.finditer(text):
        name = bare[0]
        ending = name.rpartition(".")[2]
        has_path = text[bare.end() : bare.end() + 1] == "/"
        ends = ending in _ENDINGS or (has_path and ending in _ENDINGS_BEFORE_A_PATH)
        if ends and _HOST.fullmatch(name):
            found.add(name.lower())
    return frozenset(found)
