"""Which verbs of a user's words ask for a deed, where the same words may only name one.

Rule 1: a verb asks as an order or a wish: `push it`, `get it pushed`, `it should be deployed`. What
        was done (`I pushed a fix`) and what is done by others (`CI pushes it`) asks for nothing.
Rule 2: after an article, or before what belongs to it, it is a noun: `the push`, `deploy script`,
        `run function`. A verb that does something turns it into a deed again: `do the push`, `run
        the deploy script`.
Rule 3: what leaves the machine is ordered where an order stands: at the begin of a clause, after
        `and` or `then`, or as what the reader is to do (`can you push`, `you need to push`). What
        a script, a function or another person is to do is none (`a script to deploy`, `Bob will
        push`, `push it onto the queue`).
"""

import re
from collections.abc import Iterator, Sequence
from itertools import dropwhile, takewhile
from typing import Final

RUN_VERBS: Final = frozenset(("run", "rerun", "execut", "start", "launch", "try", "invok", "call"))
"""The stems of verbs that run something."""
RELEASE_VERBS: Final = frozenset(("push", "deploy", "publish", "releas"))
"""The stems of verbs after which something has left the machine."""

_STEMS: Final = RUN_VERBS | RELEASE_VERBS
_TOKEN: Final = re.compile(r"[\w./-]+(?::[\w./-]+)*|[^\w\s]")
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
_NEAR: Final = 2
_LIGHT: Final = frozenset(
    (
        *("please", "also", "now", "just", "then", "finally", "directly", "immediately", "force"),
        *("afterwards", "simply", "kindly", "again", "next", "only", "safely", "git", "npm"),
        *("first", "pip", "pip3", "uv", "poetry", "pnpm", "yarn", "bun", "cargo", "python", "-m"),
    )
)
"""Words between an order and its verb."""

_TOOLS: Final = frozenset(("git", "npm", "force"))
_QUOTES: Final = frozenset("\"'`")
_MODALS: Final = frozenset(("can", "could", "would", "will", "should", "must", "may", "might"))
_LEADS: Final = frozenset(
    (
        *("so", "but", "then", "please", "finally", "afterwards", "now", "yes"),
        *("ok", "okay", "lgtm", "pls", "done", "ready", "ahead", "passes", "pass", "green"),
    )
)
"""Words right before an order."""

_HANDS_ON: Final = frozenset(("run", "execute", "rerun", "use", "try"))
"""Verbs whose order is that of the command after them: `run git push`, `use npm run deploy`."""

_ASIDES: Final = frozenset(("whether", "if", "what", "when", "how", "why", "that", "which"))
"""Words after which `we should` is what is to be found out."""

_WRITES: Final = frozenset(("add", "write", "append", "insert", "put", "document", "mention"))
"""Verbs of a text that is to be written: what follows a colon is that text."""

_YOU_ARE_TO: Final = frozenset(
    ("you", "sure", "remember", "forget", "need", "careful", "free", "proceed", "continue")
)
_OTHERS: Final = frozenset(("i", "we", "they", "users", "people", "someone", "how", "whenever"))
_IS_FOR: Final = frozenset(
    (
        *("script", "function", "method", "workflow", "job", "way", "hook", "button", "command"),
        *("target", "step", "action", "code", "tool", "pipeline", "ready", "able"),
    )
)
"""Words after which `to` says what something is for."""

_STATED: Final = frozenset(("the", "this", "our", "my", "it", "its", "their", "that"))
"""Words with which a clause begins that says something of its subject."""

_STATES: Final = frozenset(("is", "was", "are", "fails", "failed", "works", "work", "does"))
_COLLECTIONS: Final = frozenset(
    (
        *("onto", "into", "queue", "stack", "array", "heap", "deque", "item", "items", "element"),
        *("elements", "token", "tokens", "node", "nodes"),
    )
)
_UNDOES_PUSH: Final = frozenset(("pop", "shift", "peek", "unshift"))
_FAR: Final = 8
_CLAUSE: Final = 24
_US: Final = frozenset(("i", "we"))


_OPENS: Final = frozenset(("open", "create", "make", "submit", "raise", "file", "prepare"))
_OF_ITS_PARTS: Final = frozenset(
    (
        *("template", "templates", "description", "body", "title", "page", "link", "number", "#"),
        *("file", "checklist", "workflow", "comment", "comments", "review", "label", "branch"),
        *("script", "bot", "form", "guide", "list", "button", "tool", "function", "job", "action"),
    )
)
"""Words behind the name of a pull request that make it the name of something else."""

_BEFORE_A_NAME: Final = frozenset(("a", "an", "the", "new", "draft", "me", "github"))


def asks_for_pull_request(text: str) -> bool:
    """Return whether a text of small letters orders that a pull request is opened."""
    tokens = tokens_of(text)
    for at, token in enumerate(tokens):
        following = (word.rstrip(".") for word in tokens[at + 1 : at + 7])
        named = [*dropwhile(_BEFORE_A_NAME.__contains__, following)]
        is_named = named[:1] in (["pr"], ["pull-request"]) or named[:2] == ["pull", "request"]
        after = _follow_name(tokens, at)
        if token in _OPENS and is_named and after not in _OF_ITS_PARTS and is_ordered(tokens, at):
            return True
    return False


