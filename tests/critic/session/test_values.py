"""Which values of a call a session keeps, and which it shows."""

from typing import Any

import pytest

from critic import Proposal, ToolCapability
from critic.session.session_values import (
    call_hosts,
    doubts_about,
    files_made,
    judged_values,
    locators_of,
    roles_of,
    values_made,
)
from tests.support.sightings import VALUE, item, proposal, request


def capability(mode: Any, roles: Any = None) -> ToolCapability:
    more = {} if roles is None else {"arg_roles": roles}
    return ToolCapability(adapter_id="a", capability_id="b", approval_mode=mode, **more)


@pytest.mark.parametrize(
    ("mode", "roles", "hosts"),
    [
        ("read_only", None, []),
        ("read_only", {"x": "locator"}, ["x.example"]),
        ("local_write", None, ["x.example", "y.example"]),
        ("network", {"x": "recipient", "y": "object"}, ["x.example"]),
        ("network", {"x": "attribute", "y": "locator"}, ["y.example"]),
        ("network", {"x": "content", "y": "secret"}, []),
    ],
)
def test_a_call_goes_to_the_hosts_of_its_recipients_and_locators(
    mode: Any, roles: Any, hosts: list[str]
) -> None:
    args = {"x": "https://X.example/a", "y": "y.example", "z": 7}
    assert [*call_hosts(roles_of(capability(mode, roles)), args)] == hosts


def test_each_role_of_a_call_serves_for_something() -> None:
    args = {role: f"{role}-1" for role in ("locator", "object", "attribute", "recipient", "code")}
    roles = roles_of(capability("network", {role: role for role in args}))
    assert locators_of(roles, {**args, "locator": ["b", "a", "B/"]}) == ["b", "a"]
    assert sorted(values_made(roles, args)) == ["attribute-1", "object-1"]
    assert locators_of(None, args) == [*values_made(None, args)] == []


@pytest.mark.parametrize(
    ("output", "files"),
    [
        ("saved Plan-2_b.md and x.tar.gz", ["plan-2_b.md", "x.tar"]),
        (
            {"name": "a.md", "of": ["b.markdown", "c.markdown9"]},
            ["a.md", "b.markdown", "c.markdown"],
        ),
        (7.5, ["7.5"]),
        ("no file. None", []),
        (" " * 195 + "ab.md", ["ab.md"]),
        (" " * 196 + "ab.md", ["ab.m"]),
        (" " * 200 + "ab.md", []),
    ],
)
def test_the_file_names_at_the_head_of_what_was_returned_were_made(
    output: Any, files: list[str]
) -> None:
    assert [*files_made(output)] == files


def test_the_values_of_calls_with_effects_are_shown_with_where_they_come_from() -> None:
    roles = {"x": "recipient", "when": "time", "text": "content"}
    reader = {"adapter_id": "shop", "capability_id": "look", "approval_mode": "read_only"}
    args = {"x": ["eta-1", VALUE], "when": "2026-05-09", "text": "ask a@b.example, a@b.example"}
    names = {"kind": "tool", "adapter_id": "shop"}
    steps: list[dict[str, Any]] = [
        {"kind": "reason"},
        {**names, "capability_id": "look", "args": {"x": "theta-2"}},
        {**names, "capability_id": "nothing", "args": {"x": "theta-2"}},
        {**names, "capability_id": "transmit", "args": args},
    ]
    wire = proposal(
        request(f"send it to {VALUE}"),
        item("for eta-1"),
        tool={"arg_roles": roles},
        tools=[{**reader, "arg_roles": {"x": "recipient"}}],
        steps=steps,
    )
    case, _ = doubts_about(Proposal(**wire))
    shown = [
        (one.step, one.path, one.role, one.value, one.seen and one.seen.origin)
        for one in judged_values(case)
    ]
    assert shown == [
        (3, "/text", "content", "a@b.example", "unseen"),
        (3, "/when", "time", "2026-05-09", None),
        (3, "/x/0", "recipient", "eta-1", "untrusted"),
        (3, "/x/1", "recipient", VALUE, "request"),
    ]
