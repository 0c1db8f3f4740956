"""Find mistakes in a JSON Schema of a policy: misspelt keywords, impossible values.

The canonical form of jsonschema-rs tells whether anything satisfies a schema. If the answer is
"unknown", nothing is reported.
"""

from collections.abc import Collection, Iterator, Sequence
from difflib import get_close_matches
from functools import cached_property
from typing import Final

from jsonschema_rs import CanonicalSchema, Draft202012, RegexOptions, canonical, canonicalize

from evals.escaping import escape_name, pointer
from evals.schema_keywords import KEYWORDS, REFERENCES, every_object, schemas_in
from harness.policy.schema_choices import has_many_choices
from harness.policy.schema_parts import AnySchema, SchemaParts

KNOWN: Final = (
    *(*KEYWORDS, "$id", "$schema", "$ref", "$anchor", "$dynamicRef"),
    *("$dynamicAnchor", "$vocabulary", "$comment", "type", "enum", "const", "multipleOf"),
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength"),
    *("pattern", "minItems", "maxItems", "uniqueItems", "minContains", "maxContains"),
    *("minProperties", "maxProperties", "required", "dependentRequired"),
    *("format", "contentEncoding", "contentMediaType", "title", "description", "default"),
    *("deprecated", "readOnly", "writeOnly", "examples", "example", "discriminator"),
)
"""The keywords that have an effect, or that tools write without one."""

_REPLACED: Final = {
    "additionalItems": "items",
    "id": "$id",
    "$recursiveRef": "$dynamicRef",
    "$recursiveAnchor": "$dynamicAnchor",
    "nullable": 'type = ["...", "null"]',
    "optional": "required, which names the others",
    "divisibleBy": "multipleOf",
}
_FORMATS: Final = (
    *("date-time", "date", "time", "duration", "email", "idn-email", "hostname", "idn-hostname"),
    *("ipv4", "ipv6", "uri", "uri-reference", "iri", "iri-reference", "uuid", "uri-template"),
    *("json-pointer", "relative-json-pointer", "regex", "binary", "byte", "password"),
    *("int32", "int64", "float", "double", "decimal"),
    *("path", "file-path", "directory-path", "json-string", "base64url", "multi-host-uri", "color"),
    *("ipvanyaddress", "ipvanyinterface", "ipvanynetwork", "ipv4interface", "ipv6interface"),
    *("ipv4network", "ipv6network", "name-email", "secret", "uuid1", "uuid3", "uuid4", "uuid5"),
)
"""The formats of the draft, and those that OpenAPI and pydantic write beside them."""


def odd_keywords(schema: AnySchema) -> Iterator[tuple[str, str]]:
    """Yield each keyword without an effect, as a JSON pointer and the fix."""
    for path, part in schemas_in(schema):
        for keyword in part if isinstance(part, dict) else ():
            if keyword not in KNOWN and not keyword.startswith("x-"):
                yield pointer(*path, keyword), _odd_keyword(keyword)
        name = part.get("format") if isinstance(part, dict) else None
        if name is not None and name not in _FORMATS:
            fix = _guess_word(str(name), _FORMATS) or "remove it"
            yield pointer(*path, "format"), f"unknown format {escape_name(str(name))}: {fix}"


def _odd_keyword(keyword: str) -> str:
    if keyword in _REPLACED:
        return f"{keyword} has no effect in draft 2020-12: write {_REPLACED[keyword]}"
    fix = _guess_word(keyword, KNOWN) or "remove it, or begin it with x-"
    return f"unknown keyword {escape_name(keyword)} has no effect: {fix}"


def _guess_word(word: str, known: tuple[str, ...]) -> str:
    lower = {name.lower(): name for name in known}
    near = get_close_matches(word.lower(), lower, 1, 0.6)
    return f"did you mean {lower[near[0]]}?" if near else ""


def impossible_parts(schema: AnySchema) -> Iterator[tuple[str, str]]:
    """Yield each part that no value satisfies, as a JSON pointer and the reason.

    A part that is `false`, or below a `not`, is impossible on purpose.
    """
    if has_many_choices(schema):
        return  # nothing is proven
    found = canonical.find_unsatisfiable(
        schema, draft=Draft202012, validate_formats=True, pattern_options=RegexOptions()
    )
    for path, reason in found.items():
        on_purpose = isinstance(reason, canonical.UnsatisfiableReason.Literal)
        if path == "" or not (on_purpose or "/not" in path):
            yield path, _explain_reason(reason)


def _explain_reason(reason: canonical.UnsatisfiableReason) -> str:
    match reason:
        case canonical.UnsatisfiableReason.Empty(cause):
            keywords = cause.keywords
        case canonical.UnsatisfiableReason.Conflict(causes):
            keywords = [keyword for cause in causes for keyword in cause.keywords]
        case _:
            return "no value satisfies false"
    shown = ", ".join(escape_name(keyword) for keyword in dict.fromkeys(keywords))
    return f"no value satisfies {shown} together" if shown else "no value satisfies this"


