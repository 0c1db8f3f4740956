"""Write a policy as commented TOML: a starter, or one with tools that were derived.

Guesses are marked at the end of their lines, and so are open labels. Those have the safe value: the
tool is destructive, and a person approves each call.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from critic import MODE_RANK
from critic.labels import ResultAuthor
from critic.session.session_rules import is_default_class
from evals.capability import Role
from harness.policy.analysis.derive_tools import ResultType, ToolDraft, identifier, without_zones
from harness.policy.analysis.guessing.guess_tables import TIER_ROWS
from harness.policy.analysis.guessing.result_guess import ResultGuess
from harness.policy.analysis.guessing.tier_guess import TierGuess, snake_case
from harness.policy.analysis.guessing.tool_guess import ToolDescription, ToolGuess, guess_labels
from harness.policy.analysis.toml_spelling import toml_comment, toml_key, toml_value

_FROM_CODE: Final = "from code"
"""Why a label of the code is as it is: nobody guessed it."""
_SAYS_FROM_CODE: Final = '# What ends in "# from code" is what the code declares, and no guess.\n'
_WIDTH: Final = 96
_MARK_AT: Final = 48
_LONGEST_NAME: Final = 128
_LONGEST_SCHEMA: Final = 120

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


def unanswered_authors(drafts: Iterable[ToolDraft]) -> list[str]:
    """Return the reading tools whose authors only a person knows."""
    return [
        draft.capability_id
        for draft in drafts
        if _author_in_code(draft) is None and _leaves_author_open(_guess(draft))
    ]


def _author_in_code(draft: ToolDraft) -> ResultAuthor | None:
    return None if draft.labels is None else draft.labels.author


def _leaves_author_open(guess: ToolGuess) -> bool:
    return guess.is_read and guess.result.author == "public" and not guess.result.web


def derived_policy(
    source: str,
    spec_id: str,
    drafts: Iterable[ToolDraft],
    authors: Mapping[str, ResultAuthor] = MappingProxyType({}),
) -> str:
    """Return the text of a policy for derived tools, the highest tier first.

    Args:
        source: the source of the tools, for the first line.
        spec_id: the id of the spec.
        authors: the authors of results that a person has named, by tool.
    """
    tools = [
        _Guessed(draft, _guess(draft), authors.get(draft.capability_id, _author_in_code(draft)))
        for draft in drafts
    ]
    tools.sort(key=lambda one: (-MODE_RANK[one.guess.tier.tier], one.draft.capability_id))
    classes = _Classes(tools)
    head = f"""\
{toml_comment(f"The policy of the tools of {source}.")}
# A line that ends in "# guessed" is a guess, one that ends in "# TODO" is open. Correct the line if
# it is wrong, and delete the comment: that confirms it. `critic policy check` counts what is left.
{_SAYS_FROM_CODE if any(one.draft.labels for one in tools) else ""}#
{_tier_lines()}

