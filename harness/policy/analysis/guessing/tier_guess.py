"""Guess the tier of a tool from its name, its description and its arguments.

Rule 1: the first word of the name counts if it is a verb, else the last, else any.
Rule 2: everything else only raises the tier: a second verb, the description, the thing acted on, an
        argument that leads outside, the hint of a server.
Rule 3: without a verb in the name, the tier stays open, and is written as `destructive`. Then the
        description may say `read_only`, `delegated` or `destructive`, but no tier between them:
        "Sends a plumber" sends no message.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from critic import MODE_RANK
from evals.kinds import ApprovalMode
from harness.policy.analysis.guessing.guess_tables import (
    ABOUT,
    ACCOUNT_ARGUMENTS,
    ADDS_UP,
    AFTER_NOUNS,
    ALWAYS_OWN,
    AMBIGUOUS_READS,
    BINDING,
    CLEAR_READS,
    CONTENT,
    CONVERTED,
    DETERMINERS,
    DISPLAYS,
    ENTERED,
    FUNCTION_WORDS,
    GUESSED_TIER_OF,
    KEEPS,
    KEPT_LINKS,
    KEYS_TO_DOORS,
    MONEY_ARGUMENTS,
    NEEDS_OWN_THING,
    NEVER_SHARED,
    NOUNS_FIRST,
    OFTEN_NOUNS,
    OPENERS,
    OPENS_TO_READ,
    OTHERS_THINGS,
    OUTSIDE,
    OWN_PLACES,
    OWN_THINGS,
    PARTICLES,
    PLAIN_DESTRUCTION,
    PRONOUNS,
    QUERY_LANGUAGES,
    RAISING,
    RAISING_ARGUMENTS,
    RAISING_BY_VERB,
    SAID_IN_LOGS,
    SENT_TEXTS,
    SHARED,
    STAYS_A_VERB,
    TIER_OF,
    TRADE_ARGUMENTS,
    UNLISTED_EFFECTS,
    WEAKER,
)

_LONGEST_NAME: Final = 128
_ACTS: Final = frozenset({"change", "close", "place", "post", "run", "set", "start"})
"""Of the verbs that are often nouns, those that are verbs behind a prefix."""
_GETS: Final = frozenset({"describe", "fetch", "get", "retrieve"})
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
    """A tier, and the reason. A person decides an open tier; it is `destructive` until then.

    `why` is one line without text of the description. `is_read` is whether it only reads, inside or
    outside.
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
    """Return the words of a name in snake or camel case, in lower case. Only ASCII counts."""
    return [word.lower() for word in _PIECE.findall(name.replace(".", "_"))]


def snake_case(name: str) -> str:
    """Return a name in snake case; of a very long one, the end."""
    name = name[-_LONGEST_NAME:]
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().strip("_")


def guess_tier(
    name: str, description: str, arguments: Collection[str], *, hints_at_destruction: bool = False
) -> TierGuess:
    """Return the tier of a tool.

    Args:
        arguments: the names of its arguments.
        hints_at_destruction: whether its server hints that it destroys. A hint only raises.
    """
    words = _without_prefix(words_of(name))
    text = _OF_ARGUMENTS.split(description, maxsplit=1)[0]
    named = list(_verbs_of_name(words))
    reads = bool(named) and all(found.tier == "read_only" for found in named)
    told = list(_verbs_of_text(OPENS_TO_READ.sub("reads", text.lower()) if reads else text))
    doubt = _why_open(words, named, told, arguments, text)
    found = max((*named, *told), key=lambda one: one.rank, default=None)
    if found is None or doubt:
        return TierGuess("destructive", doubt, is_open=True)
    ours = [snake_case(one) for one in arguments]
    found = _of_whose_things(words, found, text, ours)
    is_read = found.tier == "read_only"
    is_fetch = is_read or (found.tier == "local_write" and KEPT_LINKS.isdisjoint(words))
    if is_fetch and any(OUTSIDE.fullmatch(one) for one in ours):
        found = _Found("network", f"{found.why}, with a URL")
    if not is_read:
        found = max(found, *_raise_by(words, found, text, ours), key=lambda one: one.rank)
    if found.rank > 0 and hints_at_destruction:
        found = _Found("destructive", "the server says destructiveHint")
    return TierGuess(*found, is_read=is_read and found.tier != "destructive")


def _without_prefix(words: list[str]) -> list[str]:
    """Return the words of a name without the name of its service: `jira_get_issue`."""
    for at, word in enumerate(words[:-1]):
        if word in GUESSED_TIER_OF:
            return words[at:] if at == 0 or _acts_behind_prefix(word, words[-1]) else words
    return words


