"""Write a policy as commented TOML: a starter, or one with tools that were derived.

What cannot be known has the safe value and a TODO: every tool is destructive and needs the
approval of a person, and no argument has a role, so that every value is judged as a recipient.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from harness.policy.analysis.derive_tools import ToolDraft

_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")
_WIDTH: Final = 96

_GUARD: Final = """\
[guard]
safety_mode = "destructive"    # the highest tier that may run; what is above it is refused
# on_refusal = "answer"        # the model is told and may go on; "halt" ends the run
# on_ask = "ask"               # a person is asked; "refuse" where nobody is there
# max_questions = 3            # since the last yes; then the answer is no
# shadow = false               # true allows everything and records what would be refused
# budget = { max_steps = 100, bucket_tokens = 1000000 }    # for each session
"""

_TIERS: Final = "read_only, local_write, network, delegated or destructive"
_ROLES: Final = "recipient, object, attribute, locator, secret, code, content or time"

STARTER: Final = f"""\
# A policy for the tools of an agent: what they may do, and where the values they act on must come
# from. `critic policy check critic.toml` explains every mistake in it.

{_GUARD}
[spec]
id = "payments"
required_outputs = []                      # what every plan must produce
provenance = "closed"                      # the request names what may be acted on; "open" asks
approval_required_from = "destructive"     # a person approves calls of this tier

# One table for each tool. The tiers: {_TIERS}.
[[tool]]
name = "read_file"                         # what the agent calls it
adapter_id = "files"
capability_id = "read_file"
approval_mode = "read_only"
arg_roles = {{ path = "locator" }}           # what is read next
result = {{ author = "public" }}             # anybody may have written what it returns

[tool.args_schema]
type = "object"
required = ["path"]
additionalProperties = false
properties = {{ path = {{ type = "string" }} }}

# What the results of a class are: who fills which field of a record. All else in it is text of the
# author. system: nobody else can; party: names whom the record is with; public: anybody.
[[class]]
name = "payment_receipt"
fields = {{ id = "system", payee = "system", subject = "public" }}

# The roles: {_ROLES}.
[[tool]]
name = "send_money"
adapter_id = "bank"
capability_id = "send_money"
approval_mode = "delegated"
arg_roles = {{ recipient = "recipient", amount = "attribute", subject = "content" }}
arg_kinds = {{ recipient = "account" }}      # how its values are compared: path, url, address,
                                           # account, or any noun such as order
result = {{ author = "system", format = "json" }}  # a system of record, which promises JSON
yields = "payment_receipt"                 # the class of its results as evidence
expires_after_s = 600                      # how long they are fresh

[tool.args_schema]
type = "object"
required = ["recipient", "amount"]
additionalProperties = false

[tool.args_schema.properties]
recipient = {{ type = "string", minLength = 1 }}
amount = {{ type = "integer", minimum = 1, maximum = 50000 }}
subject = {{ type = "string", maxLength = 140 }}

# Evidence that is always there, such as a price list:
# [[evidence]]
# id = "prices"
# classification = "price_list"
# content = {{ parcel = 450 }}
"""


def derived_policy(source: str, spec_id: str, drafts: Iterable[ToolDraft]) -> str:
    """Return the text of a policy for derived tools.

    Args:
        source: what they were derived from, for the first line.
        spec_id: the id of the spec.
    """
    head = f"""\
{_comment(f"The policy of the tools of {source}.")}
# What is marked TODO is for you to decide; until then every call needs the approval of a person.
# `critic policy check critic.toml` explains every mistake, and reminds you of what is missing.

# TODO: say for the results that are records who fills which field: system, party, member, public.
# A tool promises records by result = {{ author = "...", format = "json" }} and yields = "mail".
# [[class]]
# name = "mail"
# fields = {{ id = "system", date = "system", sender = "party" }}

# Say beside arg_roles how values are compared, as in arg_kinds = {{ to = "address" }}: path, url,
# address, account, or any noun such as order, after which a request says a short number.

{_GUARD}
[spec]
id = {toml_value(spec_id)}
required_outputs = []
provenance = "closed"                      # the request names what may be acted on; "open" asks
approval_required_from = "destructive"     # TODO: lower the tiers below, and keep this
"""
    return "\n".join([head, *(_tool_text(draft) for draft in drafts)])


def _tool_text(draft: ToolDraft) -> str:
    lines = [_comment(draft.summary[:_WIDTH])] if draft.summary.strip() else []
    lines += [
        "[[tool]]",
        f"adapter_id = {toml_value(draft.adapter_id)}",
        f"capability_id = {toml_value(draft.capability_id)}",
        f'approval_mode = "destructive"    # TODO: {_TIERS}',
        *_comments(f"TODO: {todo}" for todo in draft.todo),
    ]
    schema = draft.args_schema
    names = list(schema.get("properties", {})) if schema else []
    if names or schema is None:
        lines.append(f"# TODO: say what its arguments are: {_ROLES}")
        roles = ", ".join(f'{toml_key(name)} = "..."' for name in names)
        lines.append(_comment(f"arg_roles = {{ {roles} }}" if roles else "arg_roles = {}"))
    if schema is not None:
        lines += ["", *_schema_lines(schema)]
    return "\n".join(lines) + "\n"


def _schema_lines(schema: dict[str, Any]) -> Iterator[str]:
    yield "[tool.args_schema]"
    tables = {name: schema[name] for name in ("properties", "$defs") if schema.get(name)}
    for name, value in schema.items():
        if name not in tables:
            yield f"{toml_key(name)} = {toml_value(value)}"
    for name, members in tables.items():
        yield ""
        yield f"[tool.args_schema.{toml_key(name)}]"
        yield from (f"{toml_key(key)} = {toml_value(part)}" for key, part in members.items())


def toml_key(name: str) -> str:
    """Return a key of TOML, in quotes where it must be."""
    return name if _BARE.fullmatch(name) else toml_value(name)


def toml_value(value: Any) -> str:
    """Return a JSON value as inline TOML. It must not hold null."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{"".join(map(_character, value))}"'
    if isinstance(value, dict):
        members = ", ".join(f"{toml_key(key)} = {toml_value(part)}" for key, part in value.items())
        return f"{{ {members} }}" if members else "{}"
    if isinstance(value, list):
        return f"[{', '.join(map(toml_value, value))}]"
    return repr(value)  # a whole number or a finite float: TOML spells them as Python does


def _character(char: str) -> str:
    if char in '"\\':
        return f"\\{char}"
    if char.isprintable():
        return char
    return f"\\u{ord(char):04x}" if ord(char) <= 0xFFFF else f"\\U{ord(char):08x}"


def _comment(text: str) -> str:
    """Return one line of comment."""
    plain = "".join(char if char.isprintable() else "?" for char in text.strip())
    return f"# {plain}" if plain else "#"


def _comments(texts: Iterable[str]) -> Iterator[str]:
    yield from (_comment(text) for text in texts)
