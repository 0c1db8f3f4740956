"""The laws of the manifests: they are sets, and a name means nothing beyond being the same name."""

from typing import Any

from hypothesis import strategies as st

from critic import MODE_RANK
from harness.testing._draw.primitives import Json
from harness.testing._laws.law_context import LawContext, with_manifest
from harness.testing._laws.renaming_laws import named_back, rename_all

_MANIFESTS = ("tool_manifest", "evidence_manifest")


def unrelated_entries_change_nothing(context: LawContext) -> None:
    """An entry that the plan does not name never changes a verdict, however like others it is.

    Except a tool that is the first to list an output, confined content, and a source.
    """
    altered = context.loose
    for manifest, entry in zip(_MANIFESTS, _draw_unrelated(context), strict=True):
        entries = altered["compiled"]["manifests"][manifest]
        first = context.draw(st.booleans())
        more = [entry, *entries] if first else [*entries, entry]
        altered = with_manifest(altered, manifest, more)
    context.require_same(context.judge(context.loose), altered, "an unrelated entry")


def _draw_unrelated(context: LawContext) -> tuple[Json, Json]:
    """Draw a tool and an evidence item that look like those of the proposal."""
    manifests = context.wire["compiled"]["manifests"]
    confined = context.wire["spec"].get("confined_evidence", ())
    items = [
        item
        for item in manifests["evidence_manifest"]
        if item["classification"] not in confined and "source" not in item
    ]
    like: dict[str, Any] = context.pick(({"classification": "unrelated"}, *items))
    names = {"adapter_id": "unrelated", "capability_id": "unrelated"}
    mode = context.pick(tuple(MODE_RANK))
    listed = {name for tool in manifests["tool_manifest"] for name in tool.get("produces", ())}
    tool = {**names, "approval_mode": mode, "produces": sorted(listed)}
    return tool, {**like, "id": "unrelated"}


def manifest_order_is_irrelevant(context: LawContext) -> None:
    """The order of the entries of a manifest never changes a verdict."""
    altered = context.loose
    for manifest in _MANIFESTS:
        entries = altered["compiled"]["manifests"][manifest]
        altered = with_manifest(altered, manifest, context.draw(st.permutations(entries)))
    before = context.judge(context.loose)
    context.require_same(before, altered, "another order of a manifest")


def renaming_changes_nothing(context: LawContext) -> None:
    """Renaming ids, classes and outputs throughout changes nothing in a verdict but the names."""
    altered, names = rename_all(context.loose)
    before, after = context.judge(context.loose), context.judge(altered)
    same = named_back(after.wire(), names) == before.wire()
    context.require(same, "renamed, it gets another verdict", altered)
