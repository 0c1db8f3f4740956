"""Which verbs of a user's words ask for a deed, where the same words may only name one.

Rule 1: a verb asks as an order or a wish: `push it`, `get it pushed`, `it should be deployed`. What
        was done (`I pushed a fix`) and what is done by others (`CI pushes it`) asks for nothing.
Rule 2: after an article, or before what belongs to it, it is a noun: `the push`, `deploy script`,
        `run function`. A verb that does something turns it into a deed again: `do the push`, `run
        the deploy script`.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

RUN_VERBS: Final = frozenset(("run", "rerun", "execut", "start", "launch", "try", "invok", "call"))
"""The stems of verbs that run something."""
RELEASE_VERBS: Final = frozenset(("push", "deploy", "publish", "releas"))
"""The stems of verbs after which something has left the machine."""

_STEMS: Final = RUN_VERBS | RELEASE_VERBS
_TOKEN: Final = re.compile(r"[\w./-]+|[^\w\s]")
_ENDING: Final = re.compile(r"(?:(?P<doing>ing)|(?P<done>ed)|(?P<does>e?s)|e)$")
_DETERMINERS: Final = frozenset(
    (
        *("the", "a", "an", "my", "our", "your", "his", "her", "its", "their", "this", "that"),
        *("these", "those", "each", "every", "any", "no", "on", "upon", "per", "of"),
    )
)
_DOES: Final = frozenset(
    (
        *("do", "doing", "run", "running", "make", "making", "start", "starting", "trigger"),
        *("perform", "execute", "launch", "try", "retry", "redo", "finish", "cut", "invoke"),
    )
)
_WISHES: Final = frozenset(("be", "get", "gets", "getting", "have", "want", "need", "see"))
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
_NEAR: Final = 2


def read_deed_verbs(text: str) -> Iterator[str]:
    """Yield the stems of the verbs in a text of small letters that ask for a deed."""
    tokens = _TOKEN.findall(text)
    for at, token in enumerate(tokens):
        word = token.removeprefix("re-").strip("./-")
        ending = _ENDING.search(word)
        stem = verb_stem(word)
        if stem in _STEMS and _asks(tokens, at, ending.lastgroup if ending else None):
            yield stem


def verb_stem(word: str) -> str:
    """Return a word without its ending, and with one consonant where a form doubles it."""
    stem = _ENDING.sub("", word)
    return stem[:-1] if len(stem) > 3 and stem[-2:] == "nn" else stem


def _asks(tokens: Sequence[str], at: int, form: str | None) -> bool:
    """Return whether the verb at a place asks; `form`: the name of its ending."""
    near = 1 if form == "does" else _NEAR  # `the script runs`
    before = tokens[max(0, at - near) : at][::-1]
    if form == "done":
        return not _WISHES.isdisjoint(before)
    if form == "does" and verb_stem(tokens[at]) in RELEASE_VERBS:
        return False
    is_thing = at + 1 < len(tokens) and tokens[at + 1] in _THINGS
    for number, word in enumerate(before):
        if word in _DETERMINERS:
            following = tokens[at - number - 2 : at - number - 1]
            return not _DOES.isdisjoint(following)
        if word in _BREAKS or not word[0].isalnum():
            break
    return not is_thing or not _DOES.isdisjoint(before[:1])
