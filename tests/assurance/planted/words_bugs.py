"""Bugs in the words beside a verdict: what is printed as it is, or is not what was said."""

from typing import Final

from tests.assurance.planted.bug import Bug, slip

_DETAILS: Final = "harness/audit/report/details.py"

WORDS_BUGS: Final[tuple[Bug, ...]] = (
    slip(
        "summary-as-it-is",
        _DETAILS,
        "the page shows the summary of a step with marks that hide or turn text round",
        'visible(step.summary or "", 2_000)',
        'step.summary or ""',
    ),
    slip(
        "error-as-it-is",
        _DETAILS,
        "the page shows the error of a call with marks that hide or turn text round",
        "visible(call.error)",
        "call.error",
    ),
    slip(
        "formula-in-a-cell",
        "harness/commands/cells.py",
        "a text that begins with an equals sign is a formula in a spreadsheet",
        ".startswith(_FORMULA)",
        ".startswith(_FORMULA[1:])",
    ),
)
