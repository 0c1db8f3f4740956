"""What a message of a user asks for and what it forbids, part by part.

Rule 1: what says that something is not to be done forbids what follows, up to the end of the
        sentence, or to what takes up the request again (`but`, `, then`).
Rule 2: a negation that may only describe (`cannot`, `no tests`) forbids up to the end of its
        clause. What is said after it may ask again.
Rule 3: a rule in the passive (`must not`, `is forbidden`) forbids what stands before it too.
Rule 4: in doubt a part forbids: a question costs less than a deed that nobody wanted.
Rule 5: who orders that nothing is run, in whatever words for it (`anything`, `any code`, `them`),
        forbids code of every kind. What only says that something does not run is no order.
"""

import re
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

from critic.command.spoken_text import mask_spoken


class SaidPart(NamedTuple):
    """A part of a message.

    `orders` is the text without what is only spoken of (see `spoken_text`).
    `asks`: it says what is wanted. `forbids`: what is not, wherever else it is asked for.
    `denies`: what is not, until it is asked for again. `wonders`: it is of a question that may be
    about what was done.
    """

    text: str
    means: Literal["asks", "wonders", "forbids", "denies"]
    orders: str


_SENTENCE_END: Final = re.compile(
    r"""(?<!\be\.g)(?<!\bi\.e)(?<!\betc)(?<!\bvs)(?:(?<![\s\d])\.|[!?])[.!?]*(?=\s|$)
    |\n(?=[^\S\n]*(?:\n|[-+\u2022][^\S\n]|\d{1,3}[.)][^\S\n]))|\n(?=[^\S\n]*[A-Z])""",
    re.VERBOSE,
)
_QUESTION: Final = re.compile(
    r"\s*(?:\w+,?\s+)?(?:why|did|does|do|has|have|should|shall|was|were|is|are|when|who|what|how)\b",
    re.IGNORECASE,
)
_LIST_ITEM: Final = re.compile(r"\s*(?:[-+\u2022]|\d{1,3}[.)])\s")
_IS_RULED_OUT: Final = r"""
    \b(?:must|should|shall|may|ought)(?:\s+\w+)?\s+not\b|\b(?:must|should|sha)n'?t\b
    |\b(?:is|are|be|being)\s+(?:\w+ly\s+)?(?:forbidden|prohibited|banned|disallowed|unwanted)\b
    |\b(?:not|\w+n't)\s+(?:allowed|permitted|wanted|desired|ok|okay|acceptable|an\s+option)\b(?!\s+to\b)
    |\bonly\s+(?:after|once|when|if)\s+(?:i|we)\b
    |\b(?:after|once|when|until|unless)\s+(?:i|we)(?:'ve|\s+have)?\s+
     (?:say|said|approve|approved|confirm|confirmed|review|reviewed|tell|told|agree|agreed)\b
    |\boff[ -]limits\b|:\s*(?:no|never|none|don'?t)\b"""
_CANNOT_BE: Final = r"""
    (?:can(?:not|'?t|\s+not)|won'?t|will\s+not)\s+(?:be|happen|take\s+place|occur)
    |(?:can|must|should|will)\s+wait
    |(?<!or\s)(?<!and\s)later|tomorrow"""
_FORBIDS: Final = r"""
    (?:do|please|let)(?:\s+\w+)?\s+not|do\s?n'?t(?:'?s)?|never|without|not\s+(?:allowed|permitted|supposed|to)
    |avoid\w*|skip\w*|instead\s+of|rather\s+than|no\s+need|no\s+longer
    |hold\s+(?:off|back|on|the|that|your)|wait\s+with|postpone|delay|defer
    |(?:ask(?:\s+\w+){0,2}|(?:check|confirm|tell|warn|wait|consult)(?:\s+\w+){0,2}\s+(?:me|us))
     \s+(?:\w+\s+)?before
    |before(?:\s+\w+){1,5},?\s+(?:ask|(?:check|confirm)\s+with)
    |refrain\w*|(?:stop|cease)(?=\s+\w+ing)|forbidden|forbid|prohibit\w*|disallow\w*
    |(?:everything|anything|all)\s+but|(?:everything|anything|all|whatever)(?:\s+\w+){0,4}\s+except
    |,\s*except|excepting|apart\s+from|other\s+than|aside\s+from|under\s+no\s+circumstances
    |by\s+no\s+means|forget"""
_DENIES: Final = r"""
    \w+n't|cannot|cant|wont|not|no|nobody|nor|nowhere|unable
    |(?:\w+\s+)?(?:nothing|none|neither)
    |(?:i|we)(?:'ll|\s+will)|let\s+(?:me|us)(?!\s+know)
    |leave(?=[^.!?\n]{0,60}\b(?:to|for)\s+(?:me|us|now|later)\b)"""
