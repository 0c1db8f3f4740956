"""Whether a verb of a user's words stands where an order does.

Rule 1: at the begin of a clause, after `then` or `please`, or as what the reader is to do (`can you
        push`, `you need to push`). What a script or another person is to do is none, nor what
        somebody says (`the hook prints please push`).
Rule 2: after a comma and an `and`, where the row that it stands in is ordered: `commit and push`
        is, and in `explain commit and push` no part is. A line of a shell is, where it is run.
"""

import re
from collections.abc import Sequence
from itertools import takewhile
from typing import Final

_TOKEN: Final = re.compile(r"[\w./-]+(?::[\w./-]+)*|[^\w\s]")
WORDS_BEFORE_NOUNS: Final = frozenset(
    (
        *("the", "a", "an", "my", "our", "your", "his", "her", "its", "their", "this", "that"),
        *("these", "those", "each", "every", "any", "no", "on", "upon", "per", "of"),
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

TOOLS: Final = frozenset(("git", "npm", "force"))
QUOTE_SIGNS: Final = frozenset("\"'`")
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

_REPORTS: Final = frozenset(
    (
        *("says", "said", "tells", "told", "prints", "printed", "reads", "writes", "wrote", "asks"),
        *("asked", "shows", "suggests", "comment", "message"),
    )
)
"""Words of a clause that is about what somebody or something else says."""

_CHAIN: Final = frozenset(
    (
        *("add", "commit", "pull", "push", "fetch", "merge", "rebase", "stage", "amend", "squash"),
        *("tag", "build", "test", "lint", "deploy", "publish", "release", "format", "check"),
    )
)
"""Verbs that stand in a row with a push, and may be nouns: `commit, tag and push`."""

_WORKS_ON: Final = frozenset(
    ("fix", "repair", "finish", "do", "make", "create", "update", "improve", "clean")
)
"""Verbs of which the first of such a row is the object: `fix lint and push`."""

_SPEAKS_OF: Final = frozenset(
    (
        *("explain", "describe", "discuss", "summarize", "compare", "define", "what", "why", "how"),
        *("which", "who", "where", "list", "translate"),
    )
)
_ROW: Final = frozenset((",", "&", "and", "or"))
_NO_ENDS: Final = frozenset("\"'`([{<=/|$%^~\\")
"""Signs that no order begins after."""

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

_UNDOES: Final = frozenset(("pop", "shift", "peek", "unshift", "lock", "acquire", "allocate"))
_US: Final = ("i", "we")
_THE_READER: Final = frozenset((*_US, "you"))
_CLAUSE: Final = 24
_MOST_ROWS: Final = 4
_LINE_ENDS: Final = frozenset(":;!?")


def split_tokens(text: str) -> list[str]:
    """Return the words and the signs of a text."""
    return _TOKEN.findall(text)


def is_ordered(tokens: Sequence[str], at: int, *, rows: int = _MOST_ROWS) -> bool:
    """Return whether a verb stands where an order does; `rows`: how many it may stand in."""
    place = _skip_light(tokens, at)
    word = tokens[place] if place >= 0 else "."
    earlier = tokens[max(0, place - _CLAUSE) : max(0, place)][::-1]
    before = earlier[0] if earlier else ""
    if not _LEADS.isdisjoint(tokens[max(0, place) : at]):
        clause = [*takewhile(_is_word, (word, *earlier))]
        return _REPORTS.isdisjoint(clause)
    match word:
        case "and" | "," | "&":
            return _UNDOES.isdisjoint(earlier[:_NEAR]) and _goes_on(tokens, place, rows)
        case "to":
            return _is_to_do(earlier)
        case "you":
            return before in _MODALS | {"before", "once", "until"}
    if word in _MODALS:
        return before in ("you", "we") and _ASIDES.isdisjoint(earlier[1:2])
    ends = word[-1] in ".)" or earlier[:2] == ["'", "let"] or not word.strip("./-").isalnum()
    return ends and word not in _NO_ENDS


def _is_to_do(earlier: Sequence[str]) -> bool:
    """Return whether words before a `to`, from their end, say that the reader is to do it."""
    before = "".join(earlier[:1])
    if before in ("want", "like"):
        return not {*_US}.isdisjoint(earlier[1:5])
    is_of_others = before == "need" and _THE_READER.isdisjoint(earlier[1:3])
    if is_of_others and says_what_others_do(earlier, but=_US):
        return False
    was_said = before == "you" and not _REPORTS.isdisjoint(earlier[1:2])
    return before in _YOU_ARE_TO and not was_said


def _goes_on(tokens: Sequence[str], place: int, rows: int) -> bool:
    """Return whether what stands after a comma or an `and` goes on with orders."""
    earlier = tokens[max(0, place - _CLAUSE) : place][::-1]
    clause = [*takewhile(_is_word, earlier)]
    head = clause[-1] if clause else ""
    if earlier[:1] == ["&"]:  # a line of a shell: what it begins with is to be run
        line = [*takewhile(_is_in_line, earlier)]
        return line[-1] in _LIGHT | _HANDS_ON
    row = [*takewhile((_ROW | _CHAIN | TOOLS).__contains__, earlier)]
    verbs = [place - 1 - number for number, one in enumerate(row) if one in _CHAIN]
    if verbs and not _is_row_of_nouns(tokens, verbs[-1]):
        return rows > 0 and is_ordered(tokens, verbs[-1], rows=rows - 1)
    if head in _SPEAKS_OF:
        return False
    return tokens[place] != "and" or not says_what_others_do(earlier)


def _is_row_of_nouns(tokens: Sequence[str], first: int) -> bool:
    """Return whether a row of verbs begins with what is worked on: `fix the build and push`."""
    before = tokens[first - 1] if first else "."
    return before in WORDS_BEFORE_NOUNS or before in _WORKS_ON


def _is_in_line(sign: str) -> bool:
    """Return whether a word or a sign may stand in a line of a shell."""
    return sign not in _LINE_ENDS


def _is_word(token: str) -> bool:
    """Return whether a token goes on with a clause."""
    return token[-1].isalnum()


def is_order_at(words: Sequence[str], at: int) -> bool:
    """Return whether a verb among words, with the signs around them, stands where an order does."""
    begin = max(0, at - _CLAUSE)
    said = " ".join(["x"] * (begin > 0) + [*words[begin : at + 1]]).lower()
    tokens = split_tokens(said)
    verbs = [place for place, token in enumerate(tokens) if token[0].isalnum()]
    return is_ordered(tokens, verbs[-1]) if verbs else False


def _skip_light(tokens: Sequence[str], at: int) -> int:
    """Return the place before an order: before its tools, and what hands it on."""
    place = at - 1
    while place >= max(0, at - _CLAUSE):
        is_quoted = place > 0 and tokens[place] in QUOTE_SIGNS
        hands_on = tokens[place - 1] if is_quoted else tokens[place]
        is_use = hands_on == "use" and place == at - 1
        if tokens[place] not in _LIGHT and (hands_on not in _HANDS_ON or is_use):
            break
        place -= 1
    return place


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
