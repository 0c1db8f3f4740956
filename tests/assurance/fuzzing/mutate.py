"""Mutations of documents: of JSON trees, and of raw bytes."""

import json
from collections.abc import Callable
from copy import deepcopy
from random import Random
from typing import Any, Final

import orjson

# What readers have tripped over: edges of numbers, text and depth, and null for everything.
HOSTILE: Final[tuple[Any, ...]] = (
    *(None, None, True, False, 0, -1, 1, 2**53 - 1, 2**53, 2**63, 2**64, -(2**63) - 1, 10**30),
    *(0.0, -0.0, 1.0, 0.5, 1e21, 1e308, 5e-324, float("inf"), float("nan"), -1e400),
    *("", " ", "x", "\x00", "\ud800", "\udfff\ud800", "\u202e", "\ufeff", "\U0010ffff", "e\u0301"),
    *("x" * 129, "x" * 513, "9" * 5000, "<script>", "\n\r\u2028\x1b[31m", "-" * 3000, "a." * 2000),
    *("2026-05-09T10:00:00Z", "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59"),
    *("2026-02-30T00:00:00Z", "tool", "reason", "read_only", "__class__", "$ref", "sha256:"),
    *([], {}, [[]], [{}], [None], {"": None}, {"kind": "tool"}, {"__proto__": {}}, [1, 1.0, True]),
    *(
        {"$ref": "#"},
        {"$ref": "file:///etc/hosts"},
        {"pattern": "(a+)+$"},
        {"pattern": "\\p{L}{999}"},
    ),
    *({"$ref": "https://a.example/b"}, {"type": "integer"}, {"multipleOf": 0}, {"enum": [1, 1.0]}),
    # What rules about evidence and provenance are made of.
    *({"class": "k"}, {"class": "k", "about": {"x": "/a~1b"}, "content_schema": {"const": None}}),
    *({"from": ["k"]}, {"from": [], "at": ["", "/*", "/*/*", "/01"], "optional": True}, [["x"]]),
    *("/", "/a~2", "*", "/x/*", "-", "closed", "open", "ask", "recipient", "secret", "time"),
    *({"author": "public", "standing": "ambient", "web": True}, {"x": "code", "/x/*": "content"}),
    *({"adapter_id": "a", "capability_id": "b"}, {"value": ["x", 7]}, {"id": "s", "turn": 0}),
    *(
        "mia@corp.example",
        "https://corp.example/a",
        "UK12BARC34567890",
        "May 9",
        "['a', \"b\", None]",
    ),
    *("\uff55\uff4b", "a\u0301\U000110ba", "id 7", "\u0130", "x" * 80 + "\n", "0" * 64),
    *({"$dynamicRef": "#x"}, {"allOf": [{"$ref": "#"}]}, {"format": "date-time"}, {"const": None}),
)
TOKENS: Final = (
    *(b"{", b"}", b"[", b"]", b",", b":", b'"', b"null", b"true", b"1e999", b"-", b"0", b"1.0"),
    *(b"\\u0000", b"\\ud800", b"\\u", b"\x00", b"\xff", b"\xef\xbb\xbf", b"\xc3\x28", b"NaN"),
    *(b"Infinity", b"[" * 70, b"[" * 3000, b'{"a":' * 70, b"9" * 400, b" " * 50, b"//", b"'"),
    *(b'"kind":"tool",', b'"ok":1,', b'"args":{},', b"-0", b"0x1", b"1_0", b"\r\n"),
)


def spelled(value: Any) -> bytes:
    """Return the value as JSON, or nearly so (NaN, lone surrogates, huge integers)."""
    try:
        return orjson.dumps(value)
    except (TypeError, ValueError):
        return json.dumps(value).encode()


def _place(random: Random, tree: Any) -> tuple[Any, Any] | None:
    """Return a container somewhere in the tree and one of its keys, or None."""
    found = None
    while isinstance(tree, (dict, list)) and tree:
        key = random.choice(list(tree)) if isinstance(tree, dict) else random.randrange(len(tree))
        found = (tree, key)
        if random.random() < 0.25:
            return found
        tree = tree[key]
    return found


def _part(random: Random, tree: Any) -> Any:
    found = _place(random, tree)
    return tree if found is None else found[0][found[1]]


