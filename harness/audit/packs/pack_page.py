"""A pack as one file of HTML, and the pack that such a file holds.

Rule 1: the page loads nothing, and its policy allows its one style sheet and its one script alone.
Rule 2: the page holds no text of a record but in its data, which the script checks before it shows
        any of it.
Rule 3: the same pack gives the same bytes, so that a program checks the page around it as well.
"""

from functools import cache
from importlib.resources import files
from typing import Any, Final

from harness.audit.packs.pack_contents import Pack
from harness.audit.proofs.notes import InvalidCheckpoint
from harness.audit.report.content_policy import content_policy
from harness.audit.report.visible_text import data_text
from harness.errors import UsageError
from harness.wire import InvalidInput, parse

_START: Final = b"<!DOCTYPE html>\n<!-- plan-critic pack"
_BEFORE: Final = b'<script type="application/json" id="pack">'
_AFTER: Final = b"</script>"


def render_pack(pack: Pack) -> str:
    """Return the page.

    Raises:
        UsageError: the library that renders it is not installed.
    """
    try:
        import jinja2  # noqa: PLC0415 - an extra of its own
        from markupsafe import Markup  # noqa: PLC0415
    except ImportError:
        raise UsageError(
            "the page needs one more library: pip install 'plan-critic[report]'"
        ) from None
    style, script = _style(), _file("packs", "pack.js")
    own = {"css": style, "js": script, "data": data_text(pack.wire())}
    safe = {part: Markup(text) for part, text in own.items()}  # noqa: S704 - ours, or JSON without markup
    page: str = _template_of(jinja2).render(**safe, policy=content_policy(style, script))
    return page


def is_pack(start: bytes) -> bool:
    """Return whether a file starts like a page with a pack."""
    return start.startswith(_START)


def read_pack(data: bytes, where: str) -> Pack:
    """Return the pack that a page holds. Nothing of it is checked.

    Raises:
        InvalidCheckpoint: it holds none.
    """
    _, found, rest = data.partition(_BEFORE)
    held, ended, _ = rest.partition(_AFTER)
    if not (found and ended):
        raise InvalidCheckpoint(f"{where}: the page holds no pack")
    try:
        return parse(Pack, held, len(held))
    except InvalidInput as error:
        raise InvalidCheckpoint(f"{where}: the pack in the page cannot be read: {error}") from None


@cache
def _template_of(jinja2: Any) -> Any:
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, keep_trailing_newline=True
    )
    return environment.from_string(_file("packs", "pack.html"))


def _style() -> str:
    return _file("report", "page.css") + _file("packs", "pack.css")


def _file(folder: str, name: str) -> str:
    return (files(f"harness.audit.{folder}") / "files" / name).read_text(encoding="utf-8")
