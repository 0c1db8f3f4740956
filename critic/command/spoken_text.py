"""What of a message is only spoken of: quoted, pasted, or told as the words of somebody else.

Rule 1: text in quotes and code marks, a line that begins with `>` or `$`, and a block of code give
        no order. One word that is no verb of a deed is a name, and stays.
Rule 2: what a verb of running, deleting or installing is of is meant where the verb is an order:
        "run `make x`", "run this:" before a block.
Rule 3: a colon opens an order only after words by which people hand one over: `please:`, `next
        steps:`, `do the following:`, `when the tests pass:`. After any other, what follows is
        spoken of: to the end of the sentence, of the line where it is said or written by somebody,
        and of the list or the paragraph where the colon ends its line.
Rule 4: what stands between tags (`<log>`) is pasted, unless they say that it is an order
        (`<task>`), and so is what is indented as code after a line that is not.
"""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from critic.command.deed_orders import is_order_at
from critic.command.deed_verbs import RELEASE_VERBS, RUN_VERBS, verb_stem

_FILLER: Final = "\u00aa"
"""A letter of no word: what is spoken of becomes one word of it."""

_QUOTED: Final = re.compile(
    r"""^[^\S\n]*(?P<fence>`{3,}+|~{3,}+)[^\n]*\n(?P<block>.*?)(?:^[^\S\n]*(?P=fence)[^\n]*$|\Z)
    |^[^\S\n]*(?:>|\$[^\S\n]|//|(?:PS[ ])?[A-Za-z]:\\[^>\n]*>)[^\n]*
    |<!--.*?(?:-->|\Z)
    |(?P<mark>(?<!`)`++)(?P<code>[^`]{1,2000})(?P=mark)
    |(?<!\w)"(?P<double>[^"\n]*(?:\n(?![^\S\n]*\n)[^"\n]*)*)(?:"|\Z|(?=\n))
    |\u201c(?P<curly>[^\u201d\n]*(?:\n(?![^\S\n]*\n)[^\u201d\n]*)*)(?:\u201d|\Z|(?=\n))
    |\u00ab(?P<angled>[^\u00bb\n]{0,2000})\u00bb
    |(?<!\w)'(?=\S)(?P<single>(?:[^'\n]|(?<=\w)'(?=\w)){1,2000})(?<=\S)'(?!\w)
    |(?<!\w)\u2018(?=\S)(?P<bent>(?:[^\u2018\u2019\n]|(?<=\w)\u2019(?=\w)){1,2000})\u2019(?!\w)""",
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)
_INSIDES: Final = ("block", "code", "double", "curly", "angled", "single", "bent")
_DEEDS: Final = RUN_VERBS | RELEASE_VERBS | {"delet", "remov", "rm", "unlink"}
_HANDS_ON: Final = re.compile(
    r"(?<![\w./-])(?P<verb>(?:re-?)?run(?:ning)?|execute|launch|start|invoke|try|do|use|delete|remove|install)"
    r"(?:\s+(?:the|this|these|that|those|my|our|a|following|shell|commands?|scripts?|targets?|task"
    r"|files?|folders?|both|all|packages?|just|again|please|in|order)){0,6}\s*:?\s*\Z",
    re.IGNORECASE,
)
_IS_NAMED_ONLY: Final = re.compile(r"\s*(?:in|as|inside|within)\b", re.IGNORECASE)
"""Behind `use X`, where it says of what X is a part."""

_TELLS: Final = (["when", "i"], ["try"], ["when"])
"""Words before a run that the reader is to look into."""