_NOT_TO: Final = re.compile(
    rf"(?P<ruled_out>{_IS_RULED_OUT})|\b(?P<not_yet>(?:but\s+)?not\s+(?:yet|now|today))\b"
    rf"|\b(?P<cannot_be>{_CANNOT_BE})\b"
    rf"|\b(?P<forbids>{_FORBIDS})\b|\b(?P<denies>{_DENIES})\b",
    re.IGNORECASE | re.VERBOSE,
)
_ASKS_AGAIN: Final = re.compile(
    r"\bbut\b|\bhowever\b|[,;:\u2013\u2014-]\s*(?:and\s+)?(?:then|just|only)\b"
    r"|\b(?:except|unless|until|before)\b",
    re.IGNORECASE,
)
_CLAUSE_END: Final = re.compile(
    rf"{_ASKS_AGAIN.pattern}|\bso\b|[()\u2013\u2014]"
    r"|[,;](?!\s*(?:\w+\s+)?\w+\s*(?:[,;]|$))(?![^,;]{0,60}\bn?or\b)",
    re.IGNORECASE,
)
_CLAUSE_START: Final = re.compile(r"[,;]|\bbut\b", re.IGNORECASE)
_DO_IT: Final = re.compile(
    r"\b(?:do\s+not|don't|dont|never)\s+(?:forget|hesitate|fail)\b", re.IGNORECASE
)
_QUOTES: Final = re.compile(r"(?<=n)[\u2018\u2019\u02bc\u00b4`\u2032\uff07](?=t\b)", re.IGNORECASE)
_OTHER_QUOTES: Final = re.compile(r"[\u2018\u2019\u02bc](?=\w)")
_EMPHASIS: Final = re.compile(r"[*~]|(?<!\w)_+|_+(?!\w)")

_FIRST: Final = r"(?:\A|[^\w\s]|\n|\b(?:but|please|just|you|then|so|also|ok|okay)\b)\s*"
"""What stands before an order not to do something: no subject but the reader."""

_RUN: Final = r"\b(?:re-?)?(?:run(?:ning)?|execut(?:e|ing)|launch(?:ing)?|invok(?:e|ing))\b"
_WAS_RUN: Final = r"(?:run|executed|launched|invoked)\b"
_MUST: Final = r"(?:must|should|may|shall)"
_DO_NOT: Final = rf"""
    (?:do\s+not|do\s?n'?t|never|not|can'?t)|(?:can|{_MUST}|are)(?:n't|not|\s+not|\s+never)(?:\s+to)?"""
_NOT_ANY: Final = r"""
    \b(?:without|avoid|refrain\s+from|instead\s+of|rather\s+than)
    |\b(?:i|we)(?:'d|\s+would)?\s+(?:do\s+not|do\s?n'?t|rather)\s+(?:(?:want|need|like)\s+)?you
     \s+(?:to|did(?:n't|\s+not)|not)"""
_OR: Final = r"""
    (?:\s+(?:\w+ly|ever|even|just|dare|try\s+to|attempt\s+to|need\s+to|have\s+to|start|begin))*
    (?:(?:\s+\w+,?){1,5}?\s+n?or)?\s+"""
_NAMELESS: Final = r"(?:code|commands?|scripts?|programs?|process(?:es)?|things?|stuff)"
_NOTHING_ELSE: Final = (
    r"(?!\w|[./-]\w)(?!,?\s+(?:else|but|except|other|besides|apart|aside|beyond)\b)"
)
_ENDS: Final = r"\s*(?:\Z|[.,;!?)](?=\s|\Z)|\n\s*(?-i:[A-Z\n+-]))"
_ANYTHING: Final = rf"""
    \s+(?:anything|(?:(?:the|any|of|these|those|my|your)\s+)*(?!scripts?\b)(?:{_NAMELESS})
    |any\s+(?:(?!other\b)\w+\s+)?{_NAMELESS}|{_NAMELESS}){_NOTHING_ELSE}
    |\s+(?:them|it|this|that|these|those)(?:{_ENDS}|\s+(?:now|yet|here|please|at|for|and|or|but|locally
     |yourself|again|until|unless|because|since|when|while|if|on|either|by|in\s+(?:this|my|the))\b)"""
