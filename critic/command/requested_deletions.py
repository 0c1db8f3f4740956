"""Which paths the words of a user ask to be deleted.

Rule 1: a path is the object of a word that deletes: it stands right after it, or after words for a
        file or a folder, or in a list that begins so. `Remove the import from a.py` names none, and
        neither do `Remove a.py imports`, `Remove a.py from the index` and `Remove foo (a.py)`.
Rule 2: the word is an order or a wish (see `deed_orders`): not `can we delete a.py?`, `whether it
        is safe to delete a.py`, or `a script that deletes a.py`.
Rule 3: a list goes on over `and` and commas, and ends with its sentence.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from critic.command.deed_orders import is_order_at

_DELETES: Final = frozenset(("delete", "deleting", "remove", "removing", "rm", "rmdir", "unlink"))
_FILES: Final = frozenset(
    (
        *("file", "files", "folder", "folders", "directory", "directories", "dir", "script"),
        *("scripts", "both", "these", "those", "following", "the", "this", "that", "my", "our"),
    )
)
"""Words that may stand right before the path."""
_PLACES: Final = frozenset(
    (
        *("from", "in", "of", "inside", "within", "into", "at", "on", "to", "for", "with", "by"),
        *("across", "throughout", "through", "over", "under", "between", "around", "near", "via"),
        *("about", "like", "as", "if", "when", "where", "that", "which", "who", "whose"),
    )
)
"""Words after which a path says where something is."""
_FOLLOW: Final = frozenset(
    (
        *("please", "too", "now", "then", "since", "because", "if", "when", "before"),
        *("after", "completely", "entirely", "again", "it", "they", "which", "afterwards", "once"),
    )
)
_ARTICLES: Final = frozenset(("the", "this", "that", "my", "our", "your", "a", "here"))
_WHERE_FILES_ARE: Final = frozenset(
    (
        *("disk", "disc", "repo", "repository", "project", "folder", "directory", "codebase"),
        *("workspace", "checkout", "filesystem", "drive", "machine", "computer", "source", "tree"),
    )
)
"""From where a path is removed as a file. From anything else, only its mention is."""
_REASON_BEGINS: Final = frozenset(
    ("it", "they", "we", "nobody", "nothing", "i", "you", "this", "that", "these", "those")
)
_JOINS: Final = frozenset(("and", "or", "&", "plus"))
_PATH: Final = re.compile(r"[\w./~-]+")
_AROUND: Final = "\"'`<>*_"
_ENDS: Final = ".,;:!?"
_MOST_BETWEEN: Final = 6


def read_deletions(text: str) -> Iterator[str]:
    """Yield the names that a text asks to be deleted."""
    words = text.split()
    for at, word in enumerate(words):
        if word.strip(_AROUND).lower() in _DELETES and is_order_at(words, at):
            yield from _names_from(words, _find_list(words, at + 1))


def _find_list(words: Sequence[str], at: int) -> int:
    """Return where the list begins whose verb stands before a word; after all words, if nowhere."""
    begin = at
    while at < min(len(words), begin + _MOST_BETWEEN) and not _is_path(words[at]):
        word = words[at].rstrip(_ENDS).lower()
        is_end = words[at] != words[at].rstrip(_ENDS) and not words[at].endswith(":")
        if (word in _PLACES and word != "that") or is_end:
            return len(words)
        at += 1
    last = words[at - 1].rstrip(_ENDS).lower()
    is_named = at == begin or last in _FILES or (last[:1] == "-" and last != "-")
    return at if is_named else len(words)


def _names_from(words: Sequence[str], at: int) -> Iterator[str]:
    """Yield the names of a list of paths, none if something of the files is meant."""
    names = list[str]()
    while at < len(words) and _is_path(words[at]):
        sign = words[at].rstrip(_AROUND)[-1:]
        is_last = sign not in {"", ","} and sign in _ENDS
        if sign not in _ENDS and not _is_end_of_list(words[at + 1 : at + 5]):
            return  # `a.py imports`, `a.py from the index`: something of the file
        names.append(_name_of(words[at]))
        if is_last:
            break
        at += 1
        while at < len(words) and words[at].lower() in _JOINS | _FILES:
            at += 1
    yield from names


def _is_end_of_list(behind: Sequence[str]) -> bool:
    """Return whether a path may be what is deleted, by the words behind it."""
    plain = [word.strip(_AROUND).rstrip(_ENDS).lower() for word in behind]
    if not plain or plain[0] in _JOINS | _FOLLOW:
        return True
    if plain[0] == "from":
        rest = [word for word in plain[1:] if word not in _ARTICLES]
        return bool(rest) and rest[0] in _WHERE_FILES_ARE
    return plain[0] == "as" and plain[1:2] != [] and plain[1] in _REASON_BEGINS


def _is_path(word: str) -> bool:
    """Return whether a word may be a path: with a dot or a slash in it, and nothing after it."""
    name = _name_of(word)
    return _PATH.fullmatch(name) is not None and ("/" in name or "." in name[1:])


def _name_of(word: str) -> str:
    return word.strip(_AROUND).rstrip(_ENDS).strip(_AROUND)