_EMPHASIS: Final = re.compile(
    r"(?<![\w/*.])(\*{1,3})(?=[\w\"`'])([^*\n]{1,500})(?<=\S)\1(?![\w/*])"
)
_INDENTED: Final = re.compile(
    r"""^(?![^\S\n]|[-*+\u2022]\s|\d{1,3}[.)]\s)(?P<before>\S[^\n]*)\n(?:[^\S\n]*\n)+
    (?P<block>(?![^\S\n]*(?:`{3}|~{3}))
    (?:(?:[ ]{4}|\t)[^\n]*(?:\n|\Z)(?:[^\S\n]*\n)*)+)""",
    re.VERBOSE | re.MULTILINE,
)
_TAG: Final = re.compile(
    r"(?:(?P<ends></)|(?<![\w`\"'])<)(?P<name>[A-Za-z][\w-]{0,40})(?:\s[^<>\n]{0,200})?>"
)
_HOLD_ORDERS: Final = frozenset(
    (
        *("task", "tasks", "request", "instruction", "instructions", "prompt", "query", "todo"),
        *("user_query", "user_request", "todos", "steps", "goal", "goals", "plan", "order"),
        *("requirements", "action", "actions", "orders"),
    )
)
"""Tags around what is to be done."""

_JOINED: Final = re.compile(r"\s*(?:,|&&?|;|,?\s*(?:and|then|and\s+then))\s*")
_MOST_BEFORE: Final = 200

_COLON: Final = re.compile(r"(?<![:\s]):(?=\s|\Z)|(?<=\w)[^\S\n]+[-\u2013\u2014]+(?=\s)")
_GOES_ON: Final = re.compile(r"\s*(?:and|then|also|finally|afterwards)\b", re.IGNORECASE)
"""Behind a dash, what is no text to be written: `add a test - then push`."""

_CLAUSE: Final = re.compile(r"[.!?;](?:\s|\Z)|\n|[-*+\u2022]\s|\d[.)]\s")
_WORD: Final = re.compile(r"[\w'./@-]*[\w']")
_LEADS: Final = frozenset(
    (
        *(
            *("please", "clean", "up", "make", "sure", "works", "it", "pls", "now", "then"),
            *("next", "finally", "afterwards", "also", "first", "quick", "small", "tiny"),
            *("minor", "little", "fix", "cleanup", "chore", "setup", "important", "nb", "tldr"),
            *("tl", "dr", "@claude", "@codex"),
        ),
        *("second", "third", "last", "lastly", "again", "and", "so", "ok", "okay", "yes", "lgtm"),
        *("thanks", "great", "perfect", "good", "looks", "ready", "done", "ps", "claude"),
        *("codex", "agent", "assistant", "hey", "hi", "here", "here's", "is", "are", "what"),
        *("what's", "i", "i'd", "we", "need", "want", "like", "would", "love", "you", "to", "do"),
        *("can", "could", "should", "must", "have", "has", "has's", "your", "my", "our", "the"),
        *("a", "an", "this", "that", "these", "those", "following", "below", "few", "one", "two"),
        *("three", "four", "five", "more", "other", "another", "remaining", "all", "everything"),
        *("things", "thing", "tasks", "task", "todos", "todo", "to-do", "to-dos", "steps"),
        *("step", "points", "goals", "goal", "job", "jobs", "plan", "request", "order", "orders"),
        *("requirements", "actions", "action", "instructions", "reminder", "run", "rerun"),
        *("execute", "let's", "lets", "let", "go", "ahead", "carry", "out", "perform"),
        *("complete", "follow", "handle"),
    )
)
"""The words of which a lead is made that hands an order over."""

_WORKS: Final = _LEADS | frozenset(
    (
        *("implement", "address", "solve", "resolve", "change", "changes", "issue"),
        *("issues", "bugs", "problems", "in", "order"),
    )
)
"""Those of a lead before a list."""

_CONDITIONS: Final = frozenset(("if", "when", "once", "after"))
_OTHERS: Final = frozenset(("a", "an", "user", "users", "people", "someone", "they", "he", "she"))
"""Words of conditions in which somebody else does something."""