def _acts_behind_prefix(word: str, last: str) -> bool:
    """Return whether a word is the verb of a name, not a noun before a verb at its end."""
    if word in CLEAR_READS:
        is_noun = GUESSED_TIER_OF.get(last, "read_only") != "read_only"  # todo_list_remove
        return word in _GETS or not is_noun
    return (
        word in TIER_OF and (word in _ACTS or word not in OFTEN_NOUNS) and last not in CLEAR_READS
    )


def _raise_by(
    words: Sequence[str], found: _Found, description: str, arguments: Collection[str]
) -> Iterator[_Found]:
    """Yield the tiers that an effect is raised to, by its name, description and arguments."""
    yield found
    verb = words[0] if words else ""
    things = words[1:] if verb in GUESSED_TIER_OF else words
    said = _WORD.findall(description.partition(". ")[0].lower())
    if found.tier == "delegated":
        things = [*things, *(said[1:8] if verb in GUESSED_TIER_OF else said[1:])]
    raising = RAISING | RAISING_BY_VERB.get(verb, frozenset())
    for thing in things:
        if {thing, thing.rstrip("s")} & raising:
            yield _Found("destructive", f"{found.why}, of {thing}")
        if found.tier == "network" and {thing, thing.rstrip("s")} & BINDING:
            yield _Found("delegated", f"{found.why}, of {thing}, which binds")
    if any(map(MONEY_ARGUMENTS.fullmatch, arguments)) and any(
        map(ACCOUNT_ARGUMENTS.fullmatch, arguments)
    ):
        yield _Found("destructive", f"{found.why}, of an amount and an account")
    if "query" in arguments:
        yield _Found("destructive", f"{found.why}, by a query")
    if any(map(TRADE_ARGUMENTS.fullmatch, arguments)):
        yield _Found("destructive", f"{found.why}, at a market")
    if found.tier == "delegated" and any(map(KEYS_TO_DOORS.fullmatch, arguments)):
        yield _Found("destructive", f"{found.why}, with a secret")


def _verbs_of_name(words: Sequence[str]) -> Iterator[_Found]:
    if words and words[0] in WEAKER:
        yield _verb(words[0])
    if words and words[0] in TIER_OF:
        yield _verb(words[0])
    elif words and words[-1] in TIER_OF:
        yield _verb(words[-1])
    else:
        verbs = [word for word in words if word in TIER_OF]
        effects = [verb for verb in verbs if TIER_OF[verb] != "read_only"]
        yield from map(_verb, effects or verbs[:1])
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
    return _Found(GUESSED_TIER_OF[word], word)


def _verbs_of_text(description: str) -> Iterator[_Found]:
    """Yield the first verb of a description, the joined ones, and those that always destroy."""
    text = description.lower()
    said = _WORD.findall(text)
    for word, following in _acts_of_text(text):
        verb = _base_form(word, GUESSED_TIER_OF)
        is_plain = verb not in OFTEN_NOUNS and verb not in WEAKER
        if verb and (is_plain or following in DETERMINERS | PRONOUNS):
            yield _verb(verb)
    for word in said:
        if verb := _base_form(word, PLAIN_DESTRUCTION):
            yield _verb(verb)
    for stem in _AFTER_DOING.findall(text):  # by charging the account
        yield from (_verb(verb) for verb in (stem, f"{stem}e") if verb in TIER_OF)


def _acts_of_text(text: str) -> list[tuple[str, str]]:
    """Return the first and the joined words, which may be verbs, each with the next word."""
    said = _WORD.findall(text)
    return [*pairwise((*said[:2], "", ""))][:1] + _ANOTHER.findall(text)


def _base_form(word: str, verbs: Collection[str]) -> str | None:
    """Return the verb of an inflected word: deletes, copies."""
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
    description: str,
) -> str:
    """Return why a person has to decide the tier, or nothing."""
    highest = max((*named, *told), key=lambda one: one.rank, default=None)
    if highest is None:
        return "no known verb in its name"
    if highest.tier == "destructive":
        return _destroying_noun(words, (*named, *told))
    if not told and (noun := _noun_behind_unknown(words)):
        return noun
    doubts = _doubts(words, named, highest, arguments)
    return next(doubts, "") or _says_otherwise(words, named, told, description)


def _noun_behind_unknown(words: Sequence[str]) -> str:
    """Return that a name is a verb that no table has, and a noun: `consume_message`. Or nothing."""
    is_noun = len(words) == 2 and words[1] in OFTEN_NOUNS
    if not is_noun or _base_form(words[0], GUESSED_TIER_OF):
        return ""
    return f"{words[0]} is not a known verb, and {words[1]} may be a noun"


def _destroying_noun(words: Sequence[str], found: Iterable[_Found]) -> str:
    """Return that the one verb that destroys is a noun, as in `refund_window`, or nothing."""
    destroying = {one.why for one in found if one.tier == "destructive"}
    is_noun = destroying == {*words[:1]} and words[-1] in ABOUT
    if not is_noun or destroying & (STAYS_A_VERB | PLAIN_DESTRUCTION):
        return ""
    return f"{words[0]} is a noun before {words[-1]}"


