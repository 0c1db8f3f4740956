"""Take the passwords of URLs out of what is printed."""

import re
from typing import Final

# Too much rather than too little: an unescaped password may hold any of the signs around it, and a
# misspelt name of an option may stand before it.
_PASSWORDS: Final = (
    re.compile(r"(:/+[^\s:/@?]*:)(?=\S*@)\S*"),
    re.compile(r"(:/+[^\s?]*\?)\S*"),
)


def without_passwords(text: str) -> str:
    """Return a text, such as a command line, with `***` from where its URLs have a password."""
    for pattern in _PASSWORDS:
        text = pattern.sub(r"\1***", text)
    return text
