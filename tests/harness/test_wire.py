"""Where bytes become envelopes: strict JSON, each key once, within the limit, and nothing else."""

import json
from typing import Any

import orjson
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from critic import Proposal
from evals.canonical_json import canonical_bytes
from harness.wire import (
    MAX_DOCUMENT_BYTES,
    InvalidInput,
    build,
    parse,
    parse_finite_json,
    parse_json,
    verify_bytes,
)
from tests.support import json_values
from tests.support.effort import examples
from tests.support.examples import PLAN_B, good_proposal, is_safe, proposal_of
from tests.support.judging import judge_proposal
from tests.support.patience import PATIENT

LAW = settings(PATIENT, max_examples=examples(400))


def refused(data: bytes, **limits: int) -> InvalidInput:
    with pytest.raises(InvalidInput) as caught:
        parse_json(data, **limits)
    return caught.value


# --- duplicate keys ---------------------------------------------------------------------------

# Objects are lists of pairs here, so that a key may appear in one twice.
few_keys = st.sampled_from(["a", "b", ":", "a:b", '"', "\\", "\u00e9", "\U0001f600", "", "\t"])
texts = st.text(st.sampled_from('ab:":,{}\\/ \u00e9\n'), max_size=6)
leaves = st.none() | st.booleans() | st.integers(-9, 10**25) | texts
loose = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda items: ("array", items))
        | st.lists(st.tuples(few_keys, inner), max_size=4).map(lambda pairs: ("object", pairs))
    ),
    max_leaves=10,
)
spaces = st.text(st.sampled_from(" \t\r\n"), max_size=2)


@st.composite
def documents(draw: st.DrawFn) -> str:
    """JSON text in any spelling, with duplicate keys or without."""

    def text(value: str) -> str:
        spelled = json.dumps(value, ensure_ascii=draw(st.booleans()))
        if not draw(st.integers(0, 3)):
            spelled = '"' + "".join(f"\\u{unit:04x}" for unit in utf16(value)) + '"'
        return spelled.replace("/", draw(st.sampled_from(["/", "\\/"])))

    def written(value: Any) -> str:
        gap = draw(spaces)
        match value:
            case ("array", items):
                body = ",".join(gap + written(item) + gap for item in items)
                return f"[{gap}{body}]"
            case ("object", pairs):
                body = ",".join(f"{gap}{text(key)}{gap}:{written(item)}" for key, item in pairs)
                return "{" + gap + body + "}"
            case str():
                return text(value)
            case _:
                return json.dumps(value)

    return draw(spaces) + written(draw(loose)) + draw(spaces)


def utf16(text: str) -> list[int]:
    data = text.encode("utf-16-be")
    return [int.from_bytes(data[place : place + 2], "big") for place in range(0, len(data), 2)]


class Twice(Exception):
    """A key appears in an object twice."""


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) < len(pairs):
        raise Twice
    return dict(pairs)


def repeated(text: str) -> set[str]:
    """Return the place of each key that appears twice in one object."""
    found: set[str] = set()

    def walk(value: Any, place: str) -> None:
        if isinstance(value, dict):
            for key, inner in value["members"]:
                at = place + "/" + key.replace("~", "~0").replace("/", "~1")
                if [one for one, _ in value["members"]].count(key) > 1:
                    found.add(at)
                walk(inner, at)
        elif isinstance(value, list):
            for index, inner in enumerate(value):
                walk(inner, f"{place}/{index}")

    walk(json.loads(text, object_pairs_hook=lambda pairs: {"members": pairs}), "")
    return found


@LAW
@given(documents())
@example('{"a":"::","a":"::"}')
@example('{"a":{"b":":"},"a":":"}')
@example('{":":1,"a":{"x:y":2,"x:y":3}}')
@example('{"a":1,"\\u0061":2}')
@example('{"a":9999999999999999999999999,"a":1}')
def test_a_document_is_refused_exactly_if_a_key_appears_twice(text: str) -> None:
    try:
        value = json.loads(text, object_pairs_hook=unique)
    except Twice:
        error = refused(text.encode())
        assert error.path in repeated(text)
        assert "uplicate key" in error.message
        assert is_safe(str(error))
    else:
        assert parse_json(text.encode()) == value