def _doubts(
    words: Sequence[str], named: Sequence[_Found], highest: _Found, arguments: Collection[str]
) -> Iterator[str]:
    """Yield the reasons to doubt the verb."""
    first, last = words[0] if words else "", words[-1] if words else ""
    if len(words) > 1 and last in ABOUT and _may_be_noun(first):
        yield f"{first} is a noun before {last}"
    if first in TIER_OF and len(words) > 1 and words[1] in PARTICLES:
        yield f"{first} {words[1]} is another verb than {first}"
    if not named and highest.tier in ("local_write", "network"):
        yield "only its description has a verb"
    if highest.tier == "read_only" and (more := _does_more(words)):
        yield f"it may do more than {first}: {more}"
    if any(RAISING_ARGUMENTS & {*words_of(one)} for one in arguments):
        yield "an argument of it is run"
    if not QUERY_LANGUAGES.isdisjoint(words) and any("query" in words_of(one) for one in arguments):
        yield "a query in such a language may change what it asks"
    if first == "convert" and not CONVERTED.issuperset(words[1:]):
        yield "convert may change what it is given"
    if first in ADDS_UP and any(map(ENTERED.fullmatch, map(snake_case, arguments))):
        yield f"{first} with an amount or a text may enter it"
    if highest.tier == "read_only" and first in DISPLAYS and SENT_TEXTS & {*arguments}:
        yield f"{first} with a text of its own may show it to somebody"


def _says_otherwise(
    words: Sequence[str], named: Sequence[_Found], told: Sequence[_Found], description: str
) -> str:
    """Return the other verb in the description of a reading tool, or nothing."""
    acts = _acts_of_text(description.lower())
    if not acts[0][0] or any(found.tier != "read_only" for found in named or told):
        return ""
    if not _reads(acts[0], words[1:] if named else ()):
        return "its description has another verb than one that reads"
    behind = DETERMINERS | PRONOUNS | (frozenset() if named else PARTICLES | {"in"})
    unknown = [word for word, following in acts[1:] if following in behind and _is_unknown(word)]
    return "its description joins a verb that no table has" if unknown else ""


def _reads(act: tuple[str, str], things: Collection[str]) -> bool:
    """Return whether a description begins like that of a read: with such a verb, or a noun."""
    first, following = act
    verb = _base_form(first, GUESSED_TIER_OF.keys() | OPENERS)
    if verb in OPENERS or verb in OFTEN_NOUNS or GUESSED_TIER_OF.get(verb or "") == "read_only":
        return True
    is_thing = bool({first, f"{first}s", first.rstrip("s")} & {*things})  # Stock of one article
    return following in AFTER_NOUNS and (is_thing or following == "of")


def _is_unknown(word: str) -> bool:
    """Return whether a joined word may be a verb that no table has: `and ring the owner`."""
    return word not in FUNCTION_WORDS and not _base_form(word, GUESSED_TIER_OF.keys() | OPENERS)


def _does_more(words: Sequence[str]) -> str:
    """Return a word after the first that may be an effect, or nothing."""
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


def _of_whose_things(
    words: Sequence[str], found: _Found, description: str, arguments: Collection[str]
) -> _Found:
    """Return `local_write` for the agent's own things, `delegated` for others'."""
    verb = words[0] if words else ""
    own = next((word for word in words[1:] if word in OWN_THINGS), None)
    others = _whose_others(words[1:], description, arguments)
    if found.tier == "local_write" and verb not in ALWAYS_OWN:
        is_own = own or verb not in NEEDS_OWN_THING or any(map(OWN_PLACES.fullmatch, arguments))
        if verb == "log" and not own:
            is_own = all(map(SAID_IN_LOGS.fullmatch, arguments))
        if others or not is_own:
            return _Found("delegated", f"{found.why}, of {others or 'what may be of others'}")
    if own and found.tier == "delegated" and verb in KEEPS:
        return found if others else _Found("local_write", f"{found.why}, of the agent's own {own}")
    return found


def _whose_others(things: Collection[str], description: str, arguments: Collection[str]) -> str:
    """Return the thing of others that a writing tool is about, or nothing."""
    named = [one for one in things if {one, one.rstrip("s")} & OTHERS_THINGS]
    keys = [one.rpartition("_") for one in arguments]
    of = [thing for thing, _, key in keys if key in ("id", "no") and thing not in OWN_THINGS]
    of += [one for one in arguments if one in OTHERS_THINGS and not CONTENT.fullmatch(one)]
    if not named and {*things} & NEVER_SHARED:
        return ""
    if SHARED.search(description):
        of.append("what others see")
    return next(iter((*named, *filter(None, of))), "")