_NO_RUNS: Final = re.compile(
    rf"""(?:{_FIRST}(?:{_DO_NOT}){_OR}|(?:{_NOT_ANY}){_OR}){_RUN}(?:{_ANYTHING}|{_ENDS})
    |\band\s+(?:{_DO_NOT}){_OR}{_RUN}(?:{_ANYTHING})
    |{_RUN}\s+(?:nothing|none|no\s+{_NAMELESS}){_NOTHING_ELSE}
    |\b(?:nothing|none|no\s+{_NAMELESS})\s+(?:{_MUST}|can|is\s+to|are\s+to)\s+(?:ever\s+)?be\s+{_WAS_RUN}
    |\b(?:they|these|those|it|this|code|commands)\s+{_MUST}(?:n't|\s+not|\s+never)\s+be\s+{_WAS_RUN}
    |\bdo\s?(?:n'?t|\s+not)\s+want\s+(?:anything|any\s+{_NAMELESS})\s+(?:to\s+be\s+)?{_WAS_RUN}
    |(?:{_FIRST}|\b(?:and|with)\s+)no\s+(?:\w+\s+)?(?:commands?|executions?|running|runs)
     (?=\s+(?:please|at\s+all|allowed)\b|{_ENDS})
    |(?:{_FIRST}|\b(?:is|stay|strictly|purely)\s+)read[ -]only
     (?:\s+(?:please|mode|task))?{_ENDS}""",
    re.IGNORECASE | re.VERBOSE,
)


def forbids_all_runs(message: str) -> bool:
    """Return whether a message orders that nothing is run."""
    lines = (" ".join(line.split()) for line in _make_plain(message).splitlines())
    return _NO_RUNS.search("\n".join(filter(None, lines))) is not None


def split_message(message: str) -> Iterator[SaidPart]:
    """Yield the parts of a message, in order: what it asks for, and what it forbids."""
    plain, orders = _make_plain(message), mask_spoken(message)
    begin, carried = 0, None
    for end in (*(found.end() for found in _SENTENCE_END.finditer(plain)), len(plain)):
        sentence = _Sentence(plain, begin, end)
        if carried and (not sentence.is_empty) and (sentence.is_item or carried[1]):
            yield SaidPart(message[begin:end], carried[0], orders[begin:end])
            carried = (carried[0], False)
        elif not sentence.is_empty:
            carried = None
            for start, stop, means in sentence.parts():
                wonders = means == "asks" and sentence.is_question
                is_of = "wonders" if wonders else means
                yield SaidPart(message[start:stop], is_of, orders[start:stop])
            carried = sentence.carried
        begin = end


def _make_plain(message: str) -> str:
    """Return a text as long as the message, without signs that stand in the way of its words."""
    plain = _OTHER_QUOTES.sub("'", _QUOTES.sub("'", message))
    plain = _EMPHASIS.sub(lambda found: " " * len(found[0]), plain)
    return _DO_IT.sub(lambda found: " " * len(found[0]), plain)


class _Sentence:
    """A sentence of a message, by its place in the plain text.

    `carried`: what a list after it means, and whether the next sentence does in any case.
    """

    def __init__(self, plain: str, begin: int, end: int) -> None:
        self._text: Final = plain[begin:end]
        self._begin: Final = begin
        self.is_empty: Final = not self._text.strip()
        self.is_question: Final = _QUESTION.match(self._text) is not None and "?" in self._text
        self.is_item: Final = _LIST_ITEM.match(self._text) is not None
        self.carried: tuple[Literal["forbids", "denies"], bool] | None = None

    def parts(self) -> Iterator[tuple[int, int, Literal["asks", "forbids", "denies"]]]:
        """Yield where each part begins and ends in the message, and what it means."""
        text, at = self._text, 0
        while found := _NOT_TO.search(text, at):
            may_ask_again = found["denies"] or found["cannot_be"] or found["not_yet"]
            means: Literal["forbids", "denies"] = "denies" if may_ask_again else "forbids"
            start = found.start()
            if found["not_yet"]:
                start = at
            elif found["ruled_out"] or found["cannot_be"]:
                bounds = [one.end() for one in _CLAUSE_START.finditer(text, at, start)]
                start = bounds[-1] if bounds else at
            pattern = _CLAUSE_END if means == "denies" else _ASKS_AGAIN
            ends = pattern.search(text, found.end())
            stop = ends.start() if ends else len(text)
            yield self._begin + at, self._begin + start, "asks"
            yield self._begin + start, self._begin + stop, means
            rest = text[found.end() :].strip()
            if not ends and (rest.endswith(":") or not rest):
                self.carried = (means, not rest)
            at = max(stop, found.end())
        yield self._begin + at, self._begin + len(text), "asks"
