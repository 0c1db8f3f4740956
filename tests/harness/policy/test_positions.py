"""Lines of keys: the walk finds exactly what the readers of TOML and JSON find, where it stands."""

import json
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.escaping import pointer
from harness.policy import parse_policy, positions
from harness.policy.positions import MAX_LEVELS, json_lines, line_of, toml_lines
from tests.support.paths import FIXTURES
from tests.support.patience import PATIENT

TEXT = """\
# comment "with' quotes [ {
top = "a # b"   # a comment
"quoted.key" = 'c:\\'
dotted.deep . er = 1
long = \"\"\"
  [not.a.table]
  x = "1" \"\"\"\"\"
raw = '''
]] ''''
when = 1979-05-27 07:32:00Z
list = [ 1, # one
  [ 2, 3 ], { a.b = 1, "c" = [ { d = 4 } ] },
]
[table.sub]
key = 1
[[tool]]
name = "a"
[tool.args_schema]
type = "object"
[tool.args_schema.properties]
x = { type = "string" }
[[tool]]
name = "b"
[[tool.follows]]
adapter_id = "p"
  [[ tool . follows ]]
adapter_id = "q"
"e\\u00e9\\U0001F600" = 1
"""


def places(value: Any, *path: str | int) -> Iterator[str]:
    if path:
        yield pointer(*path)
    inner = value.items() if isinstance(value, dict) else ()
    for key, item in enumerate(value) if isinstance(value, list) else inner:
        yield from places(item, *path, key)


def test_every_place_of_a_toml_text_has_a_line() -> None:
    lines = toml_lines(TEXT)
    assert set(lines) == set(places(tomllib.loads(TEXT)))
    found = TEXT.split("\n")
    for path, words in {
        "/quoted.key": '"quoted.key"',
        "/dotted/deep/er": "dotted.deep . er",
        "/raw": "raw",
        "/list/1/1": "[ 2, 3 ]",
        "/list/2/c/0/d": "d = 4",
        "/table/sub/key": "key = 1",
        "/tool/0/args_schema/properties/x/type": "x = {",
        "/tool/1": "[[tool]]",
        "/tool/1/follows/1/adapter_id": '"q"',
    }.items():
        assert words in found[lines[path] - 1], path
    assert lines["/tool/1"] == 22
    assert line_of(lines, "/tool/1/follows/1/capability_id") == 26
    assert line_of(lines, "/nothing/at/all") == 1


SCALARS = st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False)
TREES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@PATIENT
@given(TREES, st.sampled_from([None, 0, 2]), st.booleans())
def test_every_place_of_a_json_text_has_a_line(value: Any, indent: Any, ascii_only: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    lines = json_lines(text)
    assert set(lines) == set(places(value))
    assert all(1 <= line <= text.count("\n") + 1 for line in lines.values())


def spelled(value: Any) -> str:
    """Spell a value as inline TOML."""
    if isinstance(value, dict):
        members = (f"{spelled(key)} = {spelled(item)}" for key, item in value.items())
        return f"{{ {', '.join(members)} }}"
    if isinstance(value, list):
        return f"[\n# ]\n{''.join(spelled(item) + ',  # }' + chr(10) for item in value)}]"
    if isinstance(value, str) and "'" not in value and value.isprintable():
        return f"'{value}'"
    return json.dumps(value).replace("\x7f", "\\u007f")


KEYS = st.text(st.characters(codec="utf-8"), max_size=4)
TABLES = st.dictionaries(
    KEYS,
    st.recursive(
        st.booleans() | st.integers(-9, 9) | KEYS,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
        max_leaves=12,
    ),
    max_size=5,
)


@PATIENT
@given(TABLES)
def test_every_place_of_a_drawn_toml_text_has_a_line(value: dict[str, Any]) -> None:
    def ascii_text(inner: Any) -> Any:
        if isinstance(inner, dict):
            return {ascii_text(key): ascii_text(item) for key, item in inner.items()}
        if isinstance(inner, list):
            return [ascii_text(item) for item in inner]
        return ascii(inner) if isinstance(inner, str) else inner

    plain = ascii_text(value)
    text = "\n".join(f"{spelled(key)} = {spelled(item)}" for key, item in plain.items())
    assert tomllib.loads(text) == plain
    assert set(toml_lines(text)) == set(places(plain))


@pytest.mark.parametrize("depth", [MAX_LEVELS - 1, MAX_LEVELS + 1, 150])
def test_what_is_nested_too_deeply_is_passed_over(depth: int) -> None:
    text = "[" * depth + ' "]" ' + "]" * depth
    assert len(json_lines(text)) == min(depth, MAX_LEVELS)
    assert toml_lines(f"a = {text}\nb = 1")["/b"] == 2


def policy_toml() -> str:
    return (FIXTURES / "refund" / "critic.toml").read_text()


def test_no_place_is_looked_for_until_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: the lines are found while a policy without mistakes is read."""
    walks = []

    def counted(text: str) -> dict[str, int]:
        walks.append(text)
        return toml_lines(text)

    monkeypatch.setattr(positions, "toml_lines", counted)
    text = policy_toml()
    document = parse_policy(text.encode())
    assert not walks
    assert document.line_of("/spec") == text[: text.index("[spec]")].count("\n") + 1
    assert walks == [text]