_PLACES: Final = frozenset(("in", "for", "at"))
_SAYS: Final = frozenset(
    (
        *("say", "says", "said", "saying", "tell", "tells", "told", "writes", "wrote", "print"),
        *("prints", "printed", "show", "shows", "read", "reads", "comment", "comments"),
        *("commented", "message", "messages", "quote", "quotes", "mention", "mentions", "error"),
        *("errors", "warning", "warns", "log", "logs", "output", "outputs", "review", "reviews"),
        *("reply", "replied", "answer", "suggests", "suggested", "asks", "asked", "states"),
        *("stated", "translate", "explain", "describe", "summarize", "from"),
    )
)
"""Words of what somebody or something says, line by line."""

_SPEAKS: Final = _SAYS | frozenset(
    (
        *("write", "writing", "written", "warn", "text", "line", "lines", "add", "append"),
        *("insert", "put", "document", "replace", "label", "title", "titles", "note", "summary"),
        *("means", "mean", "called"),
    )
)
_ENDS: Final = re.compile(r"[.!?](?=\s|\Z)|\n|\Z")
_ITEM: Final = re.compile(r"[^\S\n]*(?:[-*+\u2022]|\d{1,3}[.)])[^\S\n]|[^\S\n]{2,}\S")
_BLANK: Final = re.compile(r"\s*")
_LINE: Final = re.compile(r"[^\n]*\n?")


def mask_spoken(message: str) -> str:
    """Return a text as long as a message, in which what is only spoken of is a word of no sense."""
    plain = _EMPHASIS.sub(_without_marks, message)
    return _mask_told(_mask_tagged(_mask_quotes(_mask_indented(plain))))


def _without_marks(found: re.Match[str]) -> str:
    """Return what was emphasized; before a sign, the marks behind it stay."""
    marks, follows = found[1], found.string[found.end() : found.end() + 1]
    return f"{' ' * len(marks)}{found[2]}{marks if follows.strip() else ' ' * len(marks)}"


def _mask_indented(message: str) -> str:
    """Return a message without what is indented as code; a colon before it says more."""
    parts, at = list[str](), 0
    for found in _INDENTED.finditer(message):
        start, end = found.span("block")
        block = found["block"]
        if _hands_on(message[max(0, start - _MOST_BEFORE) : start]):
            text = block.rstrip()
            block = text.replace("\n", ";") + block[len(text) :]
        elif not found["before"].rstrip().endswith(":"):
            block = _FILLER * len(block)
        parts += [message[at:start], block]
        at = end
    return "".join((*parts, message[at:]))


def _mask_tagged(text: str) -> str:
    """Return a text without what stands between two tags of one name."""
    parts, at = list[str](), 0
    for start, end in _spans_of_tags(text):
        if start >= at:
            parts += [text[at:start], _FILLER * (end - start)]
            at = end
    return "".join((*parts, text[at:]))


def _spans_of_tags(text: str) -> Iterator[tuple[int, int]]:
    """Yield what stands between a tag and the next one that ends it, in order of their begin."""
    tags = [*_TAG.finditer(text)]
    ends = defaultdict[str, list[int]](list)
    for tag in tags:
        if tag["ends"]:
            ends[tag["name"].lower()].append(tag.start())
    for tag in tags:
        name = tag["name"].lower()
        after = bisect_left(ends[name], tag.end())
        if after < len(ends[name]) and not tag["ends"] and name not in _HOLD_ORDERS:
            yield tag.end(), ends[name][after]


def _mask_quotes(message: str) -> str:
    parts, at, opens = list[str](), 0, False
    for found in _QUOTED.finditer(message):
        between = message[at : found.start()]
        inside = next((name for name in _INSIDES if found[name] is not None), "")
        opens = inside != "" and (
            _is_handed_on(message, found) or (opens and _JOINED.fullmatch(between) is not None)
        )
        parts += [between, _mask_meant(found, inside, is_meant=opens)]
        at = found.end()
    return "".join((*parts, message[at:]))


def _is_handed_on(message: str, found: re.Match[str]) -> bool:
    """Return whether a quoted text is what a verb right before it is to be done to."""
    of_any = found["code"] and not _IS_NAMED_ONLY.match(message, found.end())
    before = message[max(0, found.start() - _MOST_BEFORE) : found.start()]
    return _hands_on(before, of_any=bool(of_any))


