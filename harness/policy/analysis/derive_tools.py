"""Derive tools from their existing descriptions: Python functions, and OpenAI tool JSON.

A description has the name and arguments of a tool. It does not say what the tool may do or what its
arguments mean: `guessing` guesses tier and roles, and a person decides.

Before Python 3.12, pydantic takes only the `TypedDict` of `typing_extensions`, since those of
`typing` do not know their bases: annotations with one are given another form. Bases may hold
settings of pydantic, which are lost; all keys and what they may hold are known.
"""

import copy
import dataclasses
import inspect
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import reduce
from operator import or_
from types import FunctionType, ModuleType, UnionType
from typing import (
    Annotated,
    Any,
    Final,
    NamedTuple,
    TypedDict,
    Union,
    Unpack,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from pydantic import PydanticUserError, TypeAdapter
from pydantic.errors import PydanticInvalidForJsonSchema

from critic.labels import ToolLabels, read_labels
from evals.escaping import escape_line, escape_name, pointer
from evals.json_schemas import compile_schema
from evals.schema_keywords import every_object, schemas_in
from harness.policy.schema_faults import faults_of_schema
from harness.wire import InvalidInput

_BASES_ARE_KNOWN: Final = sys.version_info >= (3, 12)

Hint = Any
"""An annotation: a type, a form of `typing`, or any other object."""


def _hints_of(function: Callable[..., Any]) -> dict[str, Hint]:
    """Return the annotations of a function by parameter, so that pydantic takes each TypedDict.

    Raises:
        Exception: an annotation cannot be evaluated.
    """
    hints = get_type_hints(function, include_extras=True)
    if _BASES_ARE_KNOWN:
        return hints
    rewritten = _Rewritten()
    return {name: rewritten.hint(hint) for name, hint in hints.items()}


class _Rewritten:
    """Rewrites annotations. A class that occurs twice, or within itself, is rewritten once."""

    def __init__(self) -> None:
        self._known: dict[type, type] = {}

    def hint(self, hint: Hint) -> Hint:
        """Return the annotation with other classes in it, or itself where none has changed."""
        if isinstance(hint, type) and get_origin(hint) is None:
            return self._class(hint)
        before = get_args(hint)
        after = tuple(map(self.hint, before))
        if all(one is other for one, other in zip(before, after, strict=True)):
            return hint
        return _with_arguments(hint, after)

    def _class(self, given: type) -> type:
        if given not in self._known:
            self._known[given] = given
            if is_typeddict(given):
                self._typed_dict(given)
            elif dataclasses.is_dataclass(given):
                self._dataclass(given)
        return self._known[given]

    def _typed_dict(self, given: type) -> None:
        """Copy a TypedDict. Pydantic tells it apart by the module of its metaclass."""
        meta = type("_CopiedMeta", (type(given),), {"__module__": __name__})
        members = {**vars(given), "__orig_bases__": (TypedDict,)}
        copied: Any = type.__new__(meta, given.__name__, (dict,), members)
        self._known[given] = copied
        hints = get_type_hints(given, include_extras=True)
        copied.__annotations__ = {name: self.hint(hint) for name, hint in hints.items()}

    def _dataclass(self, given: Any) -> None:
        """Copy a dataclass where a field of it has changed."""
        hints = get_type_hints(given, include_extras=True)
        fields = [(one.name, self.hint(hints[one.name]), one) for one in dataclasses.fields(given)]
        if all(hint is hints[name] for name, hint, _ in fields):
            return
        self._known[given] = dataclasses.make_dataclass(
            given.__name__,
            [(name, hint, _copy_field(one)) for name, hint, one in fields],
            namespace={"__doc__": given.__doc__, "__module__": given.__module__},
        )


def _copy_field(one: dataclasses.Field[Any]) -> Any:
    """Return a copy of a field of another dataclass."""
    names = ("default", "default_factory", "init", "repr", "hash", "compare", "kw_only")
    settings: dict[str, Any] = {name: getattr(one, name) for name in names}
    return dataclasses.field(**settings, metadata=one.metadata)


def _with_arguments(hint: Hint, arguments: tuple[Hint, ...]) -> Hint:
    origin: Any = get_origin(hint)
    if origin is UnionType or origin is Union:
        return reduce(or_, arguments)
    if origin is Annotated:
        return Annotated[arguments]
    return origin[arguments[0] if len(arguments) == 1 else arguments]


_CONTEXTS: Final = re.compile(
    "Context|CurrentContext|Depends|InjectedState|InjectedStore|RunContext|"
    "RunContextWrapper|ToolContext|ToolRuntime"
)
"""What the frameworks call the parameters that they fill themselves."""

IDENTIFIER: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:/#@+=~-]{0,127}")
"""What a tool may be called."""


def explain_bad_name(name: str) -> str:
    """Return why a tool with a bad name is omitted, and the fix; one line."""
    return (
        f"left out a tool: {escape_name(name)} cannot be a name in a policy: rename it in the "
        "code, in letters, digits and underscores of ASCII, 128 at most"
    )


_TIME: Final = r"^[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?(Z|[+-][0-9]{2}:?[0-9]{2})?$"
_DATE_TIME: Final = rf"^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}[T ]{_TIME[1:]}"
_EXAMPLES: Final = {"date-time": "2000-01-01T00:00:00Z", "time": "00:00:00Z"}
_NO_ARGS: Final = {"type": "object", "properties": {}, "additionalProperties": False}


class ToolDraft(NamedTuple):
    """A tool, as far as it can be derived.

    Attributes:
        description: its whole description, or "".
        args_schema: the schema of its arguments; None if it cannot be derived.
        todo: what a person has to know or add, one sentence each.
        result: the type of its results; None if it is not known.
        hints_at_destruction: whether its server hints that it destroys.
        needs_approval: whether its framework asks a person before each call.
        labels: its labels in code.
    """

    adapter_id: str
    capability_id: str
    description: str
    args_schema: dict[str, Any] | None
    todo: tuple[str, ...] = ()
    result: "ResultType | None" = None
    hints_at_destruction: bool = False
    needs_approval: bool = False
    labels: ToolLabels | None = None

    @property
    def summary(self) -> str:
        """Return the first line of its description, or ""."""
        return self.description.strip().partition("\n")[0]


class ResultType(NamedTuple):
    """The type of a tool's results: its name, or "", and its JSON Schema.

    Attributes:
        is_recorded: whether it was read from results, and not from an annotation.
        example: a result; None if there is none.
    """

    name: str
    schema: dict[str, Any]
    is_recorded: bool = False
    example: Any = None


def identifier(text: str) -> str:
    """Return the text with `_` for each character that no identifier may have."""
    return re.sub(r"[^A-Za-z0-9_.-]", "_", text).lstrip(".-")[:128] or "_"


def drafts_of_module(module: ModuleType) -> list[ToolDraft]:
    """Return a draft for each public function of a module, in the order of its text.

    Raises:
        InvalidInput: it has no public function.
    """
    adapter = identifier(module.__name__.rpartition(".")[2])
    functions = public_functions(module)
    drafts = [draft_of_function(adapter, name, function) for name, function in functions]
    if not drafts:
        shown = escape_name(module.__name__)
        raise InvalidInput(
            "",
            f"the module {shown} has no public function: define one, or read an agent or the tools "
            "of a framework with --from-agent MODULE:OBJECT",
        )
    return drafts


def public_functions(module: ModuleType) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the public functions of a module by name, in the order of its text.

    Without `__all__`, those that the module imports are not its own.
    """
    is_listed = hasattr(module, "__all__")
    for name, value in public_members(module):
        if inspect.isfunction(value) and (is_listed or value.__module__ == module.__name__):
            yield name, value


def public_members(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """Yield what is in `__all__`, else what has no leading underscore, in the order of the text."""
    listed = getattr(module, "__all__", None)
    for name, value in vars(module).items():
        if name in listed if listed is not None else not name.startswith("_"):
            yield name, value


def draft_of_function(adapter: str, name: str, function: Callable[..., Any]) -> ToolDraft:
    """Return the draft of a function, by its signature."""
    todo = [] if IDENTIFIER.fullmatch(name) else [f"its name in Python is {escape_name(name)}"]
    description = inspect.getdoc(function) or ""
    schema: dict[str, Any] | None = None
    try:
        schema = plain_schema(_arguments_of(function))
        if missing := _unannotated_parameters(function):
            todo.append(f"no annotation says what {', '.join(map(escape_name, missing))} may be")
    except Exception as error:  # of the libraries, and of annotations, which may be any code
        todo.append(f"args_schema cannot be derived ({why_not_derived(error)}): write one")
    return ToolDraft(
        adapter,
        identifier(name),
        description,
        schema,
        tuple(todo),
        result_of_function(function),
        labels=read_labels(function),
    )


def result_of_function(function: Callable[..., Any] | None) -> ResultType | None:
    """Return the type of a function's results by its annotation; None if there is none."""
    if function is None:
        return None
    try:
        original = inspect.unwrap(function)
        hint = _hints_of(original).get("return")
        if hint in (None, type(None), Any):
            return None
        return result_of_schema(TypeAdapter(hint).json_schema(mode="serialization"))
    except Exception:  # of the libraries, and of annotations, which may be any code
        return None


def result_of_schema(schema: Any) -> ResultType | None:
    """Return the type of results by its JSON Schema; None if it cannot be written in a policy."""
    if not isinstance(schema, dict):
        return None
    try:
        plain = plain_schema(schema)
        examples = plain.get("examples")
        example = examples[0] if isinstance(examples, list) and examples else None
        return ResultType(_name_of_type(schema), plain, example=example)
    except Exception:  # of the library, on any schema
        return None


def _name_of_type(schema: dict[str, Any]) -> str:
    """Return the name of the type, with `_list` appended for a list."""
    if schema.get("type") == "array" and isinstance(schema.get("items"), dict):
        inner = _name_of_type(schema["items"])
        return f"{inner}_list" if inner else ""
    if isinstance(schema.get("$ref"), str):
        return str(schema["$ref"]).rpartition("/")[2]
    has_parts = isinstance(schema.get("properties"), dict)
    return str(schema["title"]) if has_parts and isinstance(schema.get("title"), str) else ""


def _arguments_of(function: Callable[..., Any]) -> dict[str, Any]:
    kinds = {parameter.kind for parameter in inspect.signature(function).parameters.values()}
    if inspect.Parameter.POSITIONAL_ONLY in kinds or inspect.Parameter.VAR_POSITIONAL in kinds:
        raise ValueError("args are given by name, and some parameters have none")
    rewritten = _without_result(function)
    if any(get_origin(hint) is Unpack for hint in rewritten.__annotations__.values()):
        raise ValueError("its keyword arguments come from a TypedDict")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of defaults that are not JSON: they are left out
        adapter: TypeAdapter[Any] = TypeAdapter(rewritten)
        return adapter.json_schema()


def _without_result(function: Callable[..., Any]) -> Any:
    """Return a function with the same parameters and no annotated result."""
    original = inspect.unwrap(function)
    if not isinstance(original, FunctionType):
        return function
    copied = FunctionType(
        original.__code__,
        original.__globals__,
        original.__name__,
        original.__defaults__,
        original.__closure__,
    )
    copied.__kwdefaults__ = original.__kwdefaults__
    hints = original.__annotations__
    copied.__annotations__ = {name: hint for name, hint in hints.items() if name != "return"}
    copied.__annotations__ = _hints_of(copied)
    copied.__module__ = original.__module__
    if given := [name for name, hint in copied.__annotations__.items() if _is_context(hint)]:
        signature = inspect.signature(copied)
        kept = [one for name, one in signature.parameters.items() if name not in given]
        copied.__signature__ = signature.replace(parameters=kept)  # type: ignore[attr-defined]
        for name in given:
            del copied.__annotations__[name]
    return copied


def _is_context(hint: Hint) -> bool:
    """Return whether the framework fills a parameter, so that calls do not pass it."""
    marks = (hint, get_origin(hint), *getattr(hint, "__metadata__", ()))
    marks += tuple(map(type, getattr(hint, "__metadata__", ())))
    return any(_CONTEXTS.fullmatch(getattr(one, "__name__", "")) for one in marks)


def _unannotated_parameters(function: Callable[..., Any]) -> list[str]:
    parameters = inspect.signature(function).parameters.values()
    return [one.name for one in parameters if one.annotation is inspect.Parameter.empty]


def why_not_derived(error: Exception) -> str:
    """Return why a schema cannot be derived, on one line that is safe to print."""
    known = (PydanticUserError, PydanticInvalidForJsonSchema, ValueError)
    text = str(error).partition("\n")[0] if isinstance(error, known) else type(error).__name__
    if isinstance(error, NameError):
        text = f"its module does not define {error.name or 'a name of its annotations'}"
    return escape_line(text)[:200]


def drafts_of_openai(value: Any) -> tuple[list[ToolDraft], list[str]]:
    """Return a draft for each function of OpenAI tool JSON, and the kinds of other tools.

    The tools may be an array, or the `tools` or `functions` of a request. A function may be below
    `function`, as in chat completions, or the tool itself, as in responses.

    Raises:
        InvalidInput: the JSON has another form, or a function has no valid name or schema.
    """
    entries, at = _tool_array(value)
    drafts, others = [], []
    names: set[str] = set()
    for index, entry in enumerate(entries):
        place = f"{at}/{index}"
        if not isinstance(entry, dict):
            raise InvalidInput(place, "must be an object: a tool with type and function")
        if entry.get("type", "function") != "function":
            others.append(escape_name(str(entry["type"])))
            continue
        nested = "function" in entry
        draft = _of_openai(entry["function"] if nested else entry, place + "/function" * nested)
        if draft.capability_id in names:
            raise InvalidInput(place, f"two tools are called {draft.capability_id}: keep one")
        names.add(draft.capability_id)
        drafts.append(draft)
    if not drafts:
        raise InvalidInput(at, "no function among the tools: add one")
    return drafts, others


def _tool_array(value: Any) -> tuple[list[Any], str]:
    if isinstance(value, list):
        return value, ""
    if isinstance(value, dict):
        for name in ("tools", "functions"):
            if isinstance(value.get(name), list):
                return value[name], f"/{name}"
        if "name" in value or "function" in value:
            return [value], ""
    raise InvalidInput("", "must be an array of tools, or an object with tools")


def _of_openai(function: Any, at: str) -> ToolDraft:
    name = function.get("name") if isinstance(function, dict) else None
    if not isinstance(name, str) or not IDENTIFIER.fullmatch(name):
        raise InvalidInput(f"{at}/name", "must be a name of letters, digits, _ and -")
    parameters = function.get("parameters")
    parameters = _NO_ARGS if parameters is None else parameters
    for place, what in faults_of_schema(parameters):
        raise InvalidInput(f"{at}/parameters{pointer(*place)}", what)
    try:
        schema = plain_schema(parameters)
    except Exception as error:
        why = escape_line(str(error).partition("\n")[0])[:200]
        raise InvalidInput(f"{at}/parameters", f"no JSON Schema (draft 2020-12): {why}") from None
    description = function.get("description")
    return ToolDraft("tools", name, description if isinstance(description, str) else "", schema)


def without_zones(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema that also accepts times without a zone, as types of Python take and write.

    Each has an example, since no value is made of a pattern.
    """
    changed = copy.deepcopy(schema)
    for part in every_object(changed):
        if (known := part.get("format")) in _EXAMPLES:
            del part["format"]
            part["pattern"] = _DATE_TIME if known == "date-time" else _TIME
            part.setdefault("examples", [_EXAMPLES[known]])
    return changed


def plain_schema(schema: Any) -> dict[str, Any]:
    """Return the schema without titles and nulls, which TOML does not have.

    Raises:
        Exception: it is not a schema, or holds a null that has a meaning.
    """
    if not isinstance(schema, dict):
        raise ValueError("it is not an object")
    compile_schema(schema)
    plain = copy.deepcopy(schema)
    for _, part in list(schemas_in(plain)):
        if isinstance(part, dict):
            _without_nulls(part)
    if places := list(_nulls(plain)):
        raise ValueError(f"it holds null at {places[0]}, and TOML has no null")
    compile_schema(plain)
    return plain


def _without_nulls(part: dict[str, Any]) -> None:
    part.pop("title", None)
    for name in ("default", "examples"):
        if name in part and any(True for _ in _nulls(part[name])):
            del part[name]
    if "const" in part and part["const"] is None:
        del part["const"]
        part["enum"] = [None]
    if isinstance(part.get("enum"), list) and None in part["enum"]:
        others = [value for value in part.pop("enum") if value is not None]
        choices = [*([{"enum": others}] if others else []), {"type": "null"}]
        if "anyOf" in part:
            part["allOf"] = [*part.get("allOf", ()), {"anyOf": choices}]
        else:
            part["anyOf"] = choices


def _nulls(value: Any, *path: str | int) -> Iterator[str]:
    if value is None:
        yield pointer(*path)
    inner = value.items() if isinstance(value, dict) else ()
    for key, item in enumerate(value) if isinstance(value, list) else inner:
        yield from _nulls(item, *path, key)
