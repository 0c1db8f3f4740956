"""Reading a policy: all of it, or every mistake with its line and what to write instead."""

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from critic import Plan, ToolCapability, Verified, verify
from evals.envelope import Envelope
from harness.policy import (
    InvalidPolicy,
    Policy,
    PolicyFault,
    PolicyTool,
    parse_policy,
    read_document,
    read_policy,
)
from harness.policy.faults import TABLES
from harness.policy.policy_reading import syntax_of
from harness.wire import MAX_DOCUMENT_BYTES, InvalidInput, build
from tests.harness.policy.policies import GOOD, document, good, plain
from tests.support.examples import HOSTILE, is_safe
from tests.support.patience import PATIENT

Parts = tuple[str, ...]


def faults(text: str | bytes, **options: Any) -> tuple[PolicyFault, ...]:
    data = text if isinstance(text, bytes) else text.encode()
    with pytest.raises(InvalidPolicy) as caught:
        parse_policy(data, **options)
    assert is_safe(str(caught.value))
    assert all(is_safe(fault.message) for fault in caught.value.faults)
    return caught.value.faults


def line_with(text: str, words: str, nth: int = 1) -> int:
    return [n for n, line in enumerate(text.split("\n"), 1) if words in line][nth - 1]


# --- a policy that is one ---------------------------------------------------------------------


def test_toml_and_json_of_one_shape_are_one_policy() -> None:
    from_toml = parse_policy(GOOD.encode())
    from_json = parse_policy(json.dumps(good(), indent=2).encode())
    assert from_toml.policy == from_json.policy
    assert from_toml.policy.digest() == from_json.policy.digest()
    assert from_toml.line_of("/tool/1/arg_roles/memo") == line_with(GOOD, 'memo = "content"')
    assert from_toml.line_of("/tool/1/min_tokens") == line_with(GOOD, "[[tool]]", 2)


def test_the_parts_are_what_verify_takes() -> None:
    policy = document(plain()).policy
    compiled, ctx = policy.compiled(), policy.context("t1", "2026-05-09T10:00:00Z")
    assert [type(tool) for tool in compiled.manifests.tool_manifest] == [ToolCapability] * 2
    assert compiled.manifests.record_fields == ("sender", "recipient", "date", "id")
    assert [item.id for item in compiled.manifests.evidence_manifest] == ["rates"]
    assert compiled.pack_version == policy.digest()
    assert (ctx.safety_mode, ctx.run_budget) == ("destructive", policy.guard.budget)
    reading = {"kind": "tool", "adapter_id": "files", "capability_id": "read_file", "args": {}}
    spec = policy.spec.model_copy(update={"required_outputs": []})
    plan = build(Plan, {"steps": [reading], "declared_outputs": []})
    assert isinstance(verify(ctx, compiled, spec, plan), Verified)


def test_the_names_are_those_that_agents_use() -> None:
    policy = parse_policy(GOOD.encode()).policy
    assert list(policy.tools) == ["read_file", "pay"]
    assert policy.tools["pay"].result_class == "payment_receipt"
    plain = PolicyTool(adapter_id="a", capability_id="b", approval_mode="network")
    assert (plain.called, plain.result_class) == ("b", "result:a.b")
    long = plain.model_copy(update={"capability_id": "b" * 120})
    assert long.result_class is None
    assert long.model_copy(update={"yields": "c"}).result_class == "c"
    tools = policy.compiled(names=["pay"]).manifests.tools
    assert list(tools) == [("bank", "send_money")]


def test_a_policy_is_read_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "critic.toml").write_text(GOOD)
    (tmp_path / "critic.json").write_text(json.dumps(good()))
    policy = read_policy(tmp_path / "critic.toml")
    assert read_policy(str(tmp_path / "critic.json")) == policy
    assert read_document(tmp_path / "critic.toml").policy == policy
    with pytest.raises(FileNotFoundError):
        read_policy(tmp_path / "gone.toml")


def test_a_policy_is_frozen_and_its_names_are_its_own() -> None:
    policy = parse_policy(GOOD.encode()).policy
    with pytest.raises(ValueError, match="frozen"):
        policy.guard = policy.guard  # type: ignore[misc]
    for table, twice in (("tool", policy.tool[0]), ("evidence", policy.evidence[0])):
        with pytest.raises(ValueError, match=r"two .* keep one"):
            policy.model_copy(update={table: [twice, twice]})


# --- every mistake ----------------------------------------------------------------------------

