"""Write the API reference from the fronts and their docstrings: `python -m tests.meta.api_page`.

The sources are read, not imported, so that the page does not change with the interpreter.
"""

import re
from collections.abc import Iterator
from typing import Final

import griffe

from tests.support.paths import ROOT

PAGE: Final = ROOT / ".github" / "docs" / "api.md"

FRONTS: Final = (
    "critic",
    "harness.wire",
    "harness.canonical",
    "harness.clock",
    "harness.errors",
    "harness.cases",
    "harness.runtime",
    "harness.log",
    "harness.replay",
    "harness.loops",
    "harness.agents",
    "harness.agents.pydantic_ai",
    "harness.codeloop",
    "harness.testing.laws",
    "harness.testing.strategies",
    "evals",
)

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
    return _HEAD + "".join(part for module in modules for part in _module(module))


def _module(module: griffe.Module) -> Iterator[str]:
    yield f"\n## {module.path}\n\n{_text(module)}\n"
    for name in sorted(map(str, module.exports or _defined(module))):
        yield from _entry(name, module[name])


def _defined(module: griffe.Module) -> list[str]:
    """Return the public names that a module without `__all__` defines itself."""
    return [
        name
        for name, member in module.members.items()
        if not name.startswith("_") and not member.is_alias and not _is_type_variable(member)
    ]


def _is_type_variable(member: griffe.Object | griffe.Alias) -> bool:
    return isinstance(member, griffe.Attribute) and str(member.value).startswith("TypeVar(")


def _entry(name: str, member: griffe.Object | griffe.Alias) -> Iterator[str]:
    target = member.final_target if isinstance(member, griffe.Alias) else member
    yield f"\n### `{name}{_signature(target)}`\n\n"
    if text := _text(target):
        yield f"{text}\n"
    if isinstance(target, griffe.Class):
        yield from _members(target)


def _signature(target: griffe.Object) -> str:
    if isinstance(target, griffe.Function):
        parameters = ", ".join(_parameter(one) for one in target.parameters)
        returns = f" -> {target.returns}" if target.returns else ""
        return f"({parameters}){returns}"
    if isinstance(target, griffe.Class) and target.bases:
        return f"({', '.join(str(base) for base in target.bases)})"
    return f" = {target.value}" if isinstance(target, griffe.Attribute) else ""


def _parameter(parameter: griffe.Parameter) -> str:
    stars = {"variadic positional": "*", "variadic keyword": "**"}
    prefix = stars.get(parameter.kind.value if parameter.kind else "", "")
    annotation = f": {parameter.annotation}" if parameter.annotation else ""
    default = f" = {parameter.default}" if parameter.default and not prefix else ""
    return f"{prefix}{parameter.name}{annotation}{default}"


def _members(target: griffe.Class) -> Iterator[str]:
    """Yield one line for each field and each public method."""
    own = {name: member for name, member in target.members.items() if not name.startswith("_")}
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
    if lines:
        yield "\n" + "\n".join(lines) + "\n"


def _is_field(member: griffe.Attribute) -> bool:
    return member.annotation is not None and "ClassVar" not in str(member.annotation)


def _plain(annotation: object) -> str:
    """Return a field's type without the marks that only the validator reads."""
    text = str(annotation)
    found = re.fullmatch(r"Annotated\[(.*?)((?:, [A-Z]+)+)((?:, Field\(.*\))?)\]", text)
    return found[1] if found else text


def _first_line(member: griffe.Object) -> str:
    text = _text(member)
    return f": {text.splitlines()[0]}" if text else ""


def _text(target: griffe.Object) -> str:
    return target.docstring.value.strip() if target.docstring else ""


def main() -> None:
    """Write the page."""
    PAGE.write_text(rendered(), encoding="utf-8")


if __name__ == "__main__":
    main()
