"""Guesses in a policy: comments in TOML, places in JSON, refused where a guard is strict."""

import json
import re
import tomllib
from typing import Any

import pytest

from harness.guard import Guard, UnknownTool
from harness.policy import InvalidPolicy, Policy, parse_policy
from harness.policy.positions import toml_marks
from tests.harness.policy.policies import GOOD, good

MARKED = """
[guard]
safety_mode = "destructive"    # guessed: anything

[spec]           # TODO
id = "s"                       #guessed
required_outputs = [
  "a",                         # guessed: of a list
  "b"                          # TODO: the last one
]

# guessed: on a line of its own, which marks nothing
[[tool]]
adapter_id = "a"
capability_id = "t"            # Guessed: in any case
approval_mode = "read_only"    # not guessed
arg_roles."/a~1b" = "locator"  # todo later
arg_roles.c = "locator"        # guessedly
result = { author = "public" } # guessed: of a table
[tool.args_schema]
type = "object"                # TODOs
title = "# guessed: in a text"
"""

PLACES = {
    "/guard/safety_mode": False,
    "/spec": True,
    "/spec/id": False,
    "/spec/required_outputs/0": False,
    "/spec/required_outputs/1": True,
    "/tool/0/capability_id": False,
    "/tool/0/arg_roles/~1a~01b": True,
    "/tool/0/result": False,
}


def test_a_mark_is_a_comment_behind_a_value() -> None:
    tomllib.loads(MARKED)
    assert toml_marks(MARKED) == PLACES


def test_a_document_tells_guesses_from_what_is_open() -> None:
    document = parse_policy(MARKED.encode())
    assert set(document.policy.guessed or ()) == set(PLACES)
    assert document.open_places == {place for place, is_open in PLACES.items() if is_open}


def test_to_delete_the_comments_confirms_and_changes_no_decision() -> None:
    confirmed = parse_policy(re.sub(r"#[^\n\"]*\n", "\n", MARKED).encode()).policy
    guessed = parse_policy(MARKED.encode()).policy
    assert confirmed.guessed is None
    assert guessed.digest() == confirmed.digest()
    assert guessed != confirmed


def test_json_keeps_the_places() -> None:
    wire = {**good(), "guessed": ["/tool/0/approval_mode"]}
    document = parse_policy(json.dumps(wire).encode())
    assert document.policy.guessed == ("/tool/0/approval_mode",)
    assert document.open_places == frozenset()
    assert document.policy.wire()["guessed"] == ["/tool/0/approval_mode"]


@pytest.mark.parametrize(
    "given", ['"/tool"', '["tool"]', "[1]", "{}", '["/tool/1"]', '["/spec/x"]']
)
def test_what_is_no_list_of_places_is_a_fault(given: str) -> None:
    with pytest.raises(InvalidPolicy) as caught:
        parse_policy(f"guessed = {given}\n{MARKED}".encode())
    assert caught.value.faults[0].path.startswith("/guessed")


def test_a_list_of_places_is_added_to() -> None:
    places = parse_policy(f'guessed = ["/spec", "/tool"]\n{MARKED}'.encode()).policy.guessed
    assert places is not None
    assert sorted(places) == sorted({*PLACES, "/tool"})


def test_a_strict_guard_takes_no_guess() -> None:
    with pytest.raises(ValueError, match=r"8 guesses .* the first at /guard/safety_mode"):
        Guard(parse_policy(MARKED.encode()).policy, strict=True)
    Guard(parse_policy(MARKED.encode()).policy)
    Guard(parse_policy(GOOD.encode()).policy, strict=True)


def test_tools_that_no_policy_knows_are_named_with_the_nearest() -> None:
    guard = Guard(parse_policy(GOOD.encode()).policy)
    names = [*parse_policy(GOOD.encode()).policy.tools]
    guard.check_tools(names)
    guard.check_tools([])
    with pytest.raises(UnknownTool) as caught:
        guard.check_tools([*names, f"{names[0]}x", "\x1b", "\x1b"])
    with pytest.raises(UnknownTool, match=names[0].upper()):
        guard.check_tools([names[0].upper(), names[0]])
    assert str(caught.value) == (
        f"the policy has no tool {names[0]}x (did you mean {names[0]}?), \\u001b: add it, or take "
        "it from the agent"
    )


def test_a_policy_with_guesses_has_the_digest_of_all_else_in_it() -> None:
    """A session that goes on is told from one under another policy by the digest alone."""
    wire = {**good(), "guessed": ["/guard"], "accept": [{"finding": "x", "reason": "y"}]}
    wire["evidence"] = [{"id": "terms", "classification": "terms"}]
    plain = {name: value for name, value in wire.items() if name not in ("guessed", "accept")}
    whole = policy_of(wire).digest()
    assert whole == policy_of(plain).digest()
    others = [
        {**wire, "evidence": []},
        {**wire, "tool": wire["tool"][:-1]},
        {**wire, "spec": {**wire["spec"], "id": "other"}},
        {**wire, "guard": {**wire["guard"], "safety_mode": "read_only"}},
        {**wire, "class": [{"name": "other"}]},
    ]
    assert len({whole, *(policy_of(one).digest() for one in others)}) == 6


@pytest.mark.parametrize(
    ("own", "fresh", "least"), [(5, 9, 5), (9, 5, 5), (None, 5, 5), (5, None, 5)]
)
def test_results_are_fresh_as_long_as_tool_and_class_both_say(
    own: int | None, fresh: int | None, least: int
) -> None:
    tool: dict[str, Any] = {"adapter_id": "a", "capability_id": "t", "yields": "c"}
    tool["approval_mode"] = "read_only"
    other = {**tool, "capability_id": "u", "yields": "d", "expires_after_s": 99}
    tool |= {} if own is None else {"expires_after_s": own}
    kept: dict[str, Any] = {"name": "c", **({} if fresh is None else {"fresh_s": fresh})}
    wire = {"guard": {"safety_mode": "network"}, "spec": {"id": "s", "required_outputs": []}}
    made = policy_of({**wire, "tool": [tool, other], "class": [kept, {"name": "d"}]})
    assert made.expiries() == {("a", "t"): least, ("a", "u"): 99}


def policy_of(wire: Any) -> Policy:
    return parse_policy(json.dumps(wire).encode(), syntax="json").policy