MISTAKES = """\
record_field = ["sender"]
[guard]
safety_mode = "destructiv"
on_refusal = "answr"
max_questions = "3"
[guard.budget]
max_step = 4
[spec]
id = "pay ments"
[[tool]]
name = "send_money"
adapter_id = "bank"
capability_id = "send_money"
approval_mode = "delegated"
yield = "x"
arg_roles = { recipient = "recipent", "/a~2" = "content" }
yields = "pay ment"
expires_after_s = 1.5
bound_together = [["a", "b"]]
requires_evidence = [
  "ok",
  { class = "c", abut = { x = "/y" }, about = { z = "q" } },
  7,
  {},
]
[tool.args_schema.properties]
a = { type = "string" }
b = { type = "strng" }
[tool.bound_args]
a = { form = ["x"], at = ["x/y"] }
q = "class"
[[tool]]
adapter_id = "bank"
capability_id = "send_money"
approval_mode = "delegated"
result = { auther = "public" }
[[tool]]
name = "send_money"
adapter_id = "bank"
capability_id = "send_more"
approval_mode = "delegated"
args_schema = "object"
[[class]]
name = "result:bank.send_more"
[[evidence]]
id = "call/1"
classification = "rate_table"
content = { a = 2026-05-09 }
expires_at = 2026-05-09T10:00:00
[[evidence]]
id = "rates"
classification = "rate_table"
[[evidence]]
id = "rates"
classification = "rate_table"
[[tools]]
"""

EXPECTED = [
    ("record_field =", "/record_field", "did you mean record_fields?"),
    ('"destructiv"', "/guard/safety_mode", "did you mean destructive?"),
    ('"answr"', "/guard/on_refusal", "did you mean answer?"),
    ("max_questions", "/guard/max_questions", "must be an integer"),
    ("max_step", "/guard/budget/max_step", "did you mean max_steps?"),
    ("[spec]", "/spec/required_outputs", "required field is missing: add it"),
    ("pay ments", "/spec/id", "not an identifier"),
    ("yield =", "/tool/0/yield", "did you mean yields?"),
    ("recipent", "/tool/0/arg_roles/recipient", "did you mean recipient?"),
    ("recipent", "/tool/0/arg_roles/~1a~02", "not a JSON pointer"),
    ("pay ment", "/tool/0/yields", "not an identifier"),
    ("1.5", "/tool/0/expires_after_s", "must be an integer"),
    ("bound_together", "/tool/0/bound_together/0/1", "add it to bound_args"),
    ("abut", "/tool/0/requires_evidence/1/abut", "did you mean about?"),
    ("abut", "/tool/0/requires_evidence/1/about/z", "q is not a JSON pointer"),
    ("  7,", "/tool/0/requires_evidence/2", "must be a class, or a Demand"),
    ("  {}", "/tool/0/requires_evidence/3/class", "required field is missing"),
    ("strng", "/tool/0/args_schema/properties/b/type", "did you mean string?"),
    ("form =", "/tool/0/bound_args/a/form", "did you mean from?"),
    ("form =", "/tool/0/bound_args/a/from", "required field is missing"),
    ("form =", "/tool/0/bound_args/a/at/0", "x/y is not a JSON pointer"),
    ("q = ", "/tool/0/bound_args/q", "must be an array of classes, or a Binding"),
    ("auther", "/tool/1/result/auther", "did you mean author?"),
    ("auther", "/tool/1/result/author", "required field is missing"),
    ('args_schema = "object"', "/tool/2/args_schema", "an object or a boolean"),
    ("result:bank", "/class/0/name", "results that are of no class have result:bank.send_more"),
    ('"call/1"', "/evidence/0/id", "are made by sessions"),
    ("a = 2026", "/evidence/0/content/a", "write it in quotes"),
    ("expires_at", "/evidence/0/expires_at", "not an RFC 3339 time with a zone"),
    ("[[tools]]", "/tools", "did you mean tool?"),
]


def test_every_mistake_is_told_at_once_with_its_line_and_its_fix() -> None:
    found = faults(MISTAKES)
    by_path = {fault.path: fault for fault in found}
    for words, path, message in EXPECTED:
        assert by_path[path].line >= 1
        at = [n for n, line in enumerate(MISTAKES.split("\n"), 1) if words in line]
        assert by_path[path].line in at, (path, by_path[path])
        assert message in by_path[path].message, by_path[path]
    clashes = {
        "/tool/1": "two tools have the ids bank send_money, the other in line 10: keep one",
        "/tool/2": "two tools are called send_money, the other in line 10: give one another name",
        "/evidence/2": "two pieces of evidence have the id rates, the other in line 50: keep one",
    }
    assert {path: by_path[path].message for path in clashes} == clashes
    assert len(found) == len(EXPECTED) + len(clashes) == len(by_path)
    assert list(found) == sorted(found)


