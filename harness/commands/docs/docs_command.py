"""`critic docs`: the pages of the installed version."""

import argparse
import sys
from difflib import get_close_matches
from pathlib import Path

from evals.escaping import escape_name
from harness.commands.exit_status import EXIT_OK
from harness.errors import UsageError

_HARNESS = Path(__file__).parents[2]
_PLACES = (_HARNESS / "_docs", _HARNESS.parent / ".github" / "docs")
"""Where pages are in an installation, and in a checkout."""


def run(args: argparse.Namespace) -> int:
    """Print one page, or the list of all, and return the exit status."""
    pages = _find_pages()
    if args.page is None:
        width = max(map(len, pages)) + 2
        sys.stdout.write("".join(f"{name:{width}}{_title(page)}\n" for name, page in pages.items()))
        return EXIT_OK
    name = args.page.removesuffix(".md")
    if name not in pages:
        near = get_close_matches(name, pages, 1)
        hint = f"did you mean {near[0]}? " if near else ""
        shown = escape_name(name)
        raise UsageError(f"there is no page {shown}: {hint}run `critic docs` for a list of them")
    sys.stdout.write(pages[name].read_text(encoding="utf-8"))
    return EXIT_OK


def _find_pages() -> dict[str, Path]:
    """Return the pages by their names.

    Raises:
        UsageError: this installation has none.
    """
    for place in _PLACES:
        pages = {page.stem: page for page in place.glob("*.md")}
        if pages:
            return dict(sorted(pages.items()))
    raise UsageError("the pages are missing: install plan-critic again")


def _title(page: Path) -> str:
    with page.open(encoding="utf-8") as lines:
        return next(lines, "").strip("# \n")
