"""What is read of a stored record: its canonical bytes, whatever way they are found."""

import json
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from harness.canonical import canonical_json
from harness.record import RawRecord, record_hash
from harness.record.integrity import read_text_of
from harness.wire import parse_json

TEXTS = st.text(max_size=6) | st.sampled_from(["a:1.5", "[2e3", ",0.1", "\uffee", "\U0001f600"])
EXACT = 2**53 - 1  # a canonical float above it may be spelled as an integer that JSON does not hold
FLOATS = st.floats(-EXACT, EXACT) | st.sampled_from([1e21, -1e300, 1.5e22])
NUMBERS = st.integers(-EXACT, EXACT) | FLOATS
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
NAMES = st.sampled_from(["hash", "report", "run", "seq"])
RECORDS = st.dictionaries(NAMES, VALUES, min_size=1) | st.dictionaries(NAMES | TEXTS, VALUES)
UNLIKE = {"run": {"\uffee": 1, "\U0001f600": 2}}  # sorted by bytes unlike by UTF-16
SORTED: Any = {"spaces": (",", ":"), "escaped": False, "canonical": True}
SPACES = st.sampled_from([(",", ":"), (", ", ": "), (",\n", ":\t")])


@example(value=UNLIKE, spaces=(",", ":"), escaped=True, canonical=False)
@example(value=UNLIKE, spaces=(",", ":"), escaped=False, canonical=True)
@example(value={"hash": "a", "run": {"hash": "a", "seq": 1}, "seq": 1}, **SORTED)
@example(value={"hash": "a", "run": {"hash": "a"}}, **SORTED)
@example(value={"a": {"hash": "a", "seq": 1}, "hash": "a"}, **SORTED)
@example(value={"a": '"hash":null,', "seq": 1}, **SORTED)
@given(value=RECORDS, spaces=SPACES, escaped=st.booleans(), canonical=st.booleans())
def test_the_bytes_of_a_record_are_compared_with_its_canonical_form(
    value: dict[str, Any], spaces: tuple[str, str], escaped: bool, canonical: bool
) -> None:
    written = json.dumps(value, ensure_ascii=escaped, separators=spaces).encode()
    data = canonical_json(value) if canonical else written
    read, document = parse_json(data), read_text_of(RawRecord(1, "", data))
    assert document.own_hash == record_hash(read)
    assert bool(document.error) == (data != canonical_json(read))
    if "report" in read:
        assert document.report == canonical_json(read["report"])