def test_an_invalid_policy_is_invalid_input_with_the_first_mistake_first() -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_policy(MISTAKES.encode())
    assert str(caught.value).startswith("/record_field: line 1: unknown key record_field: did")
    assert str(caught.value).endswith(f"(and {len(caught.value.problems) - 1} more)")


NEEDED = '[guard]\nsafety_mode = "network"\n[spec]\nid = "s"\nrequired_outputs = []\n'


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, "empty"),
        ("  \n\n", 1, "empty"),
        ("\ufeff" + GOOD, 1, "byte-order mark"),
        ("a = 1\n\nb = [\n", 3, "not valid TOML"),
        ("a = 1\nb = = 2\nc = 3", 2, "not valid TOML"),
        ("a = 1\nb = 1\na = 2\nc = 1\n", 3, "not valid TOML"),
        ('\na = "\\ud800"', 2, "not valid TOML"),
        (f"a = 1\nb = {'9' * 5000}\n", 2, "too many digits"),
        (f"\na = {'[' * 30_000}{']' * 30_000}", 1, "nested too deeply"),
        (f"\na = {'[' * 200}{']' * 200}", 2, "nested deeper than 80 levels"),
        (f"\n\na{'.a' * 3000} = 1", 3, "a key of over 20 parts"),
        ('{"a": 1,\n "b": 2,\n "a": 3}', 3, "duplicate key"),
        ('{"a": 1,\n "b": nul}', 2, "not strict JSON"),
        ('{"a": "\\ud800"}', 1, "not strict JSON"),
        ('{"a": NaN}', 1, "not strict JSON"),
        (NEEDED + "[tool]\nname = 1", 6, "must be an array: write [[tool]], not [tool]"),
        (NEEDED + "[tool]\n[tool.result]\nx = 1", 6, "must be an array: write [[tool]]"),
        (NEEDED + "[guard.budget]\nmax_steps = nan", 7, "must be an integer"),
        ("guard = 1\nspec = 2\n", 1, "must be an object"),
        (NEEDED + f'[[tool]]\n"{"k" * 900}" = 1', 7, "unknown key"),
        (f"record_fields = '<b>'\n{NEEDED}", 1, r'write ["\u003cb>"]'),
    ],
)
def test_what_is_no_document_is_refused_with_its_line(text: str, line: int, words: str) -> None:
    first = next(fault for fault in faults(text) if words in fault.message)
    assert first.line == line, first


def test_bytes_that_are_not_utf_8_are_refused_with_their_line() -> None:
    (fault,) = faults(b'a = 1\nb = "\xff"\n')
    assert (fault.line, fault.path) == (2, "")
    (fault,) = faults(b"[1]", syntax="json")
    assert "must be an object" in fault.message


def test_a_document_over_the_limit_is_refused_unread() -> None:
    (fault,) = faults(b"\xff" * 101, max_bytes=100)
    assert "over the limit of 100 bytes" in fault.message
    parse_policy(GOOD.encode(), max_bytes=len(GOOD))


def test_hostile_keys_and_values_are_escaped() -> None:
    table = {HOSTILE: HOSTILE, "safety_mode": HOSTILE}
    tool = {"name": HOSTILE, "capability_id": HOSTILE, "arg_roles": {f"/~{HOSTILE}": HOSTILE}}
    text = json.dumps({HOSTILE: 1, "guard": table, "spec": table, "tool": [tool, tool]})
    assert len(faults(text)) > 10


def test_nothing_expires_where_there_is_no_time() -> None:
    assert parse_policy(GOOD.encode(), has_time=True)
    found = faults(GOOD, has_time=False)
    assert [one.line for one in found] == [line_with(GOOD, "expires_after_s", n) for n in (1, 2)]
    assert all("neither an as_of nor a clock" in one.message for one in found)


@PATIENT
@given(st.data())
def test_one_misspelt_key_anywhere_is_found_with_its_line(data: st.DataObject) -> None:
    lines = GOOD.split("\n")
    keyed = [
        n
        for n, line in enumerate(lines)
        if " = " in line and not line.startswith(("to ", "amount ", "memo ", "type", "required ="))
        if line.split(" ")[0] != "additionalProperties"
    ]
    at = data.draw(st.sampled_from(keyed))
    changed = [*lines[:at], f"zz{lines[at]}", *lines[at + 1 :]]
    found = [fault for fault in faults("\n".join(changed)) if "unknown key" in fault.message]
    assert [fault.line for fault in found] == [at + 1]


# --- the table of tables ----------------------------------------------------------------------


