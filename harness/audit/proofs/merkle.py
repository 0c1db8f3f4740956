"""The Merkle tree of RFC 9162 over the hashes of records, and its proofs. Pure.

Rule 1: what is kept while leaves are appended is one hash for each bit of their number.
Rule 2: leaves are read once and in order, whatever is asked of the tree.
Rule 3: a proof is checked from itself and the roots alone, as section 2.1 of the RFC says it.
"""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Final

HASH_BYTES: Final = 32
"""The number of bytes of every hash here."""

EMPTY_ROOT: Final = hashlib.sha256(b"").digest()
"""The root of the tree without leaves."""

Range = tuple[int, int]
"""The leaves of a subtree: the index of the first, and that after the last."""


def leaf_hash(entry: bytes) -> bytes:
    """Return the hash of a leaf."""
    return hashlib.sha256(b"\0" + entry).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return the hash of a node with two children."""
    return hashlib.sha256(b"\1" + left + right).digest()


class Frontier:
    """A tree that grows: its size, and the roots of its full subtrees, the largest first."""

    def __init__(self) -> None:
        """Start with the tree without leaves."""
        self.size = 0
        self._roots: list[bytes] = []

    def append(self, leaf: bytes) -> None:
        """Append the hash of a leaf."""
        full = self.size
        while full & 1:
            leaf = node_hash(self._roots.pop(), leaf)
            full >>= 1
        self._roots.append(leaf)
        self.size += 1

    def root(self) -> bytes:
        """Return the root of the tree as it is."""
        if not self._roots:
            return EMPTY_ROOT
        *left, root = self._roots
        for larger in reversed(left):
            root = node_hash(larger, root)
        return root


def inclusion_ranges(index: int, size: int) -> list[Range]:
    """Return the subtrees whose roots prove the leaf `index`, the one beside the leaf first.

    Raises:
        ValueError: a tree of that size has no such leaf.
    """
    if not 0 <= index < size:
        raise ValueError(f"a tree of {size} leaves has no leaf {index}")
    ranges = []
    start, end = 0, size
    while end - start > 1:
        middle = start + _left_size(end - start)
        if index < middle:
            ranges.append((middle, end))
            end = middle
        else:
            ranges.append((start, middle))
            start = middle
    return ranges[::-1]


def consistency_ranges(old: int, size: int) -> list[Range]:
    """Return the subtrees whose roots prove that a tree extends its first `old` leaves, in order.

    Raises:
        ValueError: `old` is not between 1 and `size`.
    """
    if not 0 < old <= size:
        raise ValueError(f"no consistency proof leads from {old} leaves to {size}")
    ranges = []
    start, end = 0, size
    while old != end:
        middle = start + _left_size(end - start)
        if old <= middle:
            ranges.append((middle, end))
            end = middle
        else:
            ranges.append((start, middle))
            start = middle
    if start:  # else it is the old root itself, which whoever checks has
        ranges.append((start, end))
    return ranges[::-1]


def subtree_roots(leaves: Iterable[bytes], ranges: Sequence[Range]) -> list[bytes]:
    """Return the roots of subtrees, in the order of `ranges`. The leaves are read once.

    Raises:
        ValueError: there are fewer leaves.
    """
    # Of two that begin together, the larger one is popped first.
    waiting = sorted(set(ranges), key=lambda one: (-one[0], one[1]))
    growing: list[tuple[Range, Frontier]] = []
    roots: dict[Range, bytes] = {}
    for at, leaf in enumerate(leaves if waiting else ()):
        while waiting and waiting[-1][0] == at:
            growing.append((waiting.pop(), Frontier()))
        for _, subtree in growing:
            subtree.append(leaf)
        # Subtrees lie within each other or apart: the ones that began last end first.
        while growing and growing[-1][0][1] == at + 1:
            (whole, subtree) = growing.pop()
            roots[whole] = subtree.root()
        if not (waiting or growing):
            break
    if len(roots) < len(set(ranges)):
        raise ValueError(f"there are fewer than {max(end for _, end in ranges)} leaves")
    return [roots[one] for one in ranges]


def root_of_inclusion(leaf: bytes, index: int, size: int, path: Sequence[bytes]) -> bytes | None:
    """Return the root that an inclusion proof leads to, or None if it is of another length."""
    if not 0 <= index < size:
        return None
    number, last, root = index, size - 1, leaf
    for beside in path:
        if last == 0:
            return None
        if number & 1 or number == last:
            root = node_hash(beside, root)
            while number and not number & 1:
                number, last = number >> 1, last >> 1
        else:
            root = node_hash(root, beside)
        number, last = number >> 1, last >> 1
    return root if last == 0 else None


def is_consistent(old: int, old_root: bytes, size: int, root: bytes, path: Sequence[bytes]) -> bool:
    """Return whether a proof shows that the tree of `size` leaves extends that of `old` leaves."""
    if old in (0, size):
        expected = EMPTY_ROOT if old == 0 else root
        return not path and old_root == expected
    if not (0 < old < size and path):
        return False
    number, last = old - 1, size - 1
    while number & 1:
        number, last = number >> 1, last >> 1
    waiting = list(path) if number else [old_root, *path]
    before = after = waiting[0]
    for beside in waiting[1:]:
        if last == 0:
            return False
        if number & 1 or number == last:
            before, after = node_hash(beside, before), node_hash(beside, after)
            while number and not number & 1:
                number, last = number >> 1, last >> 1
        else:
            after = node_hash(after, beside)
        number, last = number >> 1, last >> 1
    return last == 0 and (before, after) == (old_root, root)


def _left_size(size: int) -> int:
    """Return the number of leaves of the left subtree: the largest power of two below `size`."""
    return 1 << (size - 1).bit_length() - 1
