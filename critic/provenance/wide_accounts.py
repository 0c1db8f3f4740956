"""Runs of groups in a wide text that a reader may take for the number of an account.

What doubts may be any run of groups, whatever parts them.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from itertools import accumulate, islice
from typing import Final, Literal

from critic.provenance.accounts import ASCII_GROUPS, GROUP, MOST_GROUPS, PARTED_GROUP, WIDE_GAPS
from critic.provenance.boundaries import compile_pattern
from critic.provenance.ibans import find_iban, iban_length, is_iban

WIDELY_SEPARATED: Final = re.compile("[ ./\u2010-\u2015\u2212-]+")
_ANY_GAP: Final = re.compile("[ ./()_,:\u2010-\u2015\u2212-]+")
"""What may stand between the groups of a number whose first group begins as that of an IBAN."""
_IBAN_HEAD: Final = re.compile("(?<![A-Za-z0-9])[A-Za-z]{2}[0-9]{2}")
_OTHER_ACCOUNT: Final = re.compile("bc1[a-z0-9]{11,59}|0x[0-9a-f]{40}")
_GROUP_AND_GAP: Final = re.compile("([A-Za-z0-9]++)([^A-Za-z0-9]*+)")
_DIGIT: Final = re.compile("[0-9]")
_SHORTEST, _LONGEST = 4, 62
_SHORTEST_IBAN, _LONGEST_IBAN = 12, 34
_Parting = Literal["as ever", "loosely", "two texts"]


def wide_accounts_in(text: str, lengths: Collection[int] | None = None) -> Iterator[str]:
    """Yield what may be an account number in a wide text, without what separates its groups.

    Args:
        lengths: how long such numbers are; None for all of them.
    """
    for groups in _wide_runs_in(text):
        yield from _all_joined(groups) if lengths is None else _joined_to(groups, lengths)


def find_wide_accounts(text: str, sought: Collection[str]) -> set[str]:
    """Return those of some numbers that `wide_accounts_in` yields of a wide text."""
    wanted = {one for one in sought if _SHORTEST <= len(one) <= _LONGEST and _DIGIT.search(one)}
    begins = {one[:length] for one in wanted for length in range(1, _SHORTEST + 1)}
    found = set[str]()
    for groups in _wide_runs_in(text) if wanted else ():
        for at, group in enumerate(groups):
            if group[:_SHORTEST] in begins:
                found |= wanted.intersection(accumulate(groups[at : at + MOST_GROUPS]))
    return found


def _wide_runs_in(text: str) -> Iterator[list[str]]:
    """Yield the groups of each run with a digit."""
    more = () if text.isascii() else (GROUP, PARTED_GROUP)
    for one in (ASCII_GROUPS.pattern, *more):
        runs = compile_pattern(f"{one}(?:(?>{WIDE_GAPS.pattern})(?>{one}))*+")
        for run in runs.finditer(text):
            if _DIGIT.search(run[0]):
                yield WIDE_GAPS.split(run[0])


def _all_joined(groups: list[str]) -> Iterator[str]:
    """Yield the groups of a run joined, one and more of them that end somewhere, with a digit."""
    since_digit = MOST_GROUPS
    for end, last in enumerate(groups, 1):
        since_digit = 0 if _DIGIT.search(last) else since_digit + 1
        joined = ""
        for count in range(min(end, MOST_GROUPS) if since_digit < MOST_GROUPS else 0):
            joined = groups[end - 1 - count] + joined
            if len(joined) > _LONGEST:
                break  # so is any longer one
            if len(joined) >= _SHORTEST and count >= since_digit:
                yield joined


def _joined_to(groups: list[str], lengths: Collection[int]) -> Iterator[str]:
    """Yield the groups of a run joined to some lengths, with a digit, each once."""
    most = min(_LONGEST, MOST_GROUPS * max(map(len, groups)))
    wanted = [length for length in lengths if _SHORTEST <= length <= most]
    if not wanted:
        return
    joined = "".join(groups)
    counts = {0: 0, **{end: count for count, end in enumerate(accumulate(map(len, groups)), 1)}}
    for length in wanted:
        found = dict.fromkeys(
            joined[end - length : end]
            for end, count in counts.items()
            if count - counts.get(end - length, -MOST_GROUPS - 1) <= MOST_GROUPS
        )
        yield from filter(_DIGIT.search, found)


def loose_ibans_in(text: str, length: int | None = None) -> Iterator[str]:
    """Yield the IBANs in a wide text, whatever stands between their groups.

    Args:
        length: how long they are; None for all of them.
    """
    for head in _IBAN_HEAD.finditer(text):
        wanted = iban_length(head[0])
        if wanted is None or (length is not None and wanted != length):
            continue
        joined = find_iban(_ANY_GAP, wanted, text, head.start())
        if joined is not None and joined in _joined_loosely(text, head.start()):
            yield joined


def _joined_loosely(text: str, at: int) -> Iterator[str]:
    """Yield the groups that begin somewhere joined, one and more of them."""
    joined, end = "", at
    for group in islice(ASCII_GROUPS.finditer(text, at), MOST_GROUPS):
        if joined and not _ANY_GAP.fullmatch(text, end, group.start()):
            return
        joined, end = joined + group[0], group.end()
        yield joined


def account_parts(text: str) -> Iterator[tuple[str, ...]]:
    """Yield the account numbers in a wide text, each as all of its parts that end at a separator.

    A word behind a number does not hide it.
    """
    groups, gaps = _groups_and_gaps(text)
    of_other_kinds = {one for one in {*groups} if _OTHER_ACCOUNT.fullmatch(one)}
    heads = {one for one in {*groups} if _IBAN_HEAD.match(one)}
    parting = {gap: _parting_of(gap) for gap in {*gaps}}
    for at, group in enumerate(groups):
        if group in of_other_kinds:
            yield (group,)
        if group in heads:
            till = at + MOST_GROUPS
            parts = dict.fromkeys(_iban_parts(groups[at:till], map(parting.get, gaps[at:till])))
            if parts:
                yield tuple(parts)


def _groups_and_gaps(text: str) -> tuple[list[str], list[str]]:
    """Return the groups of a text, and what stands behind each of them."""
    found = _GROUP_AND_GAP.findall(text)
    return [group for group, _ in found], [gap for _, gap in found]


def _parting_of(gap: str) -> _Parting:
    if WIDELY_SEPARATED.fullmatch(gap):
        return "as ever"
    return "loosely" if _ANY_GAP.fullmatch(gap) else "two texts"


def _iban_parts(groups: list[str], parting: Iterable[_Parting | None]) -> Iterator[str]:
    """Yield what may be an IBAN of the groups from the first one on."""
    is_loose = False
    for joined, behind in zip(accumulate(groups), parting, strict=True):
        length = len(joined)
        if _SHORTEST_IBAN <= length <= _LONGEST_IBAN and (not is_loose or is_iban(joined)):
            yield joined  # loose groups that begin as an IBAN stand in any sentence
        if length >= _LONGEST_IBAN or behind == "two texts":
            return
        is_loose = is_loose or behind == "loosely"
