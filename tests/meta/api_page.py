"""Write the API reference from the fronts and their docstrings: `python -m tests.meta.api_page`.

The sources are read, not imported, so that the page does not change with the interpreter.
"""

import re
from collections.abc import Iterator
from textwrap import dedent
from typing import Final

import griffe

from tests.support.paths import ROOT

PAGE: Final = ROOT / ".github" / "docs" / "api.md"

FRONTS: Final = (
    "critic",
    "critic.labels",
    "harness.wire",
    "harness.canonical",
    "harness.clock",
    "harness.errors",
    "harness.cases",
    "harness.policy",
    "harness.guard",
    "harness.runtime",
    "harness.log",
    "harness.replay",
    "harness.loops",
    "harness.loops.agents",
    "harness.loops.agents.pydantic_ai",
    "harness.integrations.langchain",
    "harness.loops.code",
    "harness.integrations.openai",
    "harness.integrations.mcp",
    "harness.integrations.pydantic_ai",
    "harness.integrations.otel",
    "harness.testing.laws",
    "harness.testing.seams",
    "harness.testing.equalities",
    "harness.testing.strategies",
    "evals",
)

_WIDEST: Final = 96
_SECTION: Final = re.compile(r"^(Args|Attributes|Raises|Returns):$")
_ENTRY: Final = re.compile(r"^(Rule \d+|[a-z_]+): ")
_ITEM: Final = re.compile(r"^(Rule \d+|\w[\w.*, ]*): (.*)$")

_AWAITED: Final = re.compile(r"_make_awaitable\((.*)\)")
"""A method of another class, made one that is awaited."""
_SPELLED_OUT: Final = frozenset({"EventMethods"})
"""Bases that no front has: their methods stand with the classes that have them."""

_HEAD: Final = """# API reference

Every public name, by the module to import it from. Written by `python -m tests.meta.api_page`
from the docstrings; a test keeps it current. Envelopes are pydantic models: frozen, strict, without
unknown fields. `critic schema` prints their JSON Schemas.
"""


def rendered() -> str:
    """Render the whole page."""
    loader = griffe.GriffeLoader(search_paths=[ROOT])
    for package in ("evals", "critic", "harness"):
        loader.load(package)
    loader.resolve_aliases(implicit=True, external=False)
    modules = [loader.modules_collection[front] for front in FRONTS]
    contents = "".join(f"- [`{front}`](#{front.replace('.', '')})\n" for front in FRONTS)
    shown: dict[str, str] = {}
    return f"{_HEAD}\n{contents}" + "".join(
        part for module in modules for part in _module(module, shown)
    )


def _module(module: griffe.Module, shown: dict[str, str]) -> Iterator[str]:
    """Yield the section of a module. An object that is in `shown` has its entry there."""
    yield f"\n## {module.path}\n\n{_prose(module)}\n"
    elsewhere: dict[str, list[str]] = {}
    for name in sorted(map(str, module.exports or _defined(module))):
        member = module[name]
        target = member.final_target if isinstance(member, griffe.Alias) else member
        front = shown.setdefault(target.path, module.path)
        if front == module.path:
            yield from _entry(name, target)
        else:
            elsewhere.setdefault(front, []).append(f"`{name}`")
    for front, names in elsewhere.items():
        yield f"\nAlso here, as in [`{front}`](#{front.replace('.', '')}): {', '.join(names)}.\n"


def _defined(module: griffe.Module) -> list[str]:
    """Return the public names that a module without `__all__` defines itself."""
    return [
        name
        for name, member in module.members.items()
        if not name.startswith("_") and not member.is_alias and not _is_type_variable(member)
    ]


def _is_type_variable(member: griffe.Object | griffe.Alias) -> bool:
    return isinstance(member, griffe.Attribute) and str(member.value).startswith("TypeVar(")


def _entry(name: str, target: griffe.Object) -> Iterator[str]:
    """Yield a heading, the signature or the value, the docstring, and the members."""
    yield f"\n### {name}\n"
    if code := _code(name, target):
        yield f"\n```text\n{code}\n```\n"
    if text := _prose(target):
        yield f"\n{text}\n"
    if isinstance(target, griffe.Class):
        yield from _members(target)


def _code(name: str, target: griffe.Object) -> str:
    """Return what a reader would look for in the source: its first line, and how to build it."""
    if isinstance(target, griffe.Class):
        head = f"class {name}{_signature(target)}"
        built = target.members.get("__init__")
        if _is_envelope(target) or not isinstance(built, griffe.Function):
            return head
        return f"{head}\n{_call(name, _parameters(built)[1:])}"
    if isinstance(target, griffe.Function):
        return _call(name, _parameters(target), _returns(target))
    return f"{name}{_signature(target)}"


def _is_envelope(target: griffe.Class) -> bool:
    return any("Envelope" in str(base) for base in target.bases)


def _call(name: str, parameters: list[str], returns: str = "") -> str:
    line = f"{name}({', '.join(parameters)}){returns}"
    if len(line) <= _WIDEST:
        return line
    return f"{name}(\n" + "".join(f"    {part},\n" for part in parameters) + f"){returns}"


