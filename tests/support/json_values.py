"""Hypothesis strategies for JSON values that every reader keeps exact."""

from typing import Any

from hypothesis import strategies as st

SAFE = 2**53 - 1

# The two orders of keys differ here: by code point U+FB33 comes before U+1F600, by UTF-16 after.
ODD_KEYS = (
    "\ufb33",
    "\U0001f600",
    "\ud7ff",
    "\ue000",
    "\U0010ffff",
    "\x7f",
    "\u2028",
    '"',
    "\\",
    "",
)
ODD_FLOATS = (-0.0, 1e21, -1e21, 5e-324, 1.7976931348623157e308, 1e-7, 0.1, 1.0, 2.0**53 - 1)

finite = st.floats(allow_nan=False, allow_infinity=False)
exact = finite.filter(lambda value: not SAFE < abs(value) < 1e21)
numbers = st.integers(-SAFE, SAFE) | st.sampled_from(ODD_FLOATS) | exact
keys = st.sampled_from(ODD_KEYS) | st.text(max_size=8)
scalars: st.SearchStrategy[Any] = st.none() | st.booleans() | numbers | st.text(max_size=12)


def containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4)


values: st.SearchStrategy[Any] = st.recursive(scalars, containers, max_leaves=12)
objects: st.SearchStrategy[dict[str, Any]] = st.dictionaries(keys, values, max_size=4)
