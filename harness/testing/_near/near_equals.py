"""The table of near misses: values that are nearly the one that decides, and are not it.

Each is a mistake that a comparison makes which is not one of whole values: a prefix, a case that
is folded, whitespace that is stripped, a digest without its hash, `True` that equals 1.
"""

from collections.abc import Mapping
from typing import Any, Final

from harness.canonical import canonical_json
from harness.testing._draw.primitives import Json

_LOOKALIKES: Final = str.maketrans("aceiopsxyABCEHKMOPTX", "асеіорѕхуАВСЕНКМОРТХ")
_FULL_WIDTH: Final = str.maketrans({chr(sign): chr(sign + 0xFEE0) for sign in range(0x21, 0x7F)})
_SPACES: Final = {
    "a space after it": " ",
    "a line end after it": "\n",
    "a no-break space after it": "\u00a0",
    "a zero-width space after it": "\u200b",
    "a NUL after it": "\0",
}
_ABSENT: Final[Json] = {"nothing": None, "an empty text": "", "true": True, "0": 0, "a list": []}


def near_texts(exact: str) -> Mapping[str, Any]:
    """Return near misses of a name, each by what it is. None of them is the name."""
    found = {
        **_ABSENT,
        "a prefix": exact[:-1],
        "its first character": exact[:1],
        "a suffix": exact[1:],
        "one character more": exact + exact[-1:],
        "one character before it": exact[:1] + exact,
        "twice": exact * 2,
        "another case": exact.swapcase(),
        "lower case": exact.lower(),
        "upper case": exact.upper(),
        "look-alike letters": exact.translate(_LOOKALIKES),
        "full-width letters": exact.translate(_FULL_WIDTH),
        "a combining mark": f"{exact}\u0301",
        "a space before it": f" {exact}",
        **{what: f"{exact}{sign}" for what, sign in _SPACES.items()},
        "a pattern for it": ".*",
        "a wildcard": "*",
        "a pattern of SQL": "%",
        "a list of it": [exact],
        "underscores for hyphens": exact.replace("-", "_"),
        "hyphens for underscores": exact.replace("_", "-"),
    }
    return {what: value for what, value in found.items() if not _same(value, exact)}


def near_digests(exact: str) -> Mapping[str, Any]:
    """Return near misses of a SHA-256 in hexadecimal: some are of the right form."""
    other = "1" if exact[-1] == "0" else "0"
    first = "1" if exact[0] == "0" else "0"
    return {
        **near_texts(exact),
        "its first eight digits": exact[:8],
        "another last digit": exact[:-1] + other,
        "another first digit": first + exact[1:],
        "its digits backwards": exact[::-1],
        "another hash": f"sha512:{exact}",
        "the hash in another case": f"SHA256:{exact}",
        "the hash twice": f"sha256:sha256:{exact}",
        "zeros": "0" * len(exact),
        "of an empty text": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    }


def near_values(exact: Any) -> Mapping[str, Any]:
    """Return near misses of a JSON value, with those of the values in it, each in its place.

    A whole number as a float is not among them: in canonical JSON it is the same.
    """
    return {what: value for what, value in _values(exact).items() if not _same(value, exact)}


def _values(exact: Any) -> Json:
    found: Json
    match exact:
        case str():
            found = {**near_texts(exact)}
        case bool() | int() | float():
            found = {**_ABSENT, **_numbers(exact)}
        case list():
            found = {**_ABSENT, "empty": [], "one less": exact[:-1], "backwards": exact[::-1]}
            found |= {"one more": [*exact, *exact[-1:]], "in a list": [exact]}
            for place, value in enumerate(exact):
                found |= _within(exact, place, value)
        case dict():
            found = {**_ABSENT, "empty": {}, "one more": {**exact, "and": 0}}
            found |= {"one more that is null": {**exact, "and": None}}
            for name, value in exact.items():
                rest = {other: kept for other, kept in exact.items() if other != name}
                found |= {f"without {name}": rest}
                found |= {f"{name} renamed": {**rest, name.upper(): value}}
                found |= _within(exact, name, value)
        case _:
            found = {**_ABSENT, "the text null": "null"}
    return found


def _within(exact: Any, place: Any, value: Any) -> Json:
    """Return the near misses of one value of an object or a list, in it."""
    found = {}
    for what, near in near_values(value).items():
        altered = exact.copy()
        altered[place] = near
        found[f"at {place}: {what}"] = altered
    return found


def _numbers(exact: float) -> Json:
    return {
        "a text of it": str(exact),
        "the truth of it": bool(exact),
        "one more": exact + 1,
        "a little more": exact + 0.5,
        "its negative": -exact,
        "whole": int(exact),
        "in a list": [exact],
    }


def _same(left: Any, right: Any) -> bool:
    # As bytes: to Python, `True` equals 1.
    return canonical_json(left) == canonical_json(right)
