"""Which verbs of a user's words ask for a deed, where the same words may only name one.

Rule 1: a verb asks as an order or a wish: `push it`, `get it pushed`, `it should be deployed`. What
        was done (`I pushed a fix`) and what is done by others (`CI pushes it`) asks for nothing.
Rule 2: after an article, or before what belongs to it, it is a noun: `the push`, `deploy script`,
        `run function`. A verb that does something turns it into a deed again: `do the push`, `run
        the deploy script`.
Rule 3: what leaves the machine is ordered where an order stands (see `deed_orders`), with nothing
        behind it or an object that such a verb may have (see `deed_objects`): not `a script to
        deploy`, `Bob will push`, `push it onto the queue` or `push the metrics`.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import dropwhile, takewhile
from typing import Final

from critic.command.deed_objects import OBJECTS, SCRIPTS, has_object, is_bare_name, names_after
from critic.command.deed_orders import (
    QUOTE_SIGNS,
    TOOLS,
    WORDS_BEFORE_NOUNS,
    is_ordered,
    split_tokens,
)

RUN_VERBS: Final = frozenset(("run", "rerun", "execut", "start", "launch", "try", "invok", "call"))
"""The stems of verbs that run something."""
RELEASE_VERBS: Final = frozenset(("push", "deploy", "publish", "releas"))
"""The stems of verbs after which something has left the machine."""

_STEMS: Final = RUN_VERBS | RELEASE_VERBS
_ENDING: Final = re.compile(r"(?:(?P<doing>ing)|(?P<done>ed)|(?P<does>e?s)|e)$")
_DOES: Final = frozenset(
    (
        *("do", "doing", "run", "running", "make", "making", "start", "starting", "trigger"),
        *("perform", "execute", "launch", "try", "retry", "redo", "finish", "cut", "invoke"),
    )
)
WISHES: Final = frozenset(("be", "get", "gets", "getting", "have", "want", "need", "see"))
_BREAKS: Final = frozenset(
    (
        *("and", "or", "then", "to", "please", "also", "now", "just", "but", "it", "them", "you"),
        *("so", "if", "when", "let", "us", "me", "will", "can", "could", "should", "must"),
    )
)
_THINGS: Final = frozenset(
    (
        *("function", "functions", "method", "methods", "script", "scripts", "hook", "hooks"),
        *("notification", "notifications", "note", "notes", "job", "jobs", "workflow", "button"),
        *("workflows", "pipeline", "pipelines", "step", "steps", "stage", "command", "commands"),
        *("handler", "handlers", "event", "events", "error", "errors", "failure", "failures"),
        *("config", "configuration", "setting", "settings", "time", "loop", "date", "page"),
        *("log", "logs", "message", "messages", "service", "endpoint", "target", "class", "module"),
        *("logic", "process", "guide", "section", "key", "keys", "flag", "option", "of", "("),
    )
)
MAIN_BRANCHES: Final = frozenset(
    ("main", "master", "trunk", "develop", "dev", "staging", "production", "prod")
)
"""Names of branches that are nobody's own."""

NAMED_PUSH: Final = "="
ASIDE: Final = "~"
_ASIDE_WORDS: Final = frozenset(("feature", "topic", "new", "own", "separate", "working", "fix"))
_IS_BRANCH: Final = re.compile(
    rf"{'|'.join(sorted(MAIN_BRANCHES))}|\w[\w.-]*/[\w./-]*\w|\w+-\w[\w-]*"
)
_OF_ITS_KIND: Final = re.compile(r"(?:refs/)?(?:heads|tags|remotes/[^/]+)/(?=.)")
_NEAR: Final = 2
_COLLECTIONS: Final = frozenset(
    (
        *("onto", "into", "queue", "stack", "array", "heap", "deque", "item", "items", "element"),
        *("elements", "token", "tokens", "node", "nodes"),
    )
)
_FAR: Final = 8
_OPENS: Final = frozenset(("open", "create", "make", "submit", "raise", "file", "prepare"))
_BEHIND_ONE: Final = frozenset(
    (
        *("and", "or", "for", "with", "to", "from", "against", "when", "once", "then", "if", "on"),
        *("please", "now", "that", "so", "titled", "called", "named", "via", "using", "into", "in"),
        *("describing", "after", "as", "too", "afterwards", "first", "again", "but", "by", "about"),
    )
)
"""Words behind the name of a pull request after which it is no part of another name."""

_ENDS_ONE: Final = frozenset(("", *',.;:!?)(-\u2013\u2014"&+'))
_BEFORE_A_NAME: Final = frozenset(("a", "an", "the", "new", "draft", "me", "github"))


def asks_for_pull_request(text: str) -> bool:
    """Return whether a text of small letters orders that a pull request is opened."""
    tokens = split_tokens(text)
    for at, token in enumerate(tokens):
        following = (word.rstrip(".") for word in tokens[at + 1 : at + 7])
        named = [*dropwhile(_BEFORE_A_NAME.__contains__, following)]
        is_named = named[:1] in (["pr"], ["pull-request"]) or named[:2] == ["pull", "request"]
        after = _follow_name(tokens, at)
        is_whole = after in _BEHIND_ONE or after in _ENDS_ONE
        if token in _OPENS and is_named and is_whole and is_ordered(tokens, at):
            return True
    return False