{_GUARD}
[spec]
id = {toml_value(spec_id)}
required_outputs = []
provenance = "closed"                      # the request names what may be acted on; "open" asks
approval_required_from = "destructive"     # a person approves calls of this tier
"""
    tables = [*map(_class_text, classes.entries), *(_tool_text(one, classes) for one in tools)]
    return "\n".join([head, *tables])


def _tier_lines() -> str:
    """Return the table of tiers as comments."""
    rows = [
        ("tier", "means", "by itself"),
        *((one.tier, one.means, one.by_itself) for one in TIER_ROWS),
    ]
    first, second = (max(len(row[at]) for row in rows) + 2 for at in (0, 1))
    return "\n".join(f"# {a:{first}}{b:{second}}{c}" for a, b, c in rows)


class _Guessed(NamedTuple):
    """A tool with its guesses, and the author of its results if a person has named one."""

    draft: ToolDraft
    guess: ToolGuess
    author: ResultAuthor | None

    @property
    def roles_in_code(self) -> Mapping[str, Role]:
        """The roles in code of its arguments."""
        labels = self.draft.labels
        taken = (self.draft.args_schema or {}).get("properties") or {}
        return {name: role for name, role in (labels.roles if labels else ()) if name in taken}

    @property
    def fields(self) -> dict[str, str]:
        """The owners of the fields of its records. A trusted author owns no field of free text."""
        result = self.guess.result
        is_trusted = self.author not in (None, "public")
        return {**(dict.fromkeys(result.free, "public") if is_trusted else {}), **result.fields}


_MOST_LEVELS: Final = 3


def _without_references(schema: Any, defs: Mapping[str, Any], level: int = 0) -> Any:
    """Return the schema of an argument with its references resolved, as deep as guesses look."""
    if not isinstance(schema, dict) or level > _MOST_LEVELS:
        return schema
    if isinstance(name := schema.get("$ref"), str):
        return _without_references(defs.get(name.rpartition("/")[2], True), defs, level + 1)
    deeper = {key: schema[key] for key in ("items", "anyOf") if key in schema}
    for key, value in deeper.items():
        parts = value if isinstance(value, list) else [value]
        found = [_without_references(part, defs, level + 1) for part in parts]
        deeper[key] = found if isinstance(value, list) else found[0]
    return {**schema, **deeper}


def _guess(draft: ToolDraft) -> ToolGuess:
    """Guess the labels of a tool. If its arguments are unknown, its tier is open."""
    schema = draft.args_schema or {}
    properties, named = schema.get("properties"), schema.get("$defs")
    given = properties if isinstance(properties, dict) else {}
    defs = named if isinstance(named, dict) else {}
    guess = guess_labels(
        ToolDescription(
            draft.capability_id,
            draft.description,
            {name: _without_references(one, defs) for name, one in given.items()},
            draft.result.schema if draft.result else None,
            draft.hints_at_destruction,
            draft.needs_approval,
        )
    )
    if draft.result is not None and draft.result.is_recorded:
        # What was recorded promises nothing: the next number may be a sentence.
        guess = guess._replace(result=guess.result._replace(author="public"))
    if draft.args_schema is None:
        tier = TierGuess("destructive", "its arguments are not known", is_open=True)
        guess = guess._replace(tier=tier, is_read=False)
    if draft.labels is not None and draft.labels.tier is not None:
        guess = guess._replace(tier=TierGuess(draft.labels.tier, _FROM_CODE))
    return guess


class _ClassEntry(NamedTuple):
    """A class to write: its name, the type of its items if known, and the guesses about them."""

    name: str
    result: ResultType | None
    fields: Mapping[str, str]


class _Classes:
    """The classes of results that are records. Tools with one result type share a class."""

    def __init__(self, tools: Sequence[_Guessed]) -> None:
        self._names: dict[str, str] = {}
        known: dict[str, _ClassEntry] = {}
        for tool in tools:
            draft, has_type = tool.draft, _has_class(tool.draft.result, tool.guess.result)
            if not has_type and _class_in_code(draft) is None:
                continue
            result, fields = (draft.result, tool.fields) if has_type else (None, {})
            entry = _ClassEntry(_class_name(draft), result, fields)
            other = known.setdefault(entry.name, entry)
            if _class_in_code(draft) is not None:  # the code says that they are of one class
                if other.result is None:
                    known[entry.name] = entry
            elif result and other.result and other.result.schema != result.schema:
                entry = entry._replace(name=identifier(f"{draft.capability_id}_record"))
                known[entry.name] = entry
            elif len(other.fields) < len(entry.fields):
                known[entry.name] = entry
            self._names[draft.capability_id] = entry.name
        self.entries: Final = [known[name] for name in sorted(known)]

    def name_for(self, tool: str) -> str | None:
        """Return the class of a tool's results, if they are records."""
        return self._names.get(tool)


def _has_class(result: ResultType | None, guess: ResultGuess) -> bool:
    named = result is not None and bool(result.name or guess.fields)
    return named and guess.is_record and not guess.web


def _class_in_code(draft: ToolDraft) -> str | None:
    return None if draft.labels is None else draft.labels.yields


def _class_name(draft: ToolDraft) -> str:
    if (said := _class_in_code(draft)) is not None:
        return said
    named = snake_case(draft.result.name) if draft.result and draft.result.name else ""
    name = identifier(named or f"{draft.capability_id}_result")[:_LONGEST_NAME]
    return f"{name}_record" if is_default_class(name) else name


def _class_text(entry: _ClassEntry) -> str:
    lines = ["[[class]]", f"name = {toml_value(entry.name)}"]
    lines += _table_lines("fields", entry.fields, "by name and type")
    if entry.result is None:
        return "\n".join(lines) + "\n"
    if entry.result.example is not None:
        lines.append(f"example = {toml_value(entry.result.example)}")
    schema = [*_schema_lines("class", "schema", without_zones(entry.result.schema))]
    if entry.result.is_recorded:
        at = 0 if schema[0] else 1
        schema[at] = _mark_line(schema[at], "from recorded results")
    lines += schema
    return "\n".join(lines) + "\n"


