"""Each label in code that a policy loosens is drift, and none that it tightens."""

from itertools import product
from typing import Any, get_args

import pytest

from critic.labels import ResultAuthor, ToolLabels
from evals.capability import Role
from evals.kinds import MODES
from harness.policy.analysis.derive_mcp import _tier, drafts_of_mcp, hints_destroy
from harness.policy.analysis.derive_tools import ToolDraft
from harness.policy.analysis.policy_writing import derived_policy
from harness.policy.analysis.tool_drift import find_drift
from harness.policy.policy_reading import parse_policy
from harness.wire import InvalidInput
from tests.harness.policy.test_envelopes import policy_with
from tests.support.guarding import Json, policy_of

AUTHORS = ("public", "member", "system", "operator")
STRENGTH = {"recipient": 4, "object": 4, "secret": 4, "locator": 3, "code": 3, "time": 2}
STRENGTH |= {"attribute": 2, "content": 1}


def drift(tool: Json, **labels: Any) -> list[str]:
    said = ToolLabels(**labels)
    draft = ToolDraft("a", "x", "", None, labels=said)
    found = find_drift(policy_of(policy_with(tool)), [draft], "own:agent")
    return [finding.path.removeprefix("/tool/0") for finding in found]


@pytest.mark.parametrize("in_code", get_args(ResultAuthor))
def test_an_author_that_is_believed_more_than_its_code_says_is_drift(in_code: Any) -> None:
    for given in AUTHORS:
        told = drift({"result": {"author": given}}, author=in_code)
        is_looser = AUTHORS.index(given) > AUTHORS.index(in_code)
        assert told == (["/result/author"] if is_looser else [])
    assert drift({}, author=in_code) == []


@pytest.mark.parametrize(("in_code", "given"), [*product(MODES, repeat=2)])
def test_a_tier_below_that_of_the_code_is_drift(in_code: Any, given: str) -> None:
    told = drift({"approval_mode": given}, tier=in_code)
    assert told == (["/approval_mode"] if MODES.index(given) < MODES.index(in_code) else [])


@pytest.mark.parametrize("role", get_args(Role))
def test_each_role_in_code_is_compared(role: Any) -> None:
    names = ("n", "m", "o")
    for given in (None, *get_args(Role)):
        for changed in names:
            roles = {name: role for name in names if name != changed}
            roles |= {} if given is None else {changed: given}
            told = drift({"arg_roles": roles}, roles=tuple((name, role) for name in names))
            is_laxer = STRENGTH.get(given or "", 0) < STRENGTH[role]
            place = f"/arg_roles/{changed}" if given else "/arg_roles"
            assert told == ([place] if is_laxer else []), (changed, given)


def listed(*names: str) -> list[Json]:
    return [{"name": name, "inputSchema": {"type": "object"}} for name in names]


@pytest.mark.parametrize("names", ["aa", "aab", "aba", "baa", "aaa"])
def test_two_tools_of_one_name_are_no_tools(names: str) -> None:
    with pytest.raises(InvalidInput, match="two tools are called a: which one a call means"):
        drafts_of_mcp("s", listed(*names))
    drafts, left = drafts_of_mcp("s", listed("a", "A", "a.b", "not a name"))
    assert ([one.capability_id for one in drafts], len(left)) == (["a", "A", "a.b"], 1)


HINTS = [None, True, False, 1, "true"]


@pytest.mark.parametrize(("reads", "destroys", "outside"), [*product(HINTS, repeat=3)])
def test_a_hint_is_believed_where_it_is_the_very_word(
    reads: Any, destroys: Any, outside: Any
) -> None:
    """An absent hint has the default of the protocol: it destroys, and in an open world."""
    given = {"readOnlyHint": reads, "destructiveHint": destroys, "openWorldHint": outside}
    hints = {name: one for name, one in given.items() if one is not None}
    if reads is True:
        expected = "read_only" if outside is False else "network"
    elif destroys is not False:
        expected = "destructive"
    else:
        expected = "local_write" if outside is False else "network"
    assert _tier(hints) == expected
    assert hints_destroy(hints) == (destroys is True and reads is not True)


@pytest.mark.parametrize("name", ["read_note", "get_order", "list_mail", "do_it", "delete_all"])
def test_a_tool_whose_arguments_are_not_known_is_judged_as_if_it_destroyed(name: str) -> None:
    text = derived_policy("own", "own", [ToolDraft("a", name, "", None)])
    document = parse_policy(text.encode())
    (tool,) = document.policy.tool
    assert tool.approval_mode == "destructive"
    assert document.open_tiers == {name}
