"""No text matches two patterns: proven only where it is so, and where both are simple."""

import re
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.policy.analysis.pattern_sets import never_both
from tests.support.patience import PATIENT

LETTERS = "ab1-"
TEXTS = ["".join(one) for size in range(7) for one in product(LETTERS, repeat=size)]
ATOMS = st.sampled_from(["a", "b", "1", r"\-", "[ab]", "[a-b1]", "[^a]", r"\d", r"[\d-]", "."])
SHORT = st.sampled_from(["", "", "?", "{2}", "{0,2}", "{1,2}"])
PATTERNS = st.lists(st.tuples(ATOMS, SHORT).map("".join), max_size=3).map("".join)


@PATIENT
@given(PATTERNS, PATTERNS)
def test_two_patterns_differ_just_where_no_text_matches_both(one: str, other: str) -> None:
    both = any(re.fullmatch(one, text) and re.fullmatch(other, text) for text in TEXTS)
    assert never_both(f"^{one}$", f"^{other}$") == (not both)


@PATIENT
@given(PATTERNS, PATTERNS, st.sampled_from(["*", "+", "{2,}"]), ATOMS)
def test_a_run_without_end_proves_nothing_that_a_text_refutes(
    one: str, other: str, sign: str, atom: str
) -> None:
    endless = f"{one}{atom}{sign}"
    if any(re.fullmatch(endless, text) and re.fullmatch(other, text) for text in TEXTS):
        assert not never_both(f"^{endless}$", f"^{other}$")
        assert not never_both(f"^{other}$", f"^{endless}$")


@pytest.mark.parametrize(
    ("one", "other", "proven"),
    [
        ("^CL-[0-9]{5}$", "^CLM-[0-9]{5}$", True),
        ("^CL-[0-9]{5}$", "^CL-[0-9]{6}$", True),
        ("^CL-[0-9]+$", "^CL-[0-9]{5}$", False),
        ("^[a-z]+$", "^[A-Z]+$", True),
        ("^[a-z]*$", "^[A-Z]*$", False),
        ("^\u00e4$", r"^\w$", False),
        ("^\u00e4$", "^a$", True),
        # not read, so nothing is proven
        ("^a|b$", "^c$", False),
        ("^(a)$", "^b$", False),
        ("a", "^b$", False),
        ("^a", "b$", False),
        (r"^a\$", "^b$", False),
        (r"^\bа$", "^b$", False),
        ("^[a[b]]$", "^c$", False),
        (r"^[!-\B]$", "^c$", False),
        ("^(?i)a$", "^A$", False),
        ("^[ab]{0,99}[ab]{0,99}x$", "^[ab]{0,99}[ab]{0,99}y$", False),
    ],
)
def test_what_is_not_read_proves_nothing(one: str, other: str, proven: bool) -> None:
    assert never_both(one, other) is proven
    assert never_both(other, one) is proven