def _hands_on(before: str, *, of_any: bool = False) -> bool:
    """Return whether a text ends in a verb that is an order, of what comes then.

    `of_any`: it may be a verb of more than commands: `use`, `do`.
    """
    verb = _HANDS_ON.search(before)
    if verb is None or (verb["verb"].lower() in ("use", "do") and not of_any):
        return False
    words = before[: verb.end("verb")].split()
    if verb["verb"].lower().endswith(("run", "running")):
        earlier = [word.lower() for word in words[:-1]]
        if any(earlier[-len(one) :] == one for one in _TELLS):
            return True
    return is_order_at(words, len(words) - 1)


def _mask_meant(found: re.Match[str], inside: str, *, is_meant: bool) -> str:
    """Return what a quoted text is for who looks for orders, as long as it is."""
    whole = found[0]
    if not inside:
        return _FILLER * len(whole)
    is_word = len(found[inside].split()) == 1
    is_deed = verb_stem(found[inside].strip(".,;:!?").lower()) in _DEEDS
    if is_word and (is_meant or not is_deed):
        return whole
    if is_meant:
        text = found[inside].rstrip()
        return (text.replace("\n", ";") if inside == "block" else text).rjust(len(whole))
    return _FILLER * len(whole)


def _mask_told(text: str) -> str:
    """Return a text without what follows a colon, where this hands over no order."""
    parts, at, begin = list[str](), 0, 0
    clauses = iter((*(one.end() for one in _CLAUSE.finditer(text)), len(text) + 1))
    following = next(clauses)
    for found in _COLON.finditer(text):
        while following <= found.start():
            begin, following = following, next(clauses)
        if found.start() < at:
            continue
        lead = text[max(begin, at, found.start() - _MOST_BEFORE) : found.start()]
        words = [word.lower() for word in _WORD.findall(lead)]
        ends_line = text[found.end() : found.end() + 1] in ("", "\n")
        if found[0] != ":":
            goes_on = _GOES_ON.match(text, found.end())
            is_told = not (_SAYS if goes_on else _SPEAKS).isdisjoint(words)
        else:
            is_told = not _hands_over(words, lead, before_list=ends_line)
        if not is_told:
            continue
        start = found.end()
        end = _end_of_told(text, start, is_said=not _SAYS.isdisjoint(words))
        parts += [text[at:start], _FILLER * (end - start)]
        at = end
    return "".join((*parts, text[at:]))


def _hands_over(words: list[str], lead: str, *, before_list: bool) -> bool:
    """Return whether what stands before a colon hands an order over."""
    if not _SPEAKS.isdisjoint(words):
        return False
    is_place = words[:1] != [] and words[0] in _PLACES and len(words) == 2 and "." in words[1]
    if is_place or (words[:1] != [] and words[0] in _CONDITIONS and _OTHERS.isdisjoint(words)):
        return True
    last = [word.lower() for word in _WORD.findall(lead.rpartition(",")[2])]
    known = _WORKS if before_list else _LEADS
    return _hands_on(lead) or all(word in known or word.isdigit() for word in last)


def _end_of_told(text: str, start: int, *, is_said: bool) -> int:
    """Return where what is told after a colon ends."""
    blank = _BLANK.match(text, start)
    rest = blank.end() if blank else start
    if text[rest : rest + 1] == _FILLER:
        return start  # it is the quoted text
    if "\n" not in text[start:rest]:
        while (end := _ENDS.search(text, rest)) and is_said and end[0] not in ("", "\n"):
            rest = end.end()
        return end.start() if end else len(text)
    is_list = _ITEM.match(text, text.rindex("\n", start, rest) + 1) is not None
    at = text.rindex("\n", start, rest) + 1
    while line := _LINE.match(text, at):
        if not line[0].strip() or (is_list and not _ITEM.match(line[0])):
            break
        at = line.end()
    return at
