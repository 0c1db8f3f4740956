"""Read the tools that `critic init` writes a policy for: from modules, agents, JSON, servers."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any, Literal, NamedTuple, assert_never

from evals.escaping import escape_line, escape_name
from harness.commands.documents import InputDocument, read_lines, read_whole
from harness.commands.misspelt import nearest
from harness.errors import UsageError
from harness.failures import describe_error
from harness.guard import CallsEvent, ResultEvent, SessionEvent, parse_event
from harness.integrations.mcp.mcp_listing import list_server
from harness.integrations.mcp.mcp_pins import Pin, pin_of
from harness.policy.analysis.derive_agent import (
    WHAT_TO_NAME,
    AgentTools,
    may_have_tools,
    names_with_tools,
    tools_of_object,
)
from harness.policy.analysis.derive_mcp import drafts_of_mcp
from harness.policy.analysis.derive_tools import (
    ToolDraft,
    drafts_of_module,
    drafts_of_openai,
    identifier,
)
from harness.wire import InvalidInput, parse_json

SourceKind = Literal["agent", "python", "openai", "mcp"]


class ToolSource(NamedTuple):
    """Where tools are read from, as it was named."""

    kind: SourceKind
    name: str


class SourceTools(NamedTuple):
    """The tools of one source or of several.

    Attributes:
        names: what the sources call themselves, for `adapter_id` and the id of the spec.
        notes: what was left out, and why.
        pins: what MCP tools said of themselves.
    """

    drafts: Sequence[ToolDraft]
    names: Sequence[str]
    notes: Sequence[str] = ()
    pins: Mapping[str, Pin] = MappingProxyType({})


def read_sources(sources: Sequence[ToolSource]) -> SourceTools:
    """Return the tools of all sources, with an `adapter_id` for each source.

    Raises:
        UsageError: a source cannot be read, or two have a tool of one name.
    """
    drafts: dict[str, ToolDraft] = {}
    from_where: dict[str, str] = {}
    names: list[str] = []
    notes: list[str] = []
    pins: dict[str, Pin] = {}
    for source in sources:
        read = _read_source(source)
        name = _unused_name(read.names[0], names)
        for draft in read.drafts:
            tool, shown = draft.capability_id, escape_line(source.name)
            if tool in drafts:
                raise UsageError(
                    f"two sources have a tool that is called {tool}, {from_where[tool]} and "
                    f"{shown}: rename one, or write a policy for each"
                )
            drafts[tool] = draft._replace(adapter_id=name)
            from_where[tool] = shown
        names.append(name)
        notes += read.notes
        pins |= read.pins
    return SourceTools([*drafts.values()], names, notes, pins)


def _unused_name(name: str, names: Sequence[str]) -> str:
    """Return a name of a source that no other has."""
    others = (f"{name}_{count}" for count in range(2, len(names) + 2))
    return next(one for one in (name, *others) if one not in names)


def _read_source(source: ToolSource) -> SourceTools:
    match source.kind:
        case "agent":
            return _from_agent(source.name)
        case "python":
            return _from_python(source.name)
        case "openai":
            return _from_openai(source.name)
        case "mcp":
            return _from_mcp(source.name)
        case _:
            assert_never(source.kind)


def _from_agent(named: str) -> SourceTools:
    """Derive the tools of an object of a module, which is imported: its code runs."""
    tools = read_agent(named)
    return SourceTools(tools.drafts, [tools.drafts[0].adapter_id], tools.left_out)


def read_agent(named: str) -> AgentTools:
    """Return the tools of an object, `MODULE:OBJECT`, or of a module.

    Raises:
        UsageError: the module cannot be imported, has no such object, or that has no tools.
    """
    place, _, path = named.rpartition(":")
    place, path = (place, path) if place else (named, "")
    shown = escape_name(named)
    with redirect_stdout(sys.stderr):  # standard output may be the policy
        module = _import_named(place)
        found = _object_at(module, path, shown)
        try:
            adapter = identifier(module.__name__.rpartition(".")[2])
            return tools_of_object(found, adapter, shown)
        except InvalidInput as error:
            raise UsageError(error.message) from None
        except Exception as error:  # of the framework
            raise UsageError(f"cannot read the tools of {shown}: {describe_error(error)}") from None


def _object_at(module: ModuleType, path: str, shown: str) -> Any:
    found: Any = module
    names = path.split(".") if path else []
    for depth, name in enumerate(names):
        if not hasattr(found, name):
            has_tools = found is not module and may_have_tools(found)
            known = shown.removesuffix(escape_name(".".join(["", *names[depth:]])))
            advice = f"write {known}" if has_tools else _what_is_there(found, name)
            raise UsageError(f"there is no {shown}: {advice}")
        found = getattr(found, name)
    return found


def _what_is_there(found: Any, name: str) -> str:
    """Return the nearest name of a module or object, and those that may have tools."""
    near = escape_line(
        nearest(name, [one for one in getattr(found, "__dict__", {}) if one[0] != "_"])
    )
    known = names_with_tools(found)
    listed = f"what may have tools is {', '.join(map(escape_name, known[:20]))}"
    return f"{near}{listed if known else WHAT_TO_NAME}"


def _from_mcp(server: str) -> SourceTools:
    """Derive the tools of an MCP server, which is asked: a command is run."""
    listing = list_server(server)
    try:
        drafts, left = drafts_of_mcp(listing.name, listing.tools, listing.offers)
    except InvalidInput as error:
        raise UsageError(error.message) from None
    names = {draft.capability_id for draft in drafts}
    pins = {tool["name"]: pin_of(tool) for tool in listing.tools if tool["name"] in names}
    return SourceTools(drafts, [identifier(listing.name)], left, pins)


def _from_python(name: str) -> SourceTools:
    """Derive the tools of a module, which is imported: its code runs."""
    with redirect_stdout(sys.stderr):
        module = _import_named(name)
    try:
        drafts = drafts_of_module(module)
    except InvalidInput as error:
        raise UsageError(error.message) from None
    return SourceTools(drafts, [drafts[0].adapter_id])


def _import_named(name: str) -> ModuleType:
    """Import a module by its name or file, as `python -m` would find it."""
    if not name or name[0] == ":":
        raise UsageError("nothing is named: write MODULE:OBJECT, or FILE.py:OBJECT")
    try:
        with _folder_first():
            return _load_file(Path(name)) if name.endswith(".py") else import_module(name)
    except (Exception, SystemExit) as error:
        kind, text = type(error).__name__, escape_line(str(error))
        said = f"cannot import {escape_name(name)}: {kind}: {text}"
        raise UsageError(f"{said}: {_way_to_import(error, name)}") from None


def _way_to_import(error: BaseException, name: str) -> str:
    """Return what to do about a module that cannot be imported."""
    if isinstance(error, FileNotFoundError) and not Path(name).exists():
        return "write the path of a file that is there"
    if not isinstance(error, ImportError):
        return "let it be imported without an error, as by python -c"
    if error.name and name.split(".", maxsplit=1)[0] == error.name.split(".")[0]:
        return "run critic in the folder of the module, or write its path as FILE.py"
    return "run critic in the environment of the agent, where all that it imports is installed"


@contextmanager
def _folder_first() -> Iterator[None]:
    """Put this folder first on the import path, as `python -m` does."""
    here = str(Path.cwd())
    sys.path.insert(0, here)
    try:
        yield
    finally:
        sys.path.remove(here)


def _load_file(path: Path) -> ModuleType:
    spec = spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ImportError("not a Python file")
    module = module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)  # annotations are looked up in it
    spec.loader.exec_module(module)
    return module


def _from_openai(name: str) -> SourceTools:
    document = read_whole(name)
    try:
        drafts, others = drafts_of_openai(document.parse_with(parse_json))
    except InvalidInput as error:
        raise UsageError(f"{document.source}: {error}") from None
    notes = [f"left out a tool of type {kind}: its arguments are not known" for kind in others]
    return SourceTools(drafts, ["tools"], notes)


def read_results(files: Sequence[str]) -> dict[str, list[Any]]:
    """Return what calls returned that completed, by tool, from session event files.

    Raises:
        UsageError: a line is not an event.
    """
    results: dict[str, list[Any]] = {}
    for name in files:
        tools: dict[tuple[str, str], str] = {}
        for document in read_lines(name):
            event = _event_in(document)
            if isinstance(event, CallsEvent):
                tools.update({(event.session, call.id): call.tool for call in event.calls})
            if isinstance(event, ResultEvent) and _is_of_its_tool(event):
                tool = tools.get((event.session, event.id), "")
                results.setdefault(tool, []).append(event.output)
    return results


def _is_of_its_tool(event: ResultEvent) -> bool:
    """Return whether the tool that was asked for returned something, and all of it is there."""
    is_whole = not event.sent and not event.cut
    return is_whole and event.status == "completed" and event.output is not None


def _event_in(document: InputDocument) -> SessionEvent:
    try:
        return document.parse_with(parse_event)
    except InvalidInput as error:
        raise UsageError(f"{document.source}: {error}") from None
