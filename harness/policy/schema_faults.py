"""Find each invalid place in a JSON Schema: each keyword is validated alone.

The compiler stops at the first fault, and explains it by the alternatives of the meta-schema. Here
each keyword is validated alone, without the schemas below it.
"""

from collections.abc import Iterator
from difflib import get_close_matches
from itertools import count, islice
from typing import Any, Final

from jsonschema_rs import ValidationError, meta

from evals.escaping import escape_line, escape_name
from evals.json_schemas import compile_schema
from evals.schema_budget import Targets
from evals.schema_keywords import KEYWORDS, REFERENCES, schemas_in
from harness.policy.positions import Parts

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_TYPES: Final = ("array", "boolean", "integer", "null", "number", "object", "string")


_MOST_ASKED: Final = 2_000
"""How many keywords of all schemas of a policy are asked about: each takes up to a millisecond."""


def faults_of_schema(
    schema: Any, asked: Iterator[int] | None = None
) -> Iterator[tuple[Parts, str]]:
    """Yield each invalid place in a schema, and the mistake: one line, escaped.

    It skips values that are not JSON objects, and everything after the first `_MOST_ASKED`
    keywords: other messages report those.

    Args:
        asked: counts the validated keywords, also those of other schemas.
    """
    if not isinstance(schema, dict) or _compiles(schema):
        return
    targets = Targets(schema)
    asked = count() if asked is None else asked
    for path, part in schemas_in(schema):
        for keyword, value in part.items() if isinstance(part, dict) else ():
            if next(asked) >= _MOST_ASKED:
                return
            yield from _faults_of_keyword(path, keyword, value)
            if (
                keyword in REFERENCES
                and isinstance(value, str)
                and not any(targets.targets_of(part))
            ):
                yield (*path, keyword), _lost_reference(value)


def _compiles(schema: Any) -> bool:
    try:
        compile_schema(schema)
    except Exception:
        return False
    return True


def _faults_of_keyword(path: Parts, keyword: str, value: Any) -> Iterator[tuple[Parts, str]]:
    try:
        meta.validate({keyword: _outline(keyword, value), "$schema": _DIALECT})
    except ValidationError as error:
        place = (*path, *error.instance_path)
        yield place, f"no JSON Schema (draft 2020-12): {_word_fault(keyword, value, error)}"
        return
    except Exception:  # no JSON at all: the wire says so
        return
    patterns = {"pattern": [value], "patternProperties": value}.get(keyword, ())
    for pattern in islice(patterns, _MOST_ASKED):
        if not _compiles({"pattern": pattern}):
            below = (pattern,) if keyword == "patternProperties" else ()
            what = f"{escape_name(pattern)} is not a regular expression that runs in linear time"
            yield (*path, keyword, *below), f"{what}: look-around and back-references do not"


def _word_fault(keyword: str, value: Any, error: ValidationError) -> str:
    if keyword == "type" and isinstance(value, str):
        near = get_close_matches(value.lower(), _TYPES, 1, 0.5)
        hint = f"did you mean {near[0]}? " if near else ""
        return f"{escape_name(value)} is not a type: {hint}types are {', '.join(_TYPES)}"
    return escape_line(str(error).partition("\n")[0])[:300]


def _outline(keyword: str, value: Any) -> Any:
    """Return the value of a keyword with `true` for each schema below it."""
    match KEYWORDS[keyword].form if keyword in KEYWORDS else None, value:
        case "names", dict():
            return {name: _mask_schema(part) for name, part in value.items()}
        case "list", list():
            return [_mask_schema(part) for part in value]
        case "one", _:
            return _mask_schema(value)
    return value


def _mask_schema(part: Any) -> Any:
    return True if isinstance(part, dict) else part


def _lost_reference(reference: str) -> str:
    if reference.startswith("#"):
        return f"{escape_name(reference)} leads nowhere in this schema: name a place in it"
    return f"{escape_name(reference)} lies outside the schema: copy it into $defs"
