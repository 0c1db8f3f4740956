"""The published vectors of RFC 8785 and of the ES6 spelling of numbers, byte for byte."""

import struct
from random import Random

import pytest
import rfc8785

from evals.canonical_json import canonical_json
from harness.wire import parse_json

# RFC 8785, appendix B: the bits of a double, and how it is spelled.
APPENDIX_B = [
    ("0000000000000000", "0"),
    ("8000000000000000", "0"),
    ("0000000000000001", "5e-324"),
    ("8000000000000001", "-5e-324"),
    ("7fefffffffffffff", "1.7976931348623157e+308"),
    ("ffefffffffffffff", "-1.7976931348623157e+308"),
    ("4340000000000000", "9007199254740992"),
    ("c340000000000000", "-9007199254740992"),
    ("4430000000000000", "295147905179352830000"),
    ("44b52d02c7e14af5", "9.999999999999997e+22"),
    ("44b52d02c7e14af6", "1e+23"),
    ("44b52d02c7e14af7", "1.0000000000000001e+23"),
    ("444b1ae4d6e2ef4e", "999999999999999700000"),
    ("444b1ae4d6e2ef4f", "999999999999999900000"),
    ("444b1ae4d6e2ef50", "1e+21"),
    ("3eb0c6f7a0b5ed8c", "9.999999999999997e-7"),
    ("3eb0c6f7a0b5ed8d", "0.000001"),
    ("41b3de4355555553", "333333333.3333332"),
    ("41b3de4355555554", "333333333.33333325"),
    ("41b3de4355555555", "333333333.3333333"),
    ("41b3de4355555556", "333333333.3333334"),
    ("41b3de4355555557", "333333333.33333343"),
    ("becbf647612f3696", "-0.0000033333333333333333"),
    ("43143ff3c1cb0959", "1424953923781206.2"),
]

# Section 3.2.2: a document, and its canonical form (given as bytes in section 3.2.4).
SAMPLE = rb"""{
  "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
  "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
  "literals": [null, true, false]
}"""
SAMPLE_BYTES = """
7b 22 6c 69 74 65 72 61 6c 73 22 3a 5b 6e 75 6c 6c 2c 74 72
75 65 2c 66 61 6c 73 65 5d 2c 22 6e 75 6d 62 65 72 73 22 3a
5b 33 33 33 33 33 33 33 33 33 2e 33 33 33 33 33 33 33 2c 31
65 2b 33 30 2c 34 2e 35 2c 30 2e 30 30 32 2c 31 65 2d 32 37
5d 2c 22 73 74 72 69 6e 67 22 3a 22 e2 82 ac 24 5c 75 30 30
30 66 5c 6e 41 27 42 5c 22 5c 5c 5c 5c 5c 22 2f 22 7d
"""

# Section 3.2.3: names in the order of their UTF-16 code units.
SORTING = rb"""{
  "\u20ac": "Euro Sign",
  "\r": "Carriage Return",
  "\ufb33": "Hebrew Letter Dalet With Dagesh",
  "1": "One",
  "\ud83d\ude00": "Emoji: Grinning Face",
  "\u0080": "Control",
  "\u00f6": "Latin Small Letter O With Diaeresis"
}"""
SORTED = [
    "Carriage Return",
    "One",
    "Control",
    "Latin Small Letter O With Diaeresis",
    "Euro Sign",
    "Emoji: Grinning Face",
    "Hebrew Letter Dalet With Dagesh",
]


def double(bits: int) -> float:
    (value,) = struct.unpack(">d", bits.to_bytes(8, "big"))
    return float(value)


@pytest.mark.parametrize(("bits", "spelled"), APPENDIX_B)
def test_numbers_of_appendix_b(bits: str, spelled: str) -> None:
    assert canonical_json(double(int(bits, 16))) == spelled.encode()


@pytest.mark.parametrize("bits", ["7fffffffffffffff", "7ff0000000000000", "fff0000000000000"])
def test_what_is_not_a_number_has_no_canonical_form(bits: str) -> None:
    with pytest.raises(rfc8785.CanonicalizationError):
        canonical_json(double(int(bits, 16)))


def test_the_document_of_section_3_2_2_has_the_published_bytes() -> None:
    assert canonical_json(parse_json(SAMPLE)) == bytes.fromhex(SAMPLE_BYTES)


def test_names_of_section_3_2_3_are_sorted() -> None:
    spelled = canonical_json(parse_json(SORTING))
    assert list(parse_json(spelled).values()) == SORTED
    places = [spelled.index(value.encode()) for value in SORTED]
    assert places == sorted(places)


def es6(value: float) -> str:
    """Return ECMA-262 `Number.prototype.toString`, from the shortest digits that Python finds."""
    if value == 0:
        return "0"
    sign, shown = ("-", repr(-value)) if value < 0 else ("", repr(value))
    mantissa, _, exponent = shown.partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    size = len(digits)
    if size <= point <= 21:
        return sign + digits + "0" * (point - size)
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    rest = f".{digits[1:]}" if size > 1 else ""
    return f"{sign}{digits[0]}{rest}e{'+' if point > 0 else '-'}{abs(point - 1)}"


def sample() -> list[float]:
    """Return doubles of any bits, of everyday size, and near changes of the notation."""
    random = Random(8785)  # noqa: S311 - chance, not a secret
    anything = [double(random.getrandbits(64)) for _ in range(4000)]
    everyday = [random.uniform(-1, 1) * 10 ** random.randint(-9, 23) for _ in range(3000)]
    edges = [double(bits + step) for bits in _EDGES for step in range(-20, 21)]
    return [value for value in anything + everyday + edges if value - value == 0]


_EDGES = [
    int.from_bytes(struct.pack(">d", edge), "big")
    for edge in (
        1e-7,
        1e-6,
        1e-5,
        0.1,
        1.0,
        2.0**53,
        1e20,
        1e21,
        1e22,
        1e23,
        2.2250738585072014e-308,
    )
]


def test_sampled_numbers_are_spelled_as_in_es6() -> None:
    values = sample()
    assert len(values) > 7000
    for value in values:
        spelled = canonical_json(value)
        assert spelled == rfc8785.dumps(value)
        assert spelled == es6(value).encode(), repr(value)
        assert float(spelled) == value