def _follow_name(tokens: Sequence[str], at: int) -> str:
    """Return the word behind the name of a pull request that a verb opens."""
    words = tokens[at + 1 : at + 8]
    names = [place for place, one in enumerate(words) if one in ("pr", "pull-request", "request")]
    return "".join(words[names[0] + 1 : names[0] + 2]) if names else ""


def tokens_of(text: str) -> list[str]:
    """Return the words and the signs of a text."""
    return _TOKEN.findall(text)


def read_deed_verbs(text: str) -> Iterator[str]:
    """Yield the stems of the verbs in a text of small letters that ask for a deed."""
    return (stem for _, stem in deed_verbs_at(tokens_of(text)))


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
        if word in _DETERMINERS:
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
    if not _STATES.isdisjoint(after[:1]) or not _COLLECTIONS.isdisjoint(_until_end(after)):
        return False
    heavy = [one for one in tokens[max(0, at - _FAR) : at] if one not in _TOOLS | _QUOTES]
    near = [*takewhile(lambda word: word not in _BREAKS and word[0].isalnum(), heavy[:-4:-1])]
    if not (_DETERMINERS | _DOES).isdisjoint(near[:_NEAR]):
        # `make deploy faster` is about the deploy; what else is done with one was seen already.
        makes = "make" in near
        does = [one for one in range(max(0, at - _FAR), at) if tokens[one] in _DOES]
        is_end = not makes or not after or not after[0].isalpha() or after[0] in _BREAKS
        return is_end and (not does or is_ordered(tokens, does[-1]))
    return is_ordered(tokens, at)


def is_ordered(tokens: Sequence[str], at: int) -> bool:
    """Return whether a verb stands where an order does."""
    place = _skip_light(tokens, at)
    word = tokens[place] if place >= 0 else "."
    earlier = tokens[max(0, place - _CLAUSE) : max(0, place)][::-1]
    before = earlier[0] if earlier else ""
    match word:
        case "and":
            return before not in _UNDOES_PUSH and not says_what_others_do(earlier)
        case "to":
            wishes = before in ("want", "like") and not _US.isdisjoint(earlier[1:5])
            return wishes or before in _YOU_ARE_TO
        case "you":
            return before in _MODALS | {"before", "once", "until"}
        case ":":
            return _WRITES.isdisjoint(earlier)
    if word in _MODALS:
        return before in ("you", "we") and _ASIDES.isdisjoint(earlier[1:2])
    ends = word[-1] in ".)" or earlier[:2] == ["'", "let"] or not word.strip("./-").isalnum()
    return not _LEADS.isdisjoint(tokens[max(0, place) : at]) or (ends and word not in _QUOTES)


def is_order_at(words: Sequence[str], at: int) -> bool:
    """Return whether a verb among words, with the signs around them, stands where an order does."""
    begin = max(0, at - _CLAUSE)
    said = " ".join(["x"] * (begin > 0) + [*words[begin : at + 1]]).lower()
    tokens = tokens_of(said)
    verbs = [place for place, token in enumerate(tokens) if token[0].isalnum()]
    return is_ordered(tokens, verbs[-1]) if verbs else False


def _skip_light(tokens: Sequence[str], at: int) -> int:
    """Return the place before an order: before its tools, and what hands it on."""
    place = at - 1
    while place >= 0:
        is_quoted = place > 0 and tokens[place] in _QUOTES
        hands_on = tokens[place - 1] if is_quoted else tokens[place]
        is_use = hands_on == "use" and place == at - 1
        if tokens[place] not in _LIGHT and (hands_on not in _HANDS_ON or is_use):
            break
        place -= 1
    return place


def _until_end(tokens: Sequence[str]) -> Sequence[str]:
    """Return the tokens up to the end of their sentence."""
    ends = (at for at, token in enumerate(tokens) if token[-1] in ".;!?")
    return tokens[: next(ends, len(tokens)) + 1]


def says_what_others_do(earlier: Sequence[str], but: Sequence[str] = ()) -> bool:
    """Return whether a clause, from its end, is about what others do or what something is for.

    `but`: who is none of them.
    """
    for number, word in enumerate(earlier):
        if word[-1] in ".;:!?,":
            return not _STATED.isdisjoint(earlier[max(0, number - 1) : number])
        before = earlier[number + 1] if number + 1 < len(earlier) else ""
        after = earlier[number - 1] if number else ""
        if word == "to" and before in _IS_FOR | {"how"}:
            return True
        if word in _MODALS and not {before, after} & {"you"}:
            return True
        if word in _OTHERS and word not in but:
            return True
    return len(earlier) < _CLAUSE and not _STATED.isdisjoint(earlier[-1:])
