"""What the verb of a deed may be done to: a push of a branch, not of metrics or of a deadline.

Rule 1: a verb is of nothing more (`push`, `push now`), of what was named before (`push it`), or its
        object ends in a word of a closed list (`push my changes`) or is a name with a sign or a
        digit in it (`push v1.2`, `push feature/login`).
Rule 2: where it goes is of a closed list too, for verbs that are also of other things: `push it to
        origin`, not `push it to the registry`.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple


class ObjectWords(NamedTuple):
    """The last words of objects of a verb, and of where they go; None: anywhere."""

    objects: frozenset[str]
    places: frozenset[str] | None = None
    may_be_named: bool = False
    """Whether one word without an article, and with nothing behind it, is a name: `push other`."""


_PRONOUNS: Final = frozenset(("it", "them", "everything", "all"))
_POINTING: Final = frozenset(("this", "that", "these", "those", "both"))
_REFS: Final = frozenset(
    (
        *("origin", "upstream", "remote", "remotes", "main", "master", "develop", "dev"),
        *("staging", "trunk", "head", "branch", "branches", "github", "gitlab", "bitbucket"),
        *("gitea", "codeberg", "fork", "repo", "repository", "pr"),
    )
)
_PUSHED: Final = _REFS | frozenset(
    (
        *("change", "changes", "commit", "commits", "fix", "fixes", "bugfix", "hotfix", "work"),
        *("code", "tag", "tags", "update", "updates", "version", "project", "edits", "refactor"),
        *("refactoring", "patch", "latest", "rest", "stuff", "docs", "documentation", "readme"),
        *("feature", "implementation", "result", "one", "ones", "test", "tests", "file", "files"),
        *("migration", "migrations", "cleanup", "rename", "improvements", "wip", "bump"),
        *("revert", "merge"),
    )
)
_DEPLOYED: Final = frozenset(
    (
        *("app", "application", "site", "website", "service", "services", "api", "server"),
        *("backend", "frontend", "docs", "documentation", "project", "branch", "change"),
        *("changes", "commit", "fix", "fixes", "version", "build", "package", "function"),
        *("functions", "image", "container", "code", "stack", "infrastructure", "infra"),
        *("contract", "contracts", "worker", "release", "update", "updates", "staging"),
        *("production", "prod", "main", "master", "latest", "page", "pages", "bot", "preview"),
    )
)
_PUBLISHED: Final = frozenset(
    (
        *("package", "packages", "release", "version", "crate", "library", "module", "docs"),
        *("documentation", "site", "website", "gem", "image", "extension", "plugin", "app"),
        *("sdk", "cli", "artifact", "artifacts", "npm"),
        *("pypi",),
    )
)
_MARKETS: Final = frozenset(
    (
        *("npm", "pypi", "testpypi", "registry", "github", "gh-pages", "pages", "marketplace"),
        *("maven", "production", "staging", "store", "rubygems", "crates.io", "hub", "web"),
    )
)
OBJECTS: Final[Mapping[str, ObjectWords]] = {
    "push": ObjectWords(_PUSHED, _REFS, may_be_named=True),
    "deploy": ObjectWords(_DEPLOYED),
    "publish": ObjectWords(_PUBLISHED, _MARKETS),
    "releas": ObjectWords(_PUBLISHED - {"docs"}),
}
"""Of the verbs after which something has left the machine, by their stems."""

SCRIPTS: Final = ObjectWords(
    frozenset(
        (
            *("script", "job", "target", "command", "workflow", "pipeline", "task", "step"),
            *("process",),
        )
    )
)
"""Of what such a verb stands before as a noun: `run the deploy script`."""

_DATA: Final = frozenset(
    (*("database", "databases", "db", "schema", "schemas", "data", "tables", "models"),)
)
_MADE: Final = _DATA | frozenset(
    (
        *("client", "code", "types", "docs", "documentation", "files", "api", "sdk", "bindings"),
        *("stubs", "app", "application", "project", "assets", "frontend", "backend", "site"),
        *("website", "extension", "plugin", "library", "sources", "bundle", "package"),
    )
)
_ARE_CLEANED: Final = frozenset(
    (
        *("build", "builds", "project", "cache", "caches", "artifacts", "output", "outputs"),
        *("everything",),
    )
)
DEED_TARGETS: Final[Mapping[str, ObjectWords]] = {
    **dict.fromkeys(
        (
            *("generate", "regenerate", "bundle", "package", "serve", "watch", "transpile"),
            "minify",
        ),
        ObjectWords(_MADE),
    ),
    **dict.fromkeys(("migrate", "seed"), ObjectWords(_DATA, frozenset(("latest", "newest")))),
    "clean": ObjectWords(_ARE_CLEANED, frozenset()),
}
"""Of verbs that order what is mostly a target of their name."""

_ENDS: Final = frozenset(
    (
        *("and", "or", "then", "when", "once", "after", "if", "so", "but", "please", "for"),
        *("using", "with", "via", "as", "now", "again", "too", "afterwards", "from", "by"),
        *("before", "without", "while", "because", "since", "unless", "until", "only", "also"),
        *("first", "later", "on", "in", "at", "today", "asap", "directly", "immediately"),
        *("yourself", "here", "there", "tonight", "thanks", "thx", "pls", "manually", "locally"),
        *("finally",),
    )
)
_STATES: Final = frozenset(
    (
        *("is", "was", "are", "were", "does", "has", "fails", "failed", "fail", "failing"),
        *("works", "work", "breaks", "broke", "hangs", "takes", "triggers", "crashes", "stopped"),
        *("should", "must", "needs", "uses", "will"),
    )
)
"""Words of a sentence in which what comes before is no order: `deploy to production failed`."""

_NO_NAMES: Final = (
    _PRONOUNS
    | _POINTING
    | _PUSHED
    | _STATES
    | frozenset(
        (
            *(
                "back",
                "out",
                "forward",
                "hard",
                "harder",
                "further",
                "through",
                "away",
                "around",
                "aside",
            ),
            *("over", "down", "off", "ahead"),
        )
    )
)
_LIGHT: Final = frozenset(("up", "just", "also"))
_TO: Final = frozenset(("to", "against"))
_INTO: Final = frozenset(("into", "onto"))
_STOPS: Final = _ENDS | _TO | _INTO
_IS_PART_OF: Final = frozenset("([{=")
_QUOTES: Final = frozenset('"`')
_MOST: Final = 16


def has_object(tokens: Sequence[str], at: int, meant: ObjectWords) -> bool:
    """Return whether what the verb at a place is done to is of the words that are meant."""
    words, rest = _split_phrase(_tokens_after(tokens, at))
    end = rest[0] if rest else "."
    is_part = end in _IS_PART_OF or rest[:2] == ["'", "s"]
    if end in _INTO or (is_part and (end != "(" or _ENDS.isdisjoint(rest[1:2]))):
        return False
    words = [word for word in words if word not in _LIGHT and word[0] != "-"]
    if meant.may_be_named and end not in _TO and is_bare_name(words):
        return True
    if words and not _is_meant(words, meant.objects):
        return False
    if end not in _TO:
        return True
    where, _ = _split_phrase(rest[1:])
    if meant.places is None:
        return _STATES.isdisjoint(where)
    return bool(where) and (
        where[-1] in meant.places or (bool(meant.places) and _is_name(where[-1]))
    )


def names_after(tokens: Sequence[str], at: int) -> Iterator[str]:
    """Yield the words of the object of the verb at a place, and of where it goes."""
    words, rest = _split_phrase(_tokens_after(tokens, at))
    yield from words
    if not _TO.isdisjoint(rest[:1]):
        yield from _split_phrase(rest[1:])[0]


def is_bare_name(words: Sequence[str]) -> bool:
    """Return whether the words of an object are one that may be the name of a branch alone."""
    return len(words) == 1 and words[0].isalpha() and words[0].lower() not in _NO_NAMES


def _is_meant(words: Sequence[str], objects: frozenset[str]) -> bool:
    first, last = words[0], words[-1]
    is_article = first == "all" and len(words) > 1
    if first in _PRONOUNS and not is_article and _NO_NAMES.isdisjoint(words[1:]):
        return True
    return last in objects | _PRONOUNS or _is_name(last) or (first in _POINTING and len(words) == 1)


def _is_name(word: str) -> bool:
    """Return whether a word is a name by its signs: of a branch, a version or a file."""
    return any(sign in "-_/.0123456789" for sign in word[1:])


def _tokens_after(tokens: Sequence[str], at: int) -> list[str]:
    return [token for token in tokens[at + 1 : at + _MOST] if token not in _QUOTES]


def _split_phrase(tokens: list[str]) -> tuple[list[str], list[str]]:
    """Return the words of the phrase that some tokens begin with, and the tokens behind it."""
    words = list[str]()
    for token in tokens:
        plain = token.rstrip(".")
        if (
            not plain.strip("-")
            or not (plain[0].isalnum() or plain[0] in "-_./")
            or plain in _STOPS
        ):
            break
        words.append(plain)
        if plain != token:
            return words, ["."]
    return words, tokens[len(words) :]
