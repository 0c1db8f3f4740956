"""Find confined content in drawn args: stated plainly and apart from the check."""

from collections.abc import Iterator
from typing import Any, Final

from critic import ToolCapability
from evals.kinds import MODE_RANK
from harness.canonical import canonical_json
from harness.testing._draw.bounds import Bounds
from harness.testing._draw.primitives import Json

_SHORTEST: Final = 8
_FEWEST_DIGITS: Final = 6


def leaks(bounds: Bounds, tool: ToolCapability, args: Json) -> bool:
    """Return whether a call would send content of a confined class outside."""
    if MODE_RANK[tool.approval_mode] < MODE_RANK["network"]:
        return False
    sent = [text for name, value in args.items() for text in (name, *_spelled_texts(value))]
    return any(secret in text for secret in texts_to_keep_in(bounds) for text in sent)


def texts_to_keep_in(bounds: Bounds) -> list[str]:
    """Return the texts that must not leave, as JSON spells them."""
    confined = bounds.spec.confined_evidence or ()
    items = bounds.compiled.manifests.evidence_manifest
    contents = [item.content for item in items if item.classification in confined]
    return [text for content in contents for text in secrets_in(content)]


def secrets_in(content: Any) -> Iterator[str]:
    """Yield the texts and numbers of some content that are long enough to be looked for."""
    if isinstance(content, dict | list):
        for part in content.values() if isinstance(content, dict) else content:
            yield from secrets_in(part)
    elif isinstance(content, str):
        yield from [content] if len(content) >= _SHORTEST else []
    elif type(content) in (int, float):
        spelled = canonical_json(content).decode()
        yield from [spelled] if sum(map(str.isdigit, spelled)) >= _FEWEST_DIGITS else []


def _spelled_texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            yield from _spelled_texts(part)
    elif isinstance(value, str):
        yield value
    elif type(value) in (int, float):
        yield canonical_json(value).decode()