def _replace(random: Random, parent: Any, key: Any) -> None:
    parent[key] = _hostile(random)


def _hostile(random: Random) -> Any:
    """Return a new hostile value, since later changes may alter it."""
    return deepcopy(random.choice(HOSTILE))


def _remove(_random: Random, parent: Any, key: Any) -> None:
    del parent[key]


def _repeat(random: Random, parent: Any, key: Any) -> None:
    if isinstance(parent, list):
        parent[key:key] = [parent[key]] * random.choice((1, 2, 20))
    else:
        parent[f"{key}_"] = parent[key]


def _rename(random: Random, parent: Any, key: Any) -> None:
    if isinstance(parent, dict):
        name = random.choice(("", key.upper(), f"{key}\x00", "\ud800", "args", "id", "e\u0301"))
        parent[name] = parent.pop(key)
    else:
        parent.reverse()


def _bury(random: Random, parent: Any, key: Any) -> None:
    value = parent[key]
    for level in range(random.choice((1, 2, 61, 62, 63, 64, 65, 70, 150))):
        value = [value] if level % 2 else {"x": value}
    parent[key] = value


def _retype(_random: Random, parent: Any, key: Any) -> None:
    value = parent[key]
    if isinstance(value, bool) or value is None:
        parent[key] = str(value).lower()
    elif isinstance(value, int):
        parent[key] = float(value) if abs(value) < 2**60 else str(value)
    elif isinstance(value, float):
        parent[key] = str(value)
    else:
        parent[key] = [value] if isinstance(value, str) else json.dumps(value)


MUTATIONS: Final[tuple[Callable[[Random, Any, Any], None], ...]] = (
    *(_replace, _replace, _remove, _repeat, _rename, _bury, _retype),
)


def bent(random: Random, document: bytes, donor: bytes) -> bytes:
    """Return the JSON document with one to four parts changed, some to parts of other documents."""
    tree = orjson.loads(document)
    for _ in range(random.choice((1, 1, 1, 2, 2, 4))):
        found = _place(random, tree)
        if found is None:
            return spelled(_hostile(random))
        if random.random() < 0.15:
            found[0][found[1]] = _part(random, orjson.loads(donor))
        else:
            random.choice(MUTATIONS)(random, *found)
    return spelled(tree)


def broken(random: Random, document: bytes, donor: bytes) -> bytes:
    """Return the bytes with some flipped, cut, repeated or inserted."""
    data = bytearray(document)
    for _ in range(random.choice((1, 1, 2, 3, 8))):
        at = random.randrange(len(data) + 1)
        until = at + random.choice((1, 1, 2, 8, 64, 4096))
        how = random.randrange(7)
        if how == 0 and at < len(data):
            data[at] ^= 1 << random.randrange(8)
        elif how == 1:
            data[at:until] = b""
        elif how == 2:
            data[at:at] = random.choice(TOKENS)
        elif how == 3:
            data[at:at] = data[at:until]
        elif how == 4 and random.random() < 0.2:
            del data[at:]
        elif how == 5:
            start = random.randrange(len(donor))
            data[at:until] = donor[start : start + until - at]
        else:
            data[at:until] = random.choice(TOKENS)
    return bytes(data)


def rotten(random: Random, file: bytes) -> bytes:
    """Return a file with bytes changed, mostly in place, so that its pages keep their positions."""
    data = bytearray(file)
    for _ in range(random.choice((1, 1, 2, 5, 40))):
        at = random.choice((random.randrange(len(data)), random.randrange(100)))
        how = random.randrange(6)
        if how == 0:
            data[at] = random.randrange(256)
        elif how == 1:
            data[at] ^= 1 << random.randrange(8)
        elif how == 2:
            page, other = (random.randrange(len(data) // 4096 or 1) * 4096 for _ in range(2))
            data[page : page + 4096] = data[other : other + 4096]
        elif how == 3:
            token = random.choice(TOKENS)[: len(data) - at]
            data[at : at + len(token)] = token
        elif how == 4 and random.random() < 0.15:
            del data[at:]
        else:
            data[at : at + 8] = bytes(len(data[at : at + 8]))
        if len(data) < 100:
            break
    return bytes(data)