def _follow_name(tokens: Sequence[str], at: int) -> str:
    """Return the word behind the name of a pull request that a verb opens."""
    words = [word.rstrip(".") or "." for word in tokens[at + 1 : at + 8]]
    names = [place for place, one in enumerate(words) if one in ("pr", "pull-request", "request")]
    return "".join(words[names[0] + 1 : names[0] + 2]) if names else ""


def read_deed_verbs(text: str) -> Iterator[str]:
    """Yield the stems of the verbs in a text of small letters that ask for a deed."""
    return (stem for _, stem in deed_verbs_at(split_tokens(text)))


def read_pushed_branches(text: str) -> Iterator[str]:
    """Yield the names of branches that a text orders to be pushed, or to be pushed to.

    `NAMED_PUSH`: nothing is to be pushed that is not named. `ASIDE`: a branch that is not the main
    one.
    """
    tokens = split_tokens(text)
    for at, stem in deed_verbs_at([token.lower() for token in tokens]):
        if stem != "push":
            continue
        words = [*names_after(tokens, at)]
        branches = (short_ref(word).removeprefix("origin/") for word in words)
        yield from (word for word in branches if _IS_BRANCH.fullmatch(word))
        if words[-1:] == ["branch"] and not _ASIDE_WORDS.isdisjoint(words):
            yield ASIDE
        if is_bare_name(words) and not _IS_BRANCH.fullmatch(words[0]):
            yield from (NAMED_PUSH, words[0])


def short_ref(name: str) -> str:
    """Return the name of a branch or a tag, however a command spells it."""
    return _OF_ITS_KIND.sub("", name, count=1)


def deed_verbs_at(tokens: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield where a verb of some tokens in small letters asks for a deed, and its stem."""
    for at, token in enumerate(tokens):
        word = token.removeprefix("re-").strip("./-")
        ending = _ENDING.search(word)
        stem = verb_stem(word)
        form = ending.lastgroup if ending else None
        if stem in _STEMS and _asks(tokens, at, form) and _may_leave(tokens, at, stem, form):
            yield at, stem


def verb_stem(word: str) -> str:
    """Return a word without its ending, and with one consonant where a form doubles it."""
    stem = _ENDING.sub("", word)
    return stem[:-1] if len(stem) > 3 and stem[-2:] == "nn" else stem


def _asks(tokens: Sequence[str], at: int, form: str | None) -> bool:
    """Return whether the verb at a place asks; `form`: the name of its ending."""
    near = 1 if form == "does" else _NEAR  # `the script runs`
    before = tokens[max(0, at - near) : at][::-1]
    if form == "done":
        return not WISHES.isdisjoint(before)
    if form == "does" and verb_stem(tokens[at]) in RELEASE_VERBS:
        return False
    is_thing = at + 1 < len(tokens) and tokens[at + 1] in _THINGS
    for number, word in enumerate(before):
        if word in WORDS_BEFORE_NOUNS:
            following = tokens[at - number - 2 : at - number - 1]
            return not _DOES.isdisjoint(following)
        if word in _BREAKS or not word[0].isalnum():
            break
    return not is_thing or not _DOES.isdisjoint(before[:1])


def _may_leave(tokens: Sequence[str], at: int, stem: str, form: str | None) -> bool:
    """Return whether a verb is none after which something leaves the machine, or is an order."""
    if stem in RUN_VERBS or form in ("done", "does"):
        return True
    after = tokens[at + 1 : at + _FAR]
    if not _COLLECTIONS.isdisjoint(_until_end(after)):
        return False
    heavy = [one for one in tokens[max(0, at - _FAR) : at] if one not in TOOLS | QUOTE_SIGNS]
    near = [*takewhile(lambda word: word not in _BREAKS and word[0].isalnum(), heavy[:-4:-1])]
    if not (WORDS_BEFORE_NOUNS | _DOES).isdisjoint(near[:_NEAR]):
        # `make deploy faster` is about the deploy; what else is done with one was seen already.
        makes = "make" in near
        does = [one for one in range(max(0, at - _FAR), at) if tokens[one] in _DOES]
        is_end = not makes or not after or not after[0].isalpha() or after[0] in _BREAKS
        meant = OBJECTS[stem] if WORDS_BEFORE_NOUNS.isdisjoint(near[:_NEAR]) else SCRIPTS
        is_done = is_end and (not does or is_ordered(tokens, does[-1]))
        return is_done and has_object(tokens, at, meant)
    return has_object(tokens, at, OBJECTS[stem]) and is_ordered(tokens, at)


def _until_end(tokens: Sequence[str]) -> Sequence[str]:
    """Return the tokens up to the end of their sentence."""
    ends = (at for at, token in enumerate(tokens) if token[-1] in ".;!?")
    return tokens[: next(ends, len(tokens)) + 1]
