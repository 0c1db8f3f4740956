"""Labels in code: `init` writes them as they are, and a policy that loosens one has drifted."""

import importlib
import re
import sys
from types import FunctionType, ModuleType
from typing import Annotated, Any

import pytest
from typing_extensions import TypedDict

from critic.labels import Attribute, Content, Day, Recipient, labelled
from harness.policy import Policy, lint, parse_policy
from harness.policy.analysis.derive_agent import tools_of_object
from harness.policy.analysis.derive_tools import ToolDraft
from harness.policy.analysis.policy_writing import derived_policy, unanswered_authors
from harness.policy.analysis.tool_drift import find_drift


class Receipt(TypedDict):
    receipt_id: str
    note: str


def pay(
    to: Annotated[str, Recipient], eur: Annotated[int, Attribute], on: Annotated[str, Day] = ""
) -> Receipt:
    """Pay somebody."""
    return {"receipt_id": "1", "note": f"{to} {eur} {on}"}


def get_mail(box: str, about: str = "") -> str:
    """Read mail."""
    return box + about


LABELS = labelled(tier="destructive", author="system", yields="receipt")
READS = labelled(tier="network", author="member", yields="mail")


def fresh(function: Any) -> Any:
    """Return a function of its own, since a label is set on it."""
    copied = FunctionType(function.__code__, globals(), function.__name__, function.__defaults__)
    copied.__annotations__, copied.__doc__ = dict(function.__annotations__), function.__doc__
    copied.__module__ = __name__
    return copied


def drafts(*tools: Any) -> list[ToolDraft]:
    return tools_of_object([*tools], "shop", "shop:tools").drafts


def written(*tools: Any) -> str:
    return derived_policy("shop", "shop", drafts(*tools))


def lines(text: str, mark: str) -> list[str]:
    return [line.partition("#")[0].strip() for line in text.splitlines() if line.endswith(mark)]


def test_init_writes_what_the_code_says_and_marks_no_guess() -> None:
    text = written(LABELS(fresh(pay)), READS(fresh(get_mail)))
    assert lines(text, "# from code") == [
        'approval_mode = "destructive"',
        'arg_roles = { to = "recipient", eur = "attribute", on = "time" }',
        'result = { author = "system", format = "json" }',
        'yields = "receipt"',
        'approval_mode = "network"',
        'result = { author = "member" }',
        'yields = "mail"',
    ]
    document = parse_policy(text.encode())
    guessed = document.policy.guessed or ()
    assert not [
        one for one in guessed if re.match(r"/tool/0/|/tool/1/(approval|result|yields)", one)
    ]
    assert not [one for one in lint(document.policy) if one.severity == "error"]
    assert {one.name for one in document.policy.class_} == {"receipt", "mail"}
    assert unanswered_authors(drafts(fresh(get_mail))) == ["get_mail"]
    assert unanswered_authors(drafts(READS(fresh(get_mail)))) == []


def test_what_the_code_does_not_say_is_guessed_beside_it() -> None:
    def send(to: Annotated[str, Content], subject: str, flag: bool) -> str:
        return f"{to} {subject} {flag}"

    text = written(send)
    assert lines(text, "# from code") == ['arg_roles.to = "content"']
    assert 'arg_roles.subject = "content"' in text
    policy = parse_policy(text.encode()).policy
    assert dict(policy.tool[0].arg_roles or {}) == {"to": "content", "subject": "content"}
    assert "/tool/0/arg_roles/subject" in (policy.guessed or ())
    assert "/tool/0/arg_roles/to" not in (policy.guessed or ())
    assert "/tool/0/approval_mode" in (policy.guessed or ())


def test_what_a_person_says_of_an_author_goes_before_the_code() -> None:
    text = derived_policy("shop", "shop", drafts(READS(fresh(get_mail))), {"get_mail": "public"})
    assert 'result = { author = "public" }' in text.splitlines()


@pytest.mark.parametrize(
    ("before", "after", "drifted"),
    [
        (
            'approval_mode = "destructive"',
            'approval_mode = "delegated"',
            "its code says destructive",
        ),
        ('to = "recipient"', 'to = "content"', "to: its code says recipient, and content here"),
        ('to = "recipient", ', "", "to: its code says recipient, and without a role here"),
        ('eur = "attribute"', 'eur = "object"', None),
        ('author = "system"', 'author = "operator"', "its code says system, and operator here"),
        ('author = "system"', 'author = "public"', None),
        ('yields = "receipt"', 'yields = "mail"', "its code says receipt, and mail here is laxer"),
        ('yields = "receipt"', "", None),
    ],
)
def test_a_label_that_a_policy_loosens_has_drifted(
    before: str, after: str, drifted: str | None
) -> None:
    tools = LABELS(fresh(pay)), READS(fresh(get_mail))
    text = written(*tools)
    head, mark, tables = text.partition("[[tool]]")
    assert before in tables
    loosened: Policy = parse_policy(
        (head + mark + tables.replace(before, after, 1)).encode()
    ).policy
    found = find_drift(loosened, drafts(*tools), "shop:tools")
    assert [one.severity for one in found] == ["error"] * (drifted is not None)
    assert drifted is None or f"tool pay: {drifted}" in found[0].message
    assert not find_drift(parse_policy(text.encode()).policy, drafts(*tools), "shop:tools")


def under_and_above(framework: str) -> list[Any]:
    """Return an object of a framework twice: the label under its decorator, and above it."""
    module: Any = importlib.import_module(framework)
    match framework:
        case "langchain_core.tools":
            return [[module.tool(LABELS(fresh(pay)))], [LABELS(module.tool(fresh(pay)))]]
        case "agents":
            under, above = (
                module.function_tool(LABELS(fresh(pay))),
                module.function_tool(fresh(pay)),
            )
            return [module.Agent("a", tools=[one]) for one in (under, LABELS(above))]
        case "pydantic_ai":
            above = module.Agent("test")
            LABELS(above.tool_plain(fresh(pay)))
            return [module.Agent("test", tools=[LABELS(fresh(pay))]), above]
        case _:
            under, above = module.FastMCP("a"), module.FastMCP("a")
            under.tool(LABELS(fresh(pay)))
            LABELS(above.tool(fresh(pay)))
            return [under, above]


@pytest.mark.slow
@pytest.mark.parametrize("framework", ["langchain_core.tools", "agents", "pydantic_ai", "fastmcp"])
def test_each_framework_keeps_the_labels_and_shows_the_same_schema(framework: str) -> None:
    plain = drafts(fresh(pay))[0].args_schema
    assert plain is not None
    for found in under_and_above(framework):
        [draft] = tools_of_object(found, "shop", "shop").drafts
        assert draft.labels == drafts(LABELS(fresh(pay)))[0].labels
        assert draft.args_schema is not None
        assert draft.args_schema["properties"] == plain["properties"]


def test_the_labels_of_a_module_are_read() -> None:
    made = ModuleType("own.labelled_tools")
    sys.modules[made.__name__] = made
    code = "from critic.labels import labelled\n@labelled(tier='network')\ndef go(x: str): ...\n"
    exec(code, vars(made))  # noqa: S102 - the text is right above
    [draft] = drafts(made.go)
    assert draft.labels is not None
    assert draft.labels.tier == "network"
