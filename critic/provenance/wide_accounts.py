"""Runs of groups in a wide text that a reader may take for the number of an account.

What doubts may be any run of groups, whatever parts them.
"""

import re
from collections.abc import Iterator
from itertools import accumulate, islice
from typing import Final

from critic.provenance.accounts import ASCII_GROUPS, GROUP, MOST_GROUPS, PARTED_GROUP, WIDE_GAPS
from critic.provenance.boundaries import compile_pattern
from critic.provenance.ibans import find_iban, iban_length, is_iban

WIDELY_SEPARATED: Final = re.compile("[ ./\u2010-\u2015\u2212-]+")
_ANY_GAP: Final = re.compile("[ ./()_,:\u2010-\u2015\u2212-]+")
"""What may stand between the groups of a number whose first group begins as that of an IBAN."""
_IBAN_HEAD: Final = re.compile("(?<![A-Za-z0-9])[A-Za-z]{2}[0-9]{2}")
_OTHER_ACCOUNT: Final = re.compile("bc1[a-z0-9]{11,59}|0x[0-9a-f]{40}")
_DIGIT: Final = re.compile("[0-9]")
_SHORTEST, _LONGEST = 4, 62
_SHORTEST_IBAN, _LONGEST_IBAN = 12, 34


def wide_accounts_in(text: str, length: int | None = None) -> Iterator[str]:
    """Yield what may be an account number in a wide text, without what separates its groups.

    Args:
        length: how long such a number is; None for all of them.
    """
    for groups in _wide_runs_in(text):
        if length is None:
            yield from _all_joined(groups)
        else:
            yield from _joined_to(groups, length)


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


def _joined_to(groups: list[str], length: int) -> Iterator[str]:
    """Yield the groups of a run joined to a length, with a digit."""
    if not _SHORTEST <= length <= min(_LONGEST, MOST_GROUPS * max(map(len, groups))):
        return
    joined, ends = "".join(groups), [*accumulate(map(len, groups))]
    counts = {0: 0, **{end: count for count, end in enumerate(ends, 1)}}
    for count, end in enumerate(ends, 1):
        before = counts.get(end - length)
        if before is not None and count - before <= MOST_GROUPS:
            one = joined[end - length : end]
            if _DIGIT.search(one):
                yield one


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
    for head in ASCII_GROUPS.finditer(text):
        group = head[0]
        if _OTHER_ACCOUNT.fullmatch(group):
            yield (group,)
        if not (len(group) >= 4 and group[:2].isalpha() and group[2:4].isdigit()):
            continue
        joined, end, is_loose, parts = group, head.end(), False, dict[str, None]()
        for more in islice(ASCII_GROUPS.finditer(text, end), MOST_GROUPS - 1):
            if _is_account(joined, is_loose=is_loose):
                parts[joined] = None
            gap = text[end : more.start()]
            if len(joined) >= _LONGEST_IBAN or (gap != " " and _ANY_GAP.fullmatch(gap) is None):
                break
            is_loose = is_loose or (gap != " " and WIDELY_SEPARATED.fullmatch(gap) is None)
            joined, end = joined + more[0], more.end()
        if _is_account(joined, is_loose=is_loose):
            parts[joined] = None
        if parts:
            yield tuple(parts)


def _is_account(joined: str, *, is_loose: bool) -> bool:
    """Return whether groups that begin as an IBAN may be one. Loose ones stand in any sentence."""
    is_long_enough = _SHORTEST_IBAN <= len(joined) <= _LONGEST_IBAN
    return is_long_enough and (not is_loose or is_iban(joined))