@LAW
@given(json_values.values, st.booleans(), st.sampled_from([None, 2]))
def test_every_spelling_of_a_value_is_read(
    value: Any, ascii_only: bool, indent: int | None
) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    read = parse_json(text.encode())
    assert read == value
    assert orjson.dumps(read) == orjson.dumps(value)


@pytest.mark.parametrize("key", ['"a"', '"\\u0061"', '"\\u0061\\u0000"'])
@pytest.mark.parametrize("wrap", ["%s", "[%s]", '{"x":[{"y":%s}]}', '[{"z":":"},%s]'])
def test_a_key_that_appears_twice_at_any_depth_is_refused(key: str, wrap: str) -> None:
    other = '"a\\u0000"' if "0000" in key else '"a"'
    assert parse_json((wrap % f"{{{key}:1}}").encode())
    error = refused((wrap % f'{{{other}:1,"b":2,{key}:1}}').encode())
    assert "uplicate key" in error.message


# --- what is not strict JSON -----------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        *(b"{} x", b"{}{}", b"{}\n{}", b"1 2", b"[1] ]", b"{},", b"nullx", b"{}\x00", b"\x00{}"),
        *(b"{", b"[1,2", b'"abc', b'{"a"', b'{"a":', b"tru", b"-", b"1.", b"1e", b".5", b"+1"),
        *(b"[1,]", b'{"a":1,}', b"[,1]", b"{,}", b"[1 2]", b'{"a" 1}', b"{a:1}", b"{'a':1}"),
        *(b"01", b"-01", b"1_000", b"0x1f", b"1e400x", b"True", b"None", b"undefined"),
        *(b"NaN", b"Infinity", b"-Infinity", b'{"a":NaN}', b"[-Infinity]", b"nan", b"-NaN"),
        *(b'"\x01"', b'"\n"', b'"\x00"', b'"\\x41"', b'"\\u12"', b'"\\"', b"// c\n1", b"/**/1"),
        *(b'"\xff"', b'"\xc0\xaf"', b'"\xed\xa0\x80"', b'"\xf5\x80\x80\x80"', b'{"\xff":1}'),
        *(b'"\\ud800"', b'"\\udc00"', b'"\\udc00\\ud800"', b'"\\ud800x"', b'{"\\ud83d":1}'),
        *(b"\xff\xfe{\x00}\x00", b"\xfe\xff\x00{\x00}", b"\x0b1", b"\xc2\xa01", b"\x1b[2J"),
        *(b"1" * 5000, b"[" * 500 + b"]" * 500, b"[" * 10**6, b'{"a":' * 10**5, b"[{" * 300),
    ],
    ids=lambda data: repr(data[:24]),
)
def test_what_is_not_strict_json(data: bytes) -> None:
    error = refused(data)
    assert error.path == ""
    assert error.message.startswith("not strict JSON: ")
    assert is_safe(str(error))
    assert str(error) == f"the document: {error.message}"


@pytest.mark.parametrize("data", [b"", b" ", b"\n", b" \t\r\n "])
def test_an_empty_document_is_refused(data: bytes) -> None:
    assert refused(data).message == "empty: expected one JSON document"


@pytest.mark.parametrize("given", ["{}", {"a": 1}, None])
def test_what_is_no_bytes_is_said_with_what_to_call(given: Any) -> None:
    kind = type(given).__name__
    with pytest.raises(TypeError, match=rf"bytes, and this is of type {kind}: .*text.encode\(\)"):
        parse(Proposal, given)


def test_a_byte_order_mark_is_refused() -> None:
    error = refused(b"\xef\xbb\xbf{}")
    assert error.message == "starts with a byte-order mark: save it as UTF-8 without one"


