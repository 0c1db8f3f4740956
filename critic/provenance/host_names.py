"""Names of hosts: what a reader takes for one, by what it ends in.

Rule 1: a name with dots is a host where it ends as hosts do, or has a page. What ends the names of
        files ends those of hosts only where something else says that it is one.
"""

import re
from typing import Final, Literal

from critic.provenance.folding import small

_NAMED_TLD: Final = re.compile(r"[^\x00-@\[-`{-\xbf]{2,}|xn--[a-z0-9-]+")
_ENCODED: Final = "xn--"
"""What an ending in another script begins with in ASCII: no other word does."""
_FILE_ENDINGS: Final = frozenset(
    (
        *("bak", "bat", "bmp", "c", "cc", "cfg", "conf", "cpp", "cs", "css", "csv", "dat"),
        *("db", "doc", "docx", "dmg", "eml", "env", "exe", "gif", "go", "gz", "h", "hpp"),
        *("htm", "html", "ics", "ini", "ipynb", "jar", "java", "jpeg", "jpg", "js", "json"),
        *("jsonl", "jsx", "kt", "lock", "log", "lua", "m4a", "md", "mov", "mp3", "mp4"),
        *("numbers", "odp", "ods", "odt", "old", "ogg", "pages", "parquet", "pdf", "pem"),
        *("php", "pl", "png", "ppt", "pptx", "ps", "py", "rar", "rb", "rs", "rst", "rtf"),
        *("sh", "so", "sql", "sqlite", "svg", "swift", "tar", "tex", "tgz", "toml", "ts"),
        *("tsv", "tsx", "txt", "vue", "wav", "webp", "xls", "xlsx", "xml", "yaml"),
        *("yml", "zip"),
    )
)
"""What ends the names of files more often than hosts that are written bare."""
FILE_HOSTS: Final = frozenset(("cc", "md", "mov", "pl", "ps", "py", "rs", "sh", "so", "zip"))
"""What ends the names of files and is a top-level domain, in which anybody may have a host."""
_TLDS: Final = frozenset(
    (
        *("ai", "app", "biz", "click", "cloud", "club", "com", "dev", "edu", "email"),
        *("example", "fun", "gov", "info", "int", "invalid", "io", "link", "live", "mil"),
        *("mobi", "name", "net", "online", "org", "page", "pro", "shop", "site", "space"),
        *("store", "tech", "test", "top", "tv", "website", "work", "world", "xyz", "zone"),
    )
)
"""What ends a host that is written bare, beside the two letters of a country."""

Looks = Literal["link", "host", "words"]
"""What a reader takes for a link by itself, for a host only where it was seen as one, or never."""


def may_be_file(text: str) -> bool:
    """Return whether what can be read as a link may be the name of a file: it names no host."""
    host = host_of(text)
    return last_label(host) in _FILE_ENDINGS and not host.startswith("www.")


def names_no_host(text: str) -> bool:
    """Return whether what can be read as a link may be a file, or a number with points."""
    host = host_of(text)
    is_number = "/" not in text and _NAMED_TLD.fullmatch(last_label(host)) is None
    return may_be_file(text) or (is_number and not host.startswith("www."))


def host_of(text: str) -> str:
    """Return what is before the page of what can be read as a link, in small letters."""
    return small(re.split("[/?#]", text, maxsplit=1)[0])


def looks_of(ending: str, *, has_page: bool) -> Looks:
    """Return what a reader takes a name with this ending for."""
    if ending in _FILE_ENDINGS or _NAMED_TLD.fullmatch(ending) is None:
        return "words"
    if has_page or ending in _TLDS or ending.startswith(_ENCODED):
        return "link"
    return "host" if len(ending) == 2 and ending.isascii() else "words"


def last_label(host: str) -> str:
    """Return what a host ends in, without its port."""
    return host.partition(":")[0].rpartition(".")[2]
