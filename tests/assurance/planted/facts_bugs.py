"""Bugs in the envelopes of `evals/`: which values they accept, and which are equal."""

from typing import Final

from tests.assurance.planted.bug import Bug, Edit, slip

_CONTEXT: Final = "evals/context.py"
_CAPABILITY: Final = "evals/capability.py"
_MANIFEST: Final = "evals/manifest.py"
_ENVELOPE: Final = "evals/envelope.py"
_JSON: Final = "evals/json_value.py"

FACTS_BUGS: Final[tuple[Bug, ...]] = (
    slip(
        "negative-counts",
        _ENVELOPE,
        "a negative token count is a count",
        "Field(ge=0, le=SAFE_INTEGER)",
        "Field(le=SAFE_INTEGER)",
        hole="token_count",
    ),
    slip(
        "string-counts",
        _ENVELOPE,
        "a token count may be spelled as a string",
        "Field(ge=0, le=SAFE_INTEGER)",
        "Field(ge=0, le=SAFE_INTEGER, strict=False)",
        hole="token_count",
    ),
    slip(
        "nan-counts",
        _ENVELOPE,
        "a token count may be any float: NaN is not over a budget, nor is a sum with it",
        "Count = Annotated[int, Field(ge=0, le=SAFE_INTEGER)]",
        "Count = Annotated[int, Field(ge=0, le=SAFE_INTEGER)] | Annotated["
        "float, Field(allow_inf_nan=True)]",
        hole="token_count",
    ),
    slip(
        "nan-in-args",
        _JSON,
        "a number that is not within the bounds passes if it is not outside them, as NaN is",
        "if -SAFE_INTEGER <= value <= SAFE_INTEGER:",
        "if not (value < -SAFE_INTEGER or value > SAFE_INTEGER):",
    ),
    slip(
        "nan-for-a-score",
        "evals/verdict.py",
        "NaN is a share, for it is neither below 0 nor above 1",
        "and 0 <= value <= 1:",
        "and not (value < 0 or value > 1):",
    ),
    slip(
        "mode-of-another-house",
        "evals/kinds.py",
        "a mode that nobody knows is let in and ranks lowest",
        'ApprovalMode = Literal["read_only", ',
        'ApprovalMode = Literal["admin", "read_only", ',
        hole="unknown_mode",
    ),
    slip(
        "mode-of-a-tool-optional",
        _CAPABILITY,
        "a capability without a mode is taken to be read_only",
        "    approval_mode: ApprovalMode\n",
        '    approval_mode: ApprovalMode = "read_only"\n',
        hole="unknown_mode",
    ),
    slip(
        "safety-mode-optional",
        _CONTEXT,
        "a context without a safety mode allows everything",
        "    safety_mode: ApprovalMode\n",
        '    safety_mode: ApprovalMode = "destructive"\n',
        hole="unknown_mode",
    ),
    slip(
        "another-kind-of-step",
        "evals/plan.py",
        "a tool step under another kind skips the surface and the approval check",
        'kind: Literal["tool"] = "tool"',
        'kind: Literal["tool", "action"] = "tool"',
        hole="step_kind",
    ),
    slip(
        "reason-step-with-a-tool",
        "evals/plan.py",
        "a reason step may name a tool, which nobody then checks",
        '    kind: Literal["reason"] = "reason"\n',
        '    kind: Literal["reason"] = "reason"\n'
        "    adapter_id: Annotated[Identifier | None, OPTIONAL] = None\n",
        hole="step_kind",
    ),
    Bug(
        "first-duplicate-wins",
        "of two entries for one tool the first wins, and nobody is told",
        (
            Edit(
                _MANIFEST,
                "tool for tool in tools}",
                "tool for tool in reversed(tools)}",
            ),
            Edit(
                _MANIFEST,
                "if len(self.tools) != len(self.tool_manifest):",
                "if len(self.tools) > len(self.tool_manifest):",
            ),
        ),
        hole="duplicate",
    ),
    slip(
        "last-evidence-wins",
        _MANIFEST,
        "of two evidence items with one id the last wins",
        "if len(self.evidence) != len(self.evidence_manifest):",
        "if len(self.evidence) > len(self.evidence_manifest):",
        hole="duplicate",
    ),
    slip(
        "unknown-fields-ignored",
        _ENVELOPE,
        "a misspelled restriction is silently no restriction",
        'extra="forbid"',
        'extra="ignore"',
    ),
    slip(
        "lenient-types",
        _ENVELOPE,
        "types are coerced on their way in",
        "strict=True,\n        allow_inf_nan",
        "strict=False,\n        allow_inf_nan",
        hole="token_count",
    ),
    slip(
        "thawed",
        _ENVELOPE,
        "an envelope can be changed after it was judged",
        "frozen=True",
        "frozen=False",
    ),
    slip(
        "identifier-too-long",
        _ENVELOPE,
        "an identifier of 129 characters passes",
        "{0,127}$",
        "{0,128}$",
    ),
    slip(
        "identifier-unanchored",
        _ENVELOPE,
        "anything may stand before an evidence ref",
        '_EVIDENCE_REF = r"^[',
        '_EVIDENCE_REF = r"[',
    ),
    slip(
        "one-level-too-deep",
        _JSON,
        "values nest one level deeper than promised",
        "if level > MAX_DEPTH:",
        "if level > MAX_DEPTH + 1:",
    ),
    slip(
        "unsafe-integer",
        _JSON,
        "2^53 is taken for an exact integer",
        "SAFE_INTEGER: Final = 2**53 - 1",
        "SAFE_INTEGER: Final = 2**53",
    ),
    slip(
        "zone-optional",
        "evals/timestamps.py",
        "a time without a zone is taken as UTC",
        r"(?:[Zz]|([+-])(\d\d):(\d\d))",
        r"(?:[Zz]|([+-])(\d\d):(\d\d)|)",
    ),
    slip(
        "zone-ignored",
        "evals/timestamps.py",
        "west of Greenwich is read as east of it",
        'timezone(-offset if sign == "-" else offset)',
        "timezone(offset)",
    ),
    slip(
        "keys-unsorted",
        "evals/canonical_json.py",
        "two spellings of one plan have two digests",
        "orjson.dumps(_respell_floats(value), option=orjson.OPT_SORT_KEYS)",
        "orjson.dumps(_respell_floats(value))",
    ),
    slip(
        "digest-of-floats",
        "evals/canonical_json.py",
        "floats take the fast path, where they are spelled otherwise than RFC 8785 does",
        "return _respelled_float(value)",
        "return value",
    ),
    slip(
        "schema-from-elsewhere",
        "evals/json_schemas.py",
        "a reference out of the schema is taken to allow everything",
        'raise ValueError(f"{uri} lies outside the schema")',
        "return True",
    ),
    slip(
        "one-fault-per-schema",
        "evals/explanation.py",
        "only the first place that breaks a schema is told",
        "islice(self._validator.iter_errors(_sorted_keys(value)), _MOST_ERRORS):",
        "islice(self._validator.iter_errors(_sorted_keys(value)), 1):",
    ),
    slip(
        "errors-of-both-ways",
        "evals/explanation.py",
        "what recursion judges along two ways is explained, exponentially long",
        "None if costs.recursive else _levels_of(schema)",
        "_levels_of(schema)",
    ),
    slip(
        "markup-in-a-reason",
        "evals/escaping.py",
        "markup from a plan stands in a reason as it is",
        """- set("<>&\\"'`\\\\")""",
        """- set("&\\"'`\\\\")""",
    ),
)