@pytest.mark.parametrize("data", [b" \xef\xbb\xbf{}", b"{}\xef\xbb\xbf", b'{\xef\xbb\xbf"a":1}'])
def test_a_byte_order_mark_elsewhere_is_not_strict_json(data: bytes) -> None:
    assert refused(data).message.startswith("not strict JSON: ")


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b"null", None),
        (b" 1 ", 1),
        (b"-0", 0),
        (b"-0.0", -0.0),
        (b"1E2", 100.0),
        (b"5e-324", 5e-324),
        (b"9007199254740993", 9007199254740993),
        (b'"\\ud83d\\ude00\\/\\b"', "\U0001f600/\b"),
        (b'"\xef\xbb\xbf"', "\ufeff"),
        (b'{"":{"":[]}}', {"": {"": []}}),
        (b'{"e\xcc\x81":1,"\xc3\xa9":2}', {"e\u0301": 1, "\u00e9": 2}),
    ],
)
def test_what_is_strict_json(data: bytes, value: Any) -> None:
    read = parse_json(data)
    assert (type(read), read) == (type(value), value)


def test_a_document_over_the_limit_is_refused_unread() -> None:
    assert parse_json(b"[1]", max_bytes=3) == [1]
    assert refused(b"[1] ", max_bytes=3).message == "4 bytes is over the limit of 3 bytes"
    # By size, not by what is in it.
    assert refused(b"\xff" * 9, max_bytes=8).message == "9 bytes is over the limit of 8 bytes"


def test_the_limit_is_32_mib_unless_told_otherwise() -> None:
    assert MAX_DOCUMENT_BYTES == 32 * 1024 * 1024
    padded = b" " * (MAX_DOCUMENT_BYTES - 2) + b"{}"
    assert parse_json(padded) == {}
    error = refused(padded + b" ")
    assert error.message == "33554433 bytes is over the limit of 33554432 bytes"


@pytest.mark.parametrize("number", ["1e400", "-1e400", "1e999999999", "9" * 400 + ".5"])
@pytest.mark.parametrize(("around", "place"), [("%s", ""), ('{"a/b": [1, %s]}', "/a~1b/1")])
def test_a_number_beyond_all_floats_is_in_no_value_that_is_shown(
    number: str, around: str, place: str
) -> None:
    with pytest.raises(InvalidInput, match="not strict JSON: a number is beyond") as caught:
        parse_finite_json((around % number).encode())
    assert caught.value.path == place
    assert parse_finite_json((around % "1e308").encode()) == json.loads(around % "1e308")


@pytest.mark.parametrize("number", ["1e400", "-1e400", "1e999999999"])
def test_a_number_beyond_all_floats_is_in_no_envelope(number: str) -> None:
    wire = json.dumps(good_proposal()).replace("24500", number)
    assert number in wire
    with pytest.raises(InvalidInput) as caught:
        parse(Proposal, wire.encode())
    assert caught.value.message.startswith("a number is not finite")


# --- the shortest way -------------------------------------------------------------------------


def test_bytes_in_and_bytes_out() -> None:
    proposal = proposal_of(good_proposal())
    plan = canonical_bytes(proposal.plan)
    verdict = verify_bytes(proposal.ctx, proposal.compiled, proposal.spec, plan)
    assert orjson.loads(verdict) == judge_proposal(proposal).wire()
    with pytest.raises(InvalidInput):
        verify_bytes(proposal.ctx, proposal.compiled, proposal.spec, plan + b"x")


def test_parse_is_parse_json_and_build() -> None:
    data = PLAN_B.read_bytes()
    assert (
        parse(Proposal, data) == build(Proposal, parse_json(data)) == proposal_of(good_proposal())
    )
    with pytest.raises(InvalidInput, match="over the limit of 10 bytes"):
        parse(Proposal, data, max_bytes=10)
