"""Edits in the text of a policy: it reads as the policy that was judged, and all else stays."""

import difflib
import json

import pytest

from harness.policy import parse_policy
from harness.what_if.proposing.policy_edits import PolicyEdit, apply_edits
from harness.what_if.proposing.policy_patch import (
    TaskEdit,
    UnwritableEdit,
    unified_patch,
    write_edits,
)
from tests.harness.what_if.proposing.shop_tasks import POLICY

EDITS = [
    PolicyEdit("scope", "mail"),
    PolicyEdit("fields", "get_order", "email", "party"),
    PolicyEdit("fields", "get_order", "a\n]\nb = 1\n", "party"),
    PolicyEdit("fields", "find_mail", "/*/x\u2028y", "system"),
    PolicyEdit("object", "mail", "to"),
    PolicyEdit("locator", "find_mail", "q"),
    PolicyEdit("makes", "place_order", "/order_id", "order"),
    PolicyEdit("makes", "place_order", "item", "thing mail to"),
    PolicyEdit("follows", "mail", "", "get_order"),
    PolicyEdit("tier", "pay_back", "", "delegated"),
    PolicyEdit("open", "place_order", "", "read_only"),
    PolicyEdit("member", "mail"),
    PolicyEdit("system", "find_mail"),
    PolicyEdit("empty", "mail", "", "to"),
]
SPELLINGS = {
    "as it is": [],
    "a scope over lines": [
        ("[guard]", '[guard]\nscope = [\n  "pay_back",  # money\n  "get_order",\n]')
    ],
    "an empty scope": [("[guard]", "[guard]\nscope = []")],
    "a table of its own": [
        ('result = { author = "public" }\n', '\n[tool.result]\nauthor = "public"\n'),
        (
            'arg_roles = { to = "recipient", body = "content" }',
            '[tool.arg_roles]\nto = "recipient"\nbody = "content"',
        ),
    ],
    "dotted keys": [
        (
            'arg_roles = { to = "recipient", body = "content" }',
            'arg_roles.to = "recipient"\narg_roles.body = "content"',
        ),
        ('fields = { order_id = "system" }  ', 'fields.order_id = "system"  '),
    ],
    "no classes": [
        (
            '[[class]]\nname = "order"\nfields = { order_id = "system" }'
            "           # guessed: by name\n",
            "",
        )
    ],
    "a guard in one line": [
        ('[guard]\nsafety_mode = "destructive"\n', 'guard = { safety_mode = "destructive" }\n')
    ],
}
HOSTILE_IDS = ["t\n[guard]\nshadow = true", 'q"""', "a\x0bb", "t\u2028x", "'''", "\\", "# TODO"]


def spelled(name: str) -> str:
    text = POLICY
    for old, new in SPELLINGS[name]:
        assert old in text
        text = text.replace(old, new, 1)
    return text


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", SPELLINGS)
def test_the_text_reads_as_the_edited_policy(name: str) -> None:
    text = spelled(name)
    policy = parse_policy(text.encode()).policy
    for edit in EDITS:
        written = write_edits(text, [TaskEdit(edit, ("t1",))])
        again = parse_policy(written.encode()).policy
        assert again.digest() == apply_edits(policy, [edit]).digest(), edit
        assert len(again.guessed or ()) > len(policy.guessed or ()) - 1, edit
        assert "# from task t1" in written
        gone = [
            line[2:]
            for line in difflib.ndiff(text.splitlines(), written.splitlines())
            if line.startswith("- ")
        ]
        assert len(gone) <= 2, edit
    every = [TaskEdit(edit, ("t1", "t2")) for edit in EDITS[:2]]
    both = parse_policy(write_edits(text, every).encode()).policy
    assert both.digest() == apply_edits(policy, [one.edit for one in every]).digest()


def test_a_line_of_several_edits_names_the_tasks_of_each() -> None:
    edits = [
        TaskEdit(PolicyEdit("scope", "mail"), ("t1", "t2")),
        TaskEdit(PolicyEdit("scope", "pay_back"), ("t2", "t3")),
    ]
    written = write_edits(POLICY, edits)
    assert 'scope = ["mail", "pay_back"]  # from task t1, t2, t3\n' in written
    commented = POLICY.replace("[guard]", '[guard]\nscope = ["get_order"]  # guessed: so')
    assert "  # from task t1, t2, t3; guessed: so\n" in write_edits(commented, edits)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("task", HOSTILE_IDS)
def test_no_id_of_a_task_writes_anything_but_a_comment(task: str) -> None:
    policy = parse_policy(POLICY.encode()).policy
    for edit in EDITS:
        written = write_edits(POLICY, [TaskEdit(edit, (task,))], [TaskEdit(edit, (task,))])
        again = parse_policy(written.encode()).policy
        assert again.digest() == apply_edits(policy, [edit]).digest()


@pytest.mark.parametrize("indent", [None, 2, "\t"])
def test_a_policy_in_json_reads_as_the_edited_policy(indent: int | str | None) -> None:
    policy = parse_policy(POLICY.encode()).policy
    text = json.dumps(policy.wire(), indent=indent, ensure_ascii=False) + "\n"
    for edit in EDITS:
        written = write_edits(text, [TaskEdit(edit, ("t1",))], [TaskEdit(EDITS[0], ("t2",))])
        again = parse_policy(written.encode()).policy
        assert again.digest() == apply_edits(policy, [edit]).digest(), edit
        new = {*(again.guessed or ())} - {*(policy.guessed or ())}
        assert new or edit.kind == "fields", edit
        if indent is not None:
            gone = {*text.splitlines()} - {*written.splitlines()}
            assert len(gone) <= 6, edit
    assert write_edits(text, []) == text


def test_what_needs_a_word_changes_nothing() -> None:
    asked = [TaskEdit(edit, ("t1",)) for edit in EDITS]
    written = write_edits(POLICY, [], asked)
    assert parse_policy(written.encode()).policy == parse_policy(POLICY.encode()).policy
    assert written.count("# needs your word, t1: ") >= len(EDITS)


def test_a_table_that_is_an_array_of_tables_is_left_to_a_person() -> None:
    follows = '\n[[tool.follows]]\nadapter_id = "shop"\ncapability_id = "find_mail"\n'
    text = POLICY.replace('arg_roles = { to = "recipient", body = "content" }\n', follows, 1)
    with pytest.raises(UnwritableEdit, match="by hand"):
        write_edits(text, [TaskEdit(PolicyEdit("follows", "mail", "", "get_order"), ("t1",))])


def test_a_patch_of_nothing_is_empty_and_a_last_line_may_have_no_end() -> None:
    assert unified_patch("p.toml", POLICY, POLICY) == ""
    patch = unified_patch("p.toml", "a = 1", "a = 2\n")
    assert patch.endswith("-a = 1\n\\ No newline at end of file\n+a = 2\n")
