"""Which packages the words of a user ask to be installed.

Rule 1: a package is named beside a word that installs (`install requests and react`), in quotes or
        not; or with its scope or its version, in the same breath. Any other word is none.
Rule 2: words that sentences are made of are no packages, unless they stand in quotes.
Rule 3: the word is an order or a wish (see `deed_orders`). `how to install`, what users are
        to install, and what is to be written (`add a line: install x`) ask for nothing.
Rule 4: a whole list is asked for by its own words: `install the dependencies`, `sync`.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from critic.command.deed_orders import is_order_at

_INSTALLS: Final = frozenset(
    (
        *("install", "installing", "reinstall", "upgrade", "upgrading", "add", "adding", "use"),
        *("using", "update", "updating"),
    )
)
_MANAGERS: Final = frozenset(("npm", "pnpm", "bun", "yarn"))
_JOINS: Final = frozenset(("and", "&", "+", "plus"))
_PACKAGE_WORDS: Final = frozenset(
    ("package", "packages", "library", "libraries", "dependency", "lib", "crate", "gem", "plugin")
)
_FILLERS: Final = _PACKAGE_WORDS | {"latest", "newest", "version", "of", "dev", "both", "npm"}
_ARTICLES: Final = frozenset(("the", "a", "an", "our", "this", "that"))
_LISTS: Final = frozenset(
    (
        *("dependencies", "dependency", "deps", "packages", "requirements", "everything", "all"),
        *("project", "it", "them", "modules", "node_modules", "gems", "crates", "dev", "missing"),
    )
)
_SYNCING: Final = frozenset(("uv", "poetry", "pdm", "pipenv", "pip", "rye", "hatch", "conda"))
_LISTED: Final = frozenset(
    (
        *("dependencies", "dependency", "deps", "packages", "requirements", "lockfile", "lock"),
        *("environment", "env", "venv", "virtualenv", "everything"),
    )
)
_SENTENCE_WORDS: Final = """
    its what whatever these those my your new some any each every one two more less better other
    another to in on for from with into by at as is are be if or but so then when not no only
    just also now instead too again up out run running fix build commit push check make sync
    format lint start stop deploy test tests testing unit doc docs documentation comment
    comments logging log logs type types typing typings hint hints annotations support error
    errors exception exceptions handling validation code file files folder function functions
    method methods class classes field fields option options flag flags argument arguments
    parameter parameters line lines feature features module app application tool tools python
    node script scripts config configuration settings readme changelog license async caching
    pagination authentication auth tracing metrics retries retry timeout timeouts
"""
_NO_PACKAGES: Final = (
    _ARTICLES | _LISTS | _INSTALLS | _PACKAGE_WORDS | frozenset(_SENTENCE_WORDS.split())
)
_PACKAGE: Final = re.compile(r"(@[\w.-]+/)?[a-z0-9][\w./-]*")
_VERSION: Final = re.compile(r"(?:\[[\w,]+\])?(?:[=<>~!^]=?|@(?=[\d^~]|latest\b|next\b)).*")
_MARKED: Final = re.compile(
    r"(?<![\w@/.-])(?:(@[a-z0-9][\w.-]{0,100}/[a-z0-9][\w.-]{0,100})"
    r"|([a-z0-9][\w.-]{0,100})(?:\[[\w,]{1,100}\])?(?:[=~<>!]=|@[\^~]?\d|@latest\b|@next\b))"
)
_NEAR: Final = 4
_OTHERS: Final = frozenset(
    ("user", "users", "people", "they", "someone", "readers", "developers", "customers", "tells")
)
"""Words shortly before a verb that somebody else is to do it."""
_ENDS: Final = (".", ",", ";", ":", "!", "?", ")")
_FOLLOW: Final = _JOINS | _PACKAGE_WORDS | {"to", "for", "from", "via", "with", "in"}
_AROUND: Final = "\"'`<>()[]{},.;:!?"
_QUOTES: Final = "\"'`"


def read_packages(text: str) -> frozenset[str]:
    """Return the packages that a text in small letters names to be installed."""
    words = text.split()
    if not any(_is_installing(words, at, word) for at, word in enumerate(words)):
        return frozenset()
    marked = {scoped or versioned for scoped, versioned in _MARKED.findall(text)}
    beside = (
        name
        for at, word in enumerate(words)
        if _is_installing(words, at, word)
        for name in _names_after(words, at + 1, _may_be_of_anything(word))
    )
    return frozenset(marked) | frozenset(beside)


def asks_for_list(text: str) -> bool:
    """Return whether a text in small letters asks to install what a file lists."""
    words = [word.strip(_AROUND) for word in text.split()]
    if any(_syncs(words, at) for at in range(len(words))):
        return True
    return any(
        word in ("install", "installing", "installs")
        and (text_ends or not {*words[at + 1 : at + 4]}.isdisjoint(_LISTS))
        for at, word in enumerate(words)
        for text_ends in (at + 1 == len(words),)
    )


def _syncs(words: Sequence[str], at: int) -> bool:
    """Return whether a word, as in `uv sync`, has all installed that a file lists."""
    before = words[at - 1] if at else ""
    if words[at] == "ci":
        return before in _MANAGERS
    is_of_list = not {*words[at + 1 : at + 4]}.isdisjoint(_LISTED)
    return words[at] in ("sync", "syncing") and (before in _SYNCING or is_of_list)


def _is_installing(words: Sequence[str], at: int, word: str) -> bool:
    plain = word.strip(_QUOTES + "([*_")
    if plain not in _INSTALLS:
        return plain == "i" and at > 0 and words[at - 1] in _MANAGERS
    before = words[max(0, at - _NEAR) : at]
    is_meant = plain == "use" or plain.endswith("ing") or is_order_at(words, at)
    return is_meant and before[-2:] != ["how", "to"] and _OTHERS.isdisjoint(before)


def _may_be_of_anything(word: str) -> bool:
    """Return whether a verb is one that people use of more than packages."""
    return not word.strip(_QUOTES + "([*_").startswith(("install", "reinstall", "upgrad"))


def _names_after(words: Sequence[str], at: int, in_general: bool) -> Iterator[str]:
    """Yield the names of a list that begins at a word, up to the first word that is none.

    `in_general`: the verb may be of anything (`add dark mode`), so what follows decides too.
    """
    needs_sign = False
    while at < len(words) and (words[at] in _FILLERS or words[at][:1] == "-" or words[at] == "the"):
        needs_sign = needs_sign or words[at] == "the"
        at += 1
    while at < len(words):
        word = words[at]
        name = _VERSION.sub("", word.strip(_AROUND)).rstrip("@./-")
        quoted = word.lstrip("([")[:1] in _QUOTES
        follows = words[at + 1].strip(_AROUND) if at + 1 < len(words) else ""
        if not _PACKAGE.fullmatch(name) or not (
            quoted or (name not in _NO_PACKAGES and (not needs_sign or follows in _PACKAGE_WORDS))
        ):
            return
        ends = word.rstrip(_QUOTES)[-1:] in _ENDS
        if in_general and follows and not ends and follows not in _FOLLOW:
            return
        yield name
        at += 1
        if ends and not word.endswith(","):
            return
        while at < len(words) and words[at] in _FILLERS:
            at += 1
        if at < len(words) and words[at] in _JOINS:
            at += 1
        elif not word.endswith(","):
            return