def _tool_text(tool: _Guessed, classes: _Classes) -> str:
    draft, guess = tool.draft, tool.guess
    lines = [toml_comment(draft.summary[:_WIDTH])] if draft.summary else []
    lines += [toml_comment(_as_sentence(one)) for one in draft.todo]
    tier = f"approval_mode = {toml_value(guess.tier.tier)}"
    lines += [
        "[[tool]]",
        f"adapter_id = {toml_value(draft.adapter_id)}",
        f"capability_id = {toml_value(draft.capability_id)}",
        _mark_line(tier, guess.tier.why, is_open=guess.tier.is_open),
        *_role_lines(tool),
        *_table_lines("arg_kinds", guess.kinds, "by name"),
        *_result_lines(tool, classes.name_for(draft.capability_id)),
    ]
    if draft.args_schema is not None:
        lines += _schema_lines("tool", "args_schema", without_zones(draft.args_schema))
    return "\n".join(lines) + "\n"


def _role_lines(tool: _Guessed) -> Iterator[str]:
    """Yield the roles of a tool: those in code, and guesses for the other arguments."""
    said = tool.roles_in_code
    others = {name: one for name, one in tool.guess.roles.items() if name not in said}
    if not said:
        yield from _table_lines("arg_roles", _roles(tool.guess), _why_roles(tool.guess))
        return
    if not others:
        yield from _table_lines("arg_roles", said, _FROM_CODE)
        return
    for name, role in said.items():
        yield _mark_line(f"arg_roles.{toml_key(name)} = {toml_value(role)}", _FROM_CODE)
    for name, one in others.items():
        why = f"unknown: {name}" if one.is_unknown else "by name and type"
        yield _mark_line(f"arg_roles.{toml_key(name)} = {toml_value(one.role)}", why)


def _as_sentence(text: str) -> str:
    return text if "_" in text.partition(" ")[0] else text[:1].upper() + text[1:]


def _roles(guess: ToolGuess) -> dict[str, str]:
    return {name: one.role for name, one in guess.roles.items()}


def _why_roles(guess: ToolGuess) -> str:
    unknown = [name for name, one in guess.roles.items() if one.is_unknown]
    return f"unknown: {', '.join(unknown)}" if unknown else "by name and type"


def _result_lines(tool: _Guessed, class_name: str | None) -> Iterator[str]:
    result, makes = tool.guess.result, tool.guess.makes
    written: dict[str, Any] = {"author": tool.author or result.author}
    if result.web:
        written["web"] = True
    if class_name and _has_class(tool.draft.result, result):
        written["format"] = "json"
    if makes:
        written["makes"] = dict(makes)
    if tool.author is None and _leaves_author_open(tool.guess):
        yield "# Who can write what it returns? system: our systems; member: us; public: anybody"
    line = f"result = {toml_value(written)}"
    if makes:
        yield _mark_line(line, "it makes the file, and fails if there is one")
    elif result.web or (result.author == "system" and tool.author is None):
        yield _mark_line(line, "from the web" if result.web else "no sentence fits into it")
    else:
        said = _author_in_code(tool.draft)
        yield line if said is None or said != tool.author else _mark_line(line, _FROM_CODE)
    if class_name:
        line = f"yields = {toml_value(class_name)}"
        yield line if _class_in_code(tool.draft) is None else _mark_line(line, _FROM_CODE)


def _table_lines(name: str, members: Mapping[str, str], why: str) -> Iterator[str]:
    """Yield a table of guesses on one line, or on a line each if that is too long."""
    if not members:
        return
    line = f"{name} = {toml_value(dict(members))}"
    if len(line) <= _WIDTH:
        yield _mark_line(line, why)
        return
    for key, value in members.items():
        yield _mark_line(f"{name}.{toml_key(key)} = {toml_value(value)}", why)


def _mark_line(line: str, why: str, *, is_open: bool = False) -> str:
    """Return a line with the mark of a guess or an open label; a label in code has neither."""
    said = why if why == _FROM_CODE else f"{'TODO' if is_open else 'guessed'}: {why}"
    mark = toml_comment(said[:_WIDTH])
    return f"{line:{_MARK_AT}}  {mark}"


def _schema_lines(table: str, name: str, schema: dict[str, Any]) -> Iterator[str]:
    """Yield a schema on one line, or in tables if that is too long."""
    line = f"{name} = {toml_value(schema)}"
    if len(line) <= _LONGEST_SCHEMA:
        yield line
        return
    tables = {part: schema[part] for part in ("properties", "$defs") if schema.get(part)}
    yield from ("", f"[{table}.{name}]")
    for key, value in schema.items():
        if key not in tables:
            yield f"{toml_key(key)} = {toml_value(value)}"
    for key, members in tables.items():
        yield from ("", f"[{table}.{name}.{toml_key(key)}]")
        yield from (f"{toml_key(one)} = {toml_value(part)}" for one, part in members.items())
