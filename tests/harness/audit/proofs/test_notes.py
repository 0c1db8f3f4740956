"""Signed notes: what is read is what would be written, and keys are told apart as C2SP says."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.audit.proofs.notes import (
    ED25519,
    InvalidCheckpoint,
    NoteSignature,
    SignedNote,
    from_base64,
    from_decimal,
    is_key_name,
    key_id,
    read_note,
)

LINES = st.text(st.characters(min_codepoint=0x20, exclude_categories=["Cs"]), max_size=20)
NAMES = st.text(min_size=1, max_size=20).filter(is_key_name)
SIGNATURES = st.builds(
    NoteSignature, NAMES, st.binary(min_size=4, max_size=4), st.binary(min_size=1, max_size=80)
)
EXAMPLE = """\
example.com/behind-the-sofa
20852163
CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=

\u2014 example.com/behind-the-sofa \
Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=
"""


@given(st.lists(LINES, min_size=1, max_size=5), st.lists(SIGNATURES, min_size=1, max_size=4))
def test_a_note_is_read_as_it_was_written(lines: list[str], signed: list[NoteSignature]) -> None:
    note = SignedNote("".join(f"{line}\n" for line in lines), tuple(signed))
    assert read_note(note.note_text().encode(), "note") == note


def test_the_example_of_the_specification_is_read_and_written() -> None:
    note = read_note(EXAMPLE.encode(), "note")
    (signature,) = note.signatures
    assert signature.name == "example.com/behind-the-sofa"
    assert (signature.key_id.hex(), len(signature.signature)) == ("033de0ae", 64)
    assert note.note_text() == EXAMPLE


@pytest.mark.parametrize(
    ("name", "told", "encoded"),
    [
        ("PeterNeumann", "c74f20a3", "ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"),
        ("Test-Betty", "df84580a", "AQQASqPUZoIHcJAF5mBOryctwFdTV1E0GRY4kEAtTzwB"),
        (
            "binarytransparency.log/example",
            "5de0f997",
            "AcPfp2roeTxqSqmPdDkA9rIAd0pe3C5Je6Rze2SqBDUp",
        ),
    ],
)
def test_the_id_of_a_key_is_that_of_published_keys(name: str, told: str, encoded: str) -> None:
    raw = base64.b64decode(encoded)
    assert raw[0] == ED25519
    assert key_id(name, ED25519, raw[1:]).hex() == told


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"text\n",
        b"\xff\n\n",
        b"te\x00xt\n\n",
        b"text\r\n\n",
        EXAMPLE.encode().removesuffix(b"\n"),
        EXAMPLE.encode() + b"\n",
        EXAMPLE.encode() + b"more\n",
        EXAMPLE.replace("\u2014", "-").encode(),
        EXAMPLE.replace("YQ8=", "YQ8").encode(),
        EXAMPLE.replace("sofa Az", "so+fa Az").encode(),
        EXAMPLE.replace("Az3grlgtzPICa5", "A!3grlgtzPICa5").encode(),
        b"text\n\n" + "\u2014 name AAAAAAA=\n".encode() * 101,
    ],
)
def test_what_is_not_a_note_is_refused_in_one_line(data: bytes) -> None:
    with pytest.raises(InvalidCheckpoint) as refused:
        read_note(data, "note")
    assert str(refused.value).startswith("note: ")
    assert str(refused.value).isprintable()


@given(st.binary(max_size=200))
def test_any_bytes_are_a_note_or_are_refused(data: bytes) -> None:
    try:
        note = read_note(data, "note")
    except InvalidCheckpoint:
        return
    assert note.note_text().encode() == data


def test_one_value_has_one_spelling() -> None:
    assert from_decimal("0") == 0
    assert from_decimal("1" * 18) == int("1" * 18)
    for text in ("", "-1", "+1", "01", " 1", "1_0", "\u0661", "1" * 19):
        assert from_decimal(text) is None
    assert from_base64("AAE=") == b"\0\1"
    for text in ("AAE", "AAF=", "AA E=", "AAE=\n", "\u00e9", "-_-_"):
        assert from_base64(text) is None