def canonical_form(schema: AnySchema) -> CanonicalSchema:
    """Return the canonical form of a schema for comparisons. Formats count, as in the checks.

    Raises:
        Exception: the library rejects it (its errors have no common base).
        ValueError: it has too many choices, which takes the library minutes.
    """
    if has_many_choices(schema):
        raise ValueError("too many choices")
    return canonicalize(
        schema, draft=Draft202012, validate_formats=True, pattern_options=RegexOptions()
    )


def admits(schema: AnySchema, other: AnySchema) -> bool:
    """Return whether some value may satisfy both schemas. False is proven, True is not."""
    form = _seen_schema(schema).form
    try:
        both = form.intersect(canonical_form(other)) if form is not None else None
    except Exception:  # the library does not take it
        both = None
    if both is None:
        return True  # nothing is proven
    return both.satisfiability() != canonical.Satisfiability.NO


class _SeenSchema:
    """A schema for repeated questions, with cached answers."""

    def __init__(self, schema: AnySchema) -> None:
        self.schema: Final = schema

    @cached_property
    def form(self) -> CanonicalSchema | None:
        """Return its canonical form; None if the library rejects it."""
        try:
            return canonical_form(self.schema)
        except Exception:  # it has no common base
            return None

    @cached_property
    def names(self) -> Sequence[str]:
        """Return the properties that it names, in order."""
        return sorted(self.name_set)

    @cached_property
    def name_set(self) -> frozenset[str]:
        """Return the properties that it names."""
        return self.parts.property_names([self.schema])

    @cached_property
    def parts(self) -> SchemaParts:
        """Return the finder of its parts."""
        return SchemaParts(self.schema)

    @cached_property
    def plain_names(self) -> Collection[str] | None:
        """Return its properties if it has nothing else: each is optional, and no other is allowed.

        None if it has further keywords for objects, or no properties.
        """
        if not isinstance(self.schema, dict) or not self.schema.keys() <= _PLAIN:
            return None
        names = self.schema.get("properties")
        is_object = self.schema.get("type", "object") == "object"
        further = self.schema.get("additionalProperties", True)
        if not (is_object and isinstance(names, dict) and names and isinstance(further, bool)):
            return None
        if not (further or names.keys() >= {*self.schema.get("required", ())}):
            return None
        return names if all(map(_is_possible, names.values())) else None


_PLAIN: Final = {
    *("type", "properties", "required", "additionalProperties"),
    *("title", "description", "default", "examples", "deprecated", "$schema", "$comment"),
}
_ANNOTATED: Final = {"type", "title", "description", "default", "examples", "deprecated"}
_last_seen: list[_SeenSchema] = []


def _seen_schema(schema: AnySchema) -> _SeenSchema:
    """Return the cached answers for a schema, until another one is used."""
    if not _last_seen or _last_seen[0].schema is not schema:
        _last_seen[:] = [_SeenSchema(schema)]
    return _last_seen[0]


def _is_possible(schema: AnySchema) -> bool:
    """Return whether some value satisfies a schema without references; False if unknown."""
    if not isinstance(schema, dict) or schema.keys() <= _ANNOTATED:
        return schema is not False
    if any(not part.keys().isdisjoint(REFERENCES) for part in every_object(schema)):
        return False
    try:
        return canonical_form(schema).satisfiability() == canonical.Satisfiability.YES
    except Exception:  # the library does not take it
        return False


def property_names(schema: AnySchema) -> Sequence[str]:
    """Return the properties that a schema names, in order; none if it leaves them open."""
    return _seen_schema(schema).names


def is_plain(schema: AnySchema) -> bool:
    """Return whether `has_place` answers at once for names of this schema."""
    return _seen_schema(schema).plain_names is not None


def has_place(schema: AnySchema, parts: tuple[str, ...]) -> bool:
    """Return whether the schema may have this place; False if it names only others.

    `*` stands for any member or element.
    """
    plain = _seen_schema(schema).plain_names
    if plain is not None and len(parts) == 1 and parts[0] != "*":
        return parts[0] in plain
    some = {"minProperties": 1} if parts[:1] == ("*",) else {"required": [*parts[:1]]}
    if not admits(schema, {"type": "object", **some}):
        return not admits(schema, {"type": "object"})  # nothing has a place in what cannot be
    seen = _seen_schema(schema)
    level, known = [schema], seen.name_set
    for rest, part in zip(range(len(parts) - 1, -1, -1), parts, strict=True):
        if known and part != "*" and part not in known and not seen.parts.matches(level, part):
            return False
        level = seen.parts.schemas_below(level, part) if rest else []
        known = seen.parts.property_names(level)
    return True
