"""The Merkle tree, against published vectors and against the definition of the RFC."""

from collections.abc import Sequence
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.audit.proofs.merkle import (
    EMPTY_ROOT,
    Frontier,
    consistency_ranges,
    inclusion_ranges,
    is_consistent,
    leaf_hash,
    node_hash,
    root_of_inclusion,
    subtree_roots,
)

# The vectors of the implementations of RFC 6962: eight entries, and the root after each.
ENTRIES = [
    bytes.fromhex(text)
    for text in (
        *("", "00", "10", "2021", "3031", "40414243"),
        *("5051525354555657", "606162636465666768696a6b6c6d6e6f"),
    )
]
ROOTS = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
PATH_OF_LEAF_5 = [
    "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
    "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
]
FROM_6_TO_8 = [
    "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
    "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
]
SIZES = st.integers(min_value=1, max_value=200)


def leaves(size: int) -> list[bytes]:
    return [leaf_hash(b"%d" % number) for number in range(size)]


def root_of(hashes: Sequence[bytes]) -> bytes:
    frontier = Frontier()
    for one in hashes:
        frontier.append(one)
    assert frontier.size == len(hashes)
    return frontier.root()


def naive_split(hashes: Sequence[bytes]) -> int:
    power = 1
    while power * 2 < len(hashes):
        power *= 2
    return power


def naive_root(hashes: Sequence[bytes]) -> bytes:
    """MTH of RFC 9162, 2.1.1."""
    if len(hashes) < 2:
        return hashes[0] if hashes else sha256(b"").digest()
    k = naive_split(hashes)
    return node_hash(naive_root(hashes[:k]), naive_root(hashes[k:]))


def naive_path(index: int, hashes: Sequence[bytes]) -> list[bytes]:
    """PATH of RFC 9162, 2.1.3.1."""
    if len(hashes) == 1:
        return []
    k = naive_split(hashes)
    if index < k:
        return [*naive_path(index, hashes[:k]), naive_root(hashes[k:])]
    return [*naive_path(index - k, hashes[k:]), naive_root(hashes[:k])]


def naive_proof(old: int, hashes: Sequence[bytes], complete: bool = True) -> list[bytes]:
    """SUBPROOF of RFC 9162, 2.1.4.1."""
    if old == len(hashes):
        return [] if complete else [naive_root(hashes)]
    k = naive_split(hashes)
    if old <= k:
        return [*naive_proof(old, hashes[:k], complete), naive_root(hashes[k:])]
    return [*naive_proof(old - k, hashes[k:], complete=False), naive_root(hashes[:k])]


def test_the_roots_are_the_published_ones() -> None:
    hashes = [leaf_hash(entry) for entry in ENTRIES]
    assert [root_of(hashes[:size]).hex() for size in range(9)] == ROOTS
    assert EMPTY_ROOT.hex() == ROOTS[0]


def test_the_proofs_are_the_published_ones() -> None:
    hashes = [leaf_hash(entry) for entry in ENTRIES]
    path = subtree_roots(hashes, inclusion_ranges(5, 8))
    assert [one.hex() for one in path] == PATH_OF_LEAF_5
    proof = subtree_roots(hashes, consistency_ranges(6, 8))
    assert [one.hex() for one in proof] == FROM_6_TO_8


@given(SIZES, st.data())
def test_every_proof_is_that_of_the_definition_and_holds(size: int, data: st.DataObject) -> None:
    hashes = leaves(size)
    root = root_of(hashes)
    assert root == naive_root(hashes)
    index = data.draw(st.integers(min_value=0, max_value=size - 1))
    path = subtree_roots(iter(hashes), inclusion_ranges(index, size))
    assert path == naive_path(index, hashes)
    assert root_of_inclusion(hashes[index], index, size, path) == root
    old = index + 1
    proof = subtree_roots(iter(hashes), consistency_ranges(old, size))
    assert proof == naive_proof(old, hashes)
    assert is_consistent(old, root_of(hashes[:old]), size, root, proof)


@given(SIZES, st.data())
def test_a_proof_holds_for_its_leaf_place_and_length_alone(size: int, data: st.DataObject) -> None:
    hashes, root = leaves(size), naive_root(leaves(size))
    index = data.draw(st.integers(min_value=0, max_value=size - 1))
    other = data.draw(st.integers(min_value=-1, max_value=size + 1).filter(lambda n: n != index))
    path = naive_path(index, hashes)
    assert root_of_inclusion(leaf_hash(b"other"), index, size, path) != root
    assert root_of_inclusion(hashes[index], other, size, path) != root
    assert root_of_inclusion(hashes[index], index, size, [*path, EMPTY_ROOT]) != root
    for place in range(len(path)):
        assert root_of_inclusion(hashes[index], index, size, path[:place]) != root
        spoilt = [*path[:place], leaf_hash(path[place]), *path[place + 1 :]]
        assert root_of_inclusion(hashes[index], index, size, spoilt) != root


@given(SIZES, st.data())
def test_no_proof_leads_to_a_tree_with_another_past(size: int, data: st.DataObject) -> None:
    old = data.draw(st.integers(min_value=1, max_value=size))
    changed = data.draw(st.integers(min_value=0, max_value=old - 1))
    hashes = leaves(size)
    forked = [*hashes[:changed], leaf_hash(b"other"), *hashes[changed + 1 :]]
    before = naive_root(hashes[:old])
    for tree in (hashes, forked):
        proof = naive_proof(old, tree)
        holds = is_consistent(old, before, size, naive_root(tree), proof)
        assert holds is (tree is hashes)
    for proof in (naive_proof(old, hashes)[:-1], [*naive_proof(old, hashes), EMPTY_ROOT]):
        if proof != naive_proof(old, hashes):
            assert not is_consistent(old, before, size, naive_root(hashes), proof)


def test_every_tree_extends_the_empty_one_and_no_tree_a_larger_one() -> None:
    root = naive_root(leaves(3))
    assert is_consistent(0, EMPTY_ROOT, 3, root, [])
    assert is_consistent(0, EMPTY_ROOT, 0, EMPTY_ROOT, [])
    assert not is_consistent(0, root, 3, root, [])
    assert not is_consistent(0, EMPTY_ROOT, 3, root, [root])
    assert not is_consistent(4, naive_root(leaves(4)), 3, root, [root])
    assert not is_consistent(-1, root, 3, root, [root])


@pytest.mark.parametrize(("index", "size"), [(0, 0), (3, 3), (-1, 3)])
def test_a_leaf_that_is_not_there_has_no_proof(index: int, size: int) -> None:
    with pytest.raises(ValueError, match="no leaf"):
        inclusion_ranges(index, size)
    assert root_of_inclusion(EMPTY_ROOT, index, size, []) is None


@pytest.mark.parametrize(("old", "size"), [(0, 3), (4, 3), (-1, 3)])
def test_a_size_that_was_not_before_has_no_proof(old: int, size: int) -> None:
    with pytest.raises(ValueError, match="no consistency proof"):
        consistency_ranges(old, size)


def test_leaves_that_end_too_early_are_noticed() -> None:
    with pytest.raises(ValueError, match="fewer than 8 leaves"):
        subtree_roots(leaves(7), inclusion_ranges(0, 8))


def test_a_large_tree_keeps_a_hash_for_each_bit_of_its_size() -> None:
    frontier = Frontier()
    for number in range(1, 5000):
        frontier.append(EMPTY_ROOT)
        kept = next(len(one) for one in vars(frontier).values() if isinstance(one, list))
        assert kept == number.bit_count()