def envelopes(annotation: Any, *path: str) -> Iterator[tuple[Parts, type[Envelope]]]:
    """Yield every envelope in an annotation, with the pattern of its place."""
    if isinstance(annotation, type) and issubclass(annotation, Envelope):
        yield path, annotation
        for name, field in annotation.model_fields.items():
            yield from envelopes(field.annotation, *path, field.alias or name)
        return
    origin: Any = getattr(annotation, "__origin__", None)
    many = {tuple: ["*"], dict: ["{*}"]}.get(origin, [])
    for inner in get_args(annotation):
        yield from envelopes(inner, *path, *many)


def test_every_table_of_a_policy_has_its_known_keys() -> None:
    assert set(TABLES) == set(envelopes(Policy))


def test_the_good_text_is_toml() -> None:
    fields = Policy.model_fields.items()
    named = {field.alias or name for name, field in fields} - {"guessed", "shell"}
    assert set(tomllib.loads(GOOD)) == named


NAMES: dict[str, Any] = {
    "critic.toml": "toml",
    "critic.json": "json",
    "CRITIC.TOML": "toml",
    "a.b.Json": "json",
    "json": None,
    "critic.json.bak": None,
    "toml.d/critic": None,
}


@pytest.mark.parametrize("name", NAMES)
def test_the_suffix_of_a_file_tells_its_syntax_in_any_case(name: str) -> None:
    assert syntax_of(name) == NAMES[name]


def outcome_of(read: Any, source: Any, **options: Any) -> Any:
    try:
        return read(source, **options)
    except InvalidPolicy as error:
        return error.faults


def test_a_file_is_read_as_its_text_is(tmp_path: Path) -> None:
    """With the time that its reader has, and up to the same size."""
    timed = GOOD.replace("[[tool]]", "[[tool]]\nexpires_after_s = 9", 1)
    path = tmp_path / "critic.toml"
    for text in (GOOD, timed):
        path.write_text(text)
        for has_time in (True, False):
            told = [
                outcome_of(read_document, path, has_time=has_time),
                outcome_of(parse_policy, text.encode(), has_time=has_time),
            ]
            assert told[0] == told[1]
    large = tmp_path / "critic.json"
    large.write_bytes(json.dumps(good()).encode().ljust(MAX_DOCUMENT_BYTES + 1))
    with pytest.raises(InvalidPolicy, match="over the limit"):
        read_policy(large)


@pytest.mark.parametrize("count", [1, 2, 999, 1000, 1001, 1700])
def test_the_first_fault_says_how_many_more_there_are(count: int) -> None:
    """Also of those that are not kept."""
    error = InvalidPolicy(PolicyFault(line, "/x", "wrong") for line in range(count, 0, -1))
    assert len(error.faults) == min(count, 1000)
    more = "" if count == 1 else f" (and {count - 1} more)"
    assert error.message == f"line 1: wrong{more}"


def test_a_fault_hides_no_other_whose_place_begins_alike() -> None:
    wire = good() | {"spec": {**good()["spec"], "late": "odd", "later": 1}}
    places = {path for _, path, _ in faults(json.dumps(wire))}
    assert {"/spec/late", "/spec/later"} <= places
    many = {**TEN, "name": "tool"}
    tools: list[dict[str, Any]] = [
        {**many, "name": f"t{at}", "capability_id": f"c{at}"} for at in range(11)
    ]
    tools[1]["approval_mode"], tools[10]["approval_mode"] = "odd", "odd"
    tools[1]["args_schem"], tools[10]["args_schem"] = {}, {}
    found = {path for _, path, _ in faults(json.dumps({**good(), "tool": tools}))}
    assert {f"/tool/{at}/{name}" for at in (1, 10) for name in ("approval_mode", "args_schem")} <= (
        found
    )


TEN = {"adapter_id": "a", "capability_id": "x", "approval_mode": "read_only"}


@given(marks=st.lists(st.sampled_from(["", " # guessed: read", " # TODO"]), min_size=3, max_size=3))
def test_a_tier_is_open_where_its_own_mark_says_so(marks: list[str]) -> None:
    head = '[guard]\nsafety_mode = "network"\n[spec]\nid = "s"\nrequired_outputs = []\n'
    tools = "".join(
        f'[[tool]]\nname = "n{at}"\nadapter_id = "a"\ncapability_id = "c{at}"\n'
        f'approval_mode = "read_only"{mark}\n'
        for at, mark in enumerate(marks)
    )
    found = parse_policy((head + tools).encode())
    assert found.open_tiers == {f"n{at}" for at, mark in enumerate(marks) if "TODO" in mark}
