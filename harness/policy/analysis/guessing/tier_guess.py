"""Guess the tier of a tool from its name, its description and its arguments.

Rule 1: the first word of the name counts if it is a verb, else the last, else any.
Rule 2: everything else only raises: a second verb, what the description says beside, what is acted
        on, an argument that leads out, the hint of a server.
Rule 3: where no verb is in the name, the tier stays open, which is written as `destructive`. The
        description alone may say `read_only`, `delegated` or `destructive`, and never what lies
        between: "Sends a plumber" sends no message.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from critic import MODE_RANK
from evals.kinds import ApprovalMode
from harness.policy.analysis.guessing.guess_tables import (
    ABOUT,
    AMBIGUOUS_READS,
    DETERMINERS,
    DISPLAYS,
    GIVES_TO_OTHERS,
    NOUNS_FIRST,
    OFTEN_NOUNS,
    OPENERS,
    OUTSIDE,
    OWN_THINGS,
    PARTICLES,
    PLAIN_DESTRUCTION,
    RAISING,
    RAISING_ARGUMENTS,
    SENT_TEXTS,
    STAYS_A_VERB,
    TIER_OF,
    UNLISTED_EFFECTS,
)

_LONGEST_NAME: Final = 128
_PIECE: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_WORD: Final = re.compile(r"[a-z]+")
_ANOTHER: Final = re.compile(r"(?:\b(?:and|or|then|also)\s|[.,;:]\s)\s*(?=([a-z]+)\W?([a-z]*))")
_AFTER_DOING: Final = re.compile(r"\b(?:after|by|while)\s+([a-z]+)ing\b")
_OF_ARGUMENTS: Final = re.compile(
    r"^[ \t]*(?:(?:args|arguments|parameters|returns|raises|examples?)[ \t]*:"
    r"|:(?:param|return)|---)",
    re.IGNORECASE | re.MULTILINE,
)


class TierGuess(NamedTuple):
    """A tier, and why. One that is open is for a person to decide, and is `destructive` till then.

    `why` is one line without characters of the description. `is_read` is whether it only reads,
    also where what it reads lies outside.
    """

    tier: ApprovalMode
    why: str
    is_open: bool = False
    is_read: bool = False


class _Found(NamedTuple):
    tier: ApprovalMode
    why: str

    @property
    def rank(self) -> int:
        return MODE_RANK[self.tier]


def words_of(name: str) -> list[str]:
    """Return the words of a name in snake or camel case, in small letters: ASCII alone counts."""
    return [word.lower() for word in _PIECE.findall(name.replace(".", "_"))]


def snake_case(name: str) -> str:
    """Return a name in snake case; of one that nobody reads, the end."""
    name = name[-_LONGEST_NAME:]
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().strip("_")


def guess_tier(
    name: str, description: str, arguments: Collection[str], *, hints_at_destruction: bool = False
) -> TierGuess:
    """Return the tier of a tool.

    Args:
        arguments: the names of its arguments.
        hints_at_destruction: whether its server says that it destroys. A hint only raises.
    """
    words = words_of(name)
    named = list(_verbs_of_name(words))
    told = list(_verbs_of_text(description))
    doubt = _why_open(words, named, told, arguments) or _says_otherwise(named, description)
    found = max((*named, *told), key=lambda one: one.rank, default=None)
    if found is None or (doubt and found.tier != "destructive"):
        return TierGuess("destructive", doubt, is_open=True)
    found = _of_own_things(words, found)
    is_read = found.tier == "read_only"
    if found.tier == "read_only" and any(OUTSIDE.fullmatch(snake_case(one)) for one in arguments):
        found = _Found("network", f"{found.why}, with a URL")
    raising = next((word for word in words[1:] if {word, word.rstrip("s")} & RAISING), None)
    if not is_read and raising:
        found = _Found("destructive", f"{found.why}, of {raising}")
    if found.rank > 0 and hints_at_destruction:
        found = _Found("destructive", "the server says destructiveHint")
    return TierGuess(*found, is_read=is_read and found.tier != "destructive")


def _verbs_of_name(words: Sequence[str]) -> Iterator[_Found]:
    if words and words[0] in TIER_OF:
        yield _verb(words[0])
    elif words and words[-1] in TIER_OF:
        yield _verb(words[-1])
    else:
        verbs = [word for word in words if word in TIER_OF]
        effects = [verb for verb in verbs if TIER_OF[verb] != "read_only"]
        yield from map(_verb, (effects or verbs)[:1])
    for before, word in pairwise(words):
        if before in ("and", "or", "then") and word in TIER_OF:
            yield _verb(word)
        if (both := f"{before}_{word}") in TIER_OF:
            yield _verb(both)  # return_money
    if words and (verb := _base_form(words[0], TIER_OF)) and TIER_OF[verb] != "read_only":
        yield _verb(verb)  # removes_file
    joined = "".join(words)
    yield from (_verb(verb) for verb in PLAIN_DESTRUCTION if verb in joined)  # deleteorder


def _verb(word: str) -> _Found:
    return _Found(TIER_OF[word], word)


def _verbs_of_text(description: str) -> Iterator[_Found]:
    """Yield the verbs that a description begins with, that it joins, and that destroy anywhere."""
    text = _OF_ARGUMENTS.split(description, maxsplit=1)[0].lower()
    said = _WORD.findall(text)
    pairs = [*pairwise((*said[:2], "", ""))][:1] + _ANOTHER.findall(text)
    for word, following in pairs:
        verb = _base_form(word, TIER_OF)
        if verb and (verb not in OFTEN_NOUNS or following in DETERMINERS):
            yield _verb(verb)
    for word in said:
        if verb := _base_form(word, PLAIN_DESTRUCTION):
            yield _verb(verb)
    for stem in _AFTER_DOING.findall(text):  # by charging the account
        yield from (_verb(verb) for verb in (stem, f"{stem}e") if verb in TIER_OF)


def _base_form(word: str, verbs: Collection[str]) -> str | None:
    """Return the verb that a word is a form of: deletes, copies."""
    forms = [word]
    for ending, base in (("s", ""), ("es", ""), ("ies", "y")):
        if word.endswith(ending):
            forms.append(word.removesuffix(ending) + base)
    return next((form for form in forms if form in verbs), None)


def _why_open(
    words: Sequence[str],
    named: Sequence[_Found],
    told: Sequence[_Found],
    arguments: Collection[str],
) -> str:
    """Return why the tier is left to a person, or nothing."""
    highest = max((*named, *told), key=lambda one: one.rank, default=None)
    if highest is None:
        return "no known verb in its name"
    if highest.tier == "destructive":
        return ""
    return next(_doubts(words, highest, arguments), "")


def _doubts(words: Sequence[str], highest: _Found, arguments: Collection[str]) -> Iterator[str]:
    """Yield why the verb may not say all, or may be none."""
    first, last = words[0] if words else "", words[-1] if words else ""
    if len(words) > 1 and last in ABOUT and _may_be_noun(first):
        yield f"{first} is a noun before {last}"
    if first in TIER_OF and len(words) > 1 and words[1] in PARTICLES:
        yield f"{first} {words[1]} is another verb than {first}"
    if not any(word in TIER_OF for word in words) and highest.tier in ("local_write", "network"):
        yield "only its description has a verb"
    if highest.tier == "read_only" and (more := _does_more(words)):
        yield f"it may do more than {first}: {more}"
    if any(RAISING_ARGUMENTS & {*words_of(one)} for one in arguments):
        yield "an argument of it is run"
    if highest.tier == "read_only" and first in DISPLAYS and SENT_TEXTS & {*arguments}:
        yield f"{first} with a text of its own may show it to somebody"


def _says_otherwise(named: Sequence[_Found], description: str) -> str:
    """Return why a name that reads is in doubt, or nothing: its description has another verb."""
    said = _WORD.findall(description.lower())[:2]
    if not said or not named or any(found.tier != "read_only" for found in named):
        return ""
    verb = _base_form(said[0], TIER_OF) or _base_form(said[0], OPENERS)
    reads = verb in OPENERS or verb in OFTEN_NOUNS or TIER_OF.get(verb or "") == "read_only"
    return "" if reads else "its name reads, and its description has another verb"


def _does_more(words: Sequence[str]) -> str:
    """Return a word behind the first that may be an effect, or nothing."""
    joined = [
        word
        for before, word in pairwise(words)
        if before in ("and", "or", "then") and word not in TIER_OF and not word.endswith("s")
    ]
    joined += [word for word in words[1:] if word in UNLISTED_EFFECTS]
    first, last = words[:1], words[-1:]
    if AMBIGUOUS_READS.issuperset(first) and TIER_OF.get("".join(last), "read_only") != "read_only":
        is_verb = NOUNS_FIRST.issuperset(first) or OFTEN_NOUNS.isdisjoint(last)
        joined += last if is_verb else []  # status_update
    return next(iter(joined), "")


def _may_be_noun(word: str) -> bool:
    return TIER_OF.get(word, "read_only") != "read_only" and word not in STAYS_A_VERB


def _of_own_things(words: Sequence[str], found: _Found) -> _Found:
    """Return `local_write` for what is created or updated of the agent's own things."""
    own = next((word for word in words[1:] if word in OWN_THINGS), None)
    if (
        own is None
        or found.tier != "delegated"
        or words[0] not in TIER_OF
        or words[0] in GIVES_TO_OTHERS
    ):
        return found
    return _Found("local_write", f"{found.why}, of the agent's own {own}")