def _signature(target: griffe.Object) -> str:
    if isinstance(target, griffe.Function):
        parameters = [part for part in _parameters(target) if part not in ("self", "cls")]
        return f"({', '.join(parameters)}){_returns(target)}"
    if isinstance(target, griffe.Class) and target.bases:
        return f"({', '.join(str(base) for base in target.bases)})"
    return f" = {_plain(target.value)}" if isinstance(target, griffe.Attribute) else ""


def _returns(function: griffe.Function) -> str:
    if function.returns is None:
        return ""
    return (
        f" -> SearchStrategy[{function.returns}]" if _drawn(function) else f" -> {function.returns}"
    )


def _drawn(function: griffe.Function) -> bool:
    """Return whether Hypothesis makes a strategy of the function, and passes `draw` itself."""
    return any("composite" in str(decorator.value) for decorator in function.decorators)


def _parameters(function: griffe.Function) -> list[str]:
    """Return the parameters as in the source, with `/` and `*` where they mark a sort."""
    sorts = griffe.ParameterKind
    parameters = list(function.parameters)[1 if _drawn(function) else 0 :]
    written: list[str] = []
    before: griffe.ParameterKind | None = None
    for parameter in parameters:
        if before is sorts.positional_only and parameter.kind is not before:
            written.append("/")
        if parameter.kind is sorts.keyword_only and before not in (
            sorts.keyword_only,
            sorts.var_positional,
        ):
            written.append("*")
        written.append(_parameter(parameter))
        before = parameter.kind
    return [*written, "/"] if before is sorts.positional_only else written


def _parameter(parameter: griffe.Parameter) -> str:
    stars = {"variadic positional": "*", "variadic keyword": "**"}
    prefix = stars.get(parameter.kind.value if parameter.kind else "", "")
    annotation = f": {parameter.annotation}" if parameter.annotation else ""
    default = f" = {parameter.default}" if parameter.default and not prefix else ""
    return f"{prefix}{parameter.name}{annotation}{default}"


def _members(target: griffe.Class) -> Iterator[str]:
    """Yield one line for each field and each public method."""
    members = {**_methods_of_bases(target), **target.members}
    own = {name: member for name, member in members.items() if not name.startswith("_")}
    lines = [
        f"- `{name}: {_plain(member.annotation)}`{_first_line(member)}"
        for name, member in own.items()
        if isinstance(member, griffe.Attribute) and _is_field(member)
    ]
    lines += [
        f"- `{name}{_signature(member)}`{_first_line(member)}"
        for name, member in own.items()
        if isinstance(member, griffe.Function)
    ]
    lines += [
        f"- `{name}(...)`: `{found[1]}`, to be awaited."
        for name, member in own.items()
        if isinstance(member, griffe.Attribute) and (found := _AWAITED.match(str(member.value)))
    ]
    if lines:
        yield "\n" + "\n".join(lines) + "\n"


def _methods_of_bases(target: griffe.Class) -> dict[str, griffe.Object]:
    """Return the methods of bases that have no entry of their own: events of a guard."""
    bases = [one for one in target.mro() if isinstance(one, griffe.Class)]
    return {
        name: member
        for base in reversed(bases)
        if base.name in _SPELLED_OUT
        for name, member in base.members.items()
        if isinstance(member, griffe.Function)
    }


def _is_field(member: griffe.Attribute) -> bool:
    return member.annotation is not None and "ClassVar" not in str(member.annotation)


def _plain(annotation: object) -> str:
    """Return a field's type without the marks that only the validator reads."""
    text = str(annotation)
    found = re.fullmatch(r"Annotated\[(.*?)((?:, [A-Z]+)*)((?:, Field\(.*\))?)\]", text)
    return found[1] if found else text


def _first_line(member: griffe.Object) -> str:
    text = _text(member)
    return f": {text.splitlines()[0]}" if text else ""


def _text(target: griffe.Object) -> str:
    return target.docstring.value.strip() if target.docstring else ""


def _prose(target: griffe.Object) -> str:
    """Return a docstring as Markdown: its sections, rules and described names become lists."""
    return "\n\n".join(map(_paragraph, _text(target).split("\n\n")))


def _paragraph(text: str) -> str:
    head, *rest = text.splitlines() or [""]
    if section := _SECTION.match(head):
        return f"**{section[1]}**\n\n" + _list(dedent("\n".join(rest)).splitlines())
    entries = [line for line in [head, *rest] if not line.startswith(" ")]
    named = len(entries) > 1 and all(map(_ENTRY.match, entries)) and not head.startswith(" ")
    return _list([head, *rest]) if named else text


def _list(lines: list[str]) -> str:
    """Return lines `name: text`, with what continues them indented, as a list."""
    items = []
    for line in lines:
        item = _ITEM.match(line)
        label = item[1] if item and item[1].startswith("Rule ") else f"`{item[1]}`" if item else ""
        items.append(f"- {label}: {item[2]}" if item else f"  {line.strip()}")
    return "\n".join(items)


def main() -> None:
    """Write the page."""
    PAGE.write_text(rendered(), encoding="utf-8")


if __name__ == "__main__":
    main()
