"""Check the summary of a tool, which describes a call to a person."""

from collections.abc import Iterator, Mapping
from typing import Any

from evals.escaping import escape_name
from evals.pointers import is_pointer, segments


def summary_fault(tool: Mapping[str, Any]) -> str | None:
    """Return the error in the `summary` of a tool's table; None without one.

    It may name the arguments in the schema, the roles and the bindings of the table. If the table
    has none, it may name any.
    """
    from critic.replies.summaries import summary_names  # noqa: PLC0415 - few tools have a summary

    summary = tool.get("summary")
    if type(summary) is not str:
        return None
    try:
        named = summary_names(summary)
    except ValueError as error:
        return f"{error}: write {{NAME}} for an argument, {{{{ and }}}} for braces"
    known = [*dict.fromkeys(_arguments_of(tool))]
    unknown = [name for name in named if known and name not in known]
    if not unknown:
        return None
    shown = ", ".join(map(escape_name, known[:20]))
    return f"the tool takes no argument {escape_name(unknown[0])}: known are {shown}"


def _arguments_of(tool: Mapping[str, Any]) -> Iterator[str]:
    schema = tool.get("args_schema")
    tables = [schema.get("properties")] if isinstance(schema, dict) else []
    tables += [tool.get(name) for name in ("arg_roles", "arg_kinds", "bound_args")]
    for table in tables:
        for name in table if isinstance(table, dict) else ():
            yield segments(name)[0] if name.startswith("/") and is_pointer(name) else str(name)
